// Writes perf.data, which `perf script`, `perf report`, hotspot and others read: a file with its tables at the end, or
// into a pipe what `perf script -i -` takes. Each event is a tracepoint, by the descriptions of trace.dat.
#pragma once

#include <linux/perf_event.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/export/exporter.hpp"
#include "output/export/target.hpp"
#include "output/perf_data/features.hpp"
#include "output/perf_data/mappings.hpp"
#include "output/perf_data/names.hpp"
#include "output/trace_dat/metadata.hpp"

namespace landtrace::output {

class PerfDataWriter : public Exporter {
 public:
  struct Options {
    std::string clock = "mono";
    bool has_stacks = false;  // some events may have one
  };
  // `target` must outlive it.
  PerfDataWriter(Target& target, const Options& options);

  void type(const EventType& type) override;
  void task(std::int32_t tid, const Task& task) override { metadata_.tasks[tid] = task; }
  void object(const MappedObject& object) override { waiting_objects_.push_back(object); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  void end() override;
  [[nodiscard]] std::string complaint() const override;

 private:
  // What stands behind a record that is no sample, and in a sample.
  struct Where {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint64_t time_ns = 0;
    std::uint32_t cpu = 0;
  };
  std::size_t begin_record(std::uint32_t type, std::uint16_t misc);
  void end_record(std::size_t begin);
  void put_where(const Where& where, std::uint64_t id);
  [[nodiscard]] std::string attr_bytes(std::uint16_t event_id, bool is_first) const;
  // The id of the type's samples.
  std::uint64_t know(std::uint16_t event_id);
  void tell_name(std::int32_t tid, std::uint32_t pid, const Task& task, const Where& where);
  void tell_objects(std::uint64_t until_ns, std::uint64_t now_ns);
  void tell_mapping(const MappedObject& object, const perf_data::Mapping& mapping, std::uint64_t time_ns);
  void tell_lost();
  void finish_round();
  [[nodiscard]] std::size_t frames_of(const ExportedEvent& event) const;
  void put_sample(const ExportedEvent& event, const Where& where, std::uint64_t id);
  [[nodiscard]] std::string tracing_data() const;
  void begin_pipe();
  void put_in_pipe(perf_data::OwnRecord type, const std::string& bytes);
  void finish_file();

  Target& target_;
  Options options_;
  trace_dat::Metadata metadata_;  // names as perf reads them
  perf_data::Names names_;
  std::map<std::uint16_t, std::uint64_t> ids_;  // by event id, in the order of attrs_ once there are any
  std::vector<perf_data::DescribedAttr> attrs_;
  bool has_untold_types_ = true;  // of a pipe
  std::unordered_map<std::int32_t, std::string> told_names_;
  std::vector<MappedObject> waiting_objects_;
  struct Lost {
    std::uint64_t count;
    Where where;
  };
  std::vector<Lost> waiting_lost_;  // until there is an attr
  std::uint64_t first_ns_ = ~0ull;
  std::uint64_t last_ns_ = 0;
  std::uint64_t in_round_ = 0;
  std::uint64_t too_long_ = 0;
};

}  // namespace landtrace::output
