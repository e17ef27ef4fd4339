// The Common Trace Format 1.8, which babeltrace2 and Trace Compass read: a folder with `metadata` and a stream for each
// CPU. Stacks are the addresses of a context field of their event.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "output/ctf/stream.hpp"
#include "output/export/exporter.hpp"

namespace landtrace::output {

class CtfWriter : public Exporter {
 public:
  struct Options {
    int folder = -1;  // an open one, which is empty
    bool has_stacks = false;
    std::optional<std::int64_t> wall_offset_ns;  // from times to nanoseconds since 1970
  };
  explicit CtfWriter(const Options& options);

  void type(const EventType& type) override { std::ignore = number_of(type); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  void checkpoint() override;
  void end() override { checkpoint(); }
  [[nodiscard]] std::string complaint() const override;
  [[nodiscard]] Result<void> result() const override { return result_; }

  // Whether such a file is in the folder of a trace.
  static bool is_file(const std::string& name);

 private:
  struct Known {
    std::string fields;
    std::uint16_t id = 0;
  };
  std::uint16_t number_of(const EventType& type);
  ctf::Stream* stream_of(std::uint32_t cpu);
  void put_context(std::string& out, const ExportedEvent& event) const;
  Result<Fd> create(const std::string& name) const;
  void put_metadata(const std::string& text);
  void note(const Result<void>& result);

  Options options_;
  ctf::Uuid uuid_{};
  std::map<std::uint32_t, ctf::Stream> streams_;    // by CPU
  std::unordered_map<std::uint16_t, Known> types_;  // by the record's id
  Fd metadata_;                                     // has the types' declarations, each before its first event
  std::uint32_t next_id_ = 0;
  bool knows_no_count_ = false;
  Result<void> result_;
};

}  // namespace landtrace::output
