// Pairs of a latency, and of each group and power of two the slowest one: when, which thread, the event's fields and
// its stack.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/frame.hpp"
#include "measure/latency_sink.hpp"
#include "symbols/symbols.hpp"

namespace landtrace::fleet {

class SlowSink : public measure::LatencySink {
 public:
  // Fields of `left_out` are not kept.
  SlowSink(const Request& request, bool with_stacks, std::vector<std::string> left_out);

  void type(const output::EventType& type) override;
  void task(std::int32_t tid, const output::Task& task) override;
  void object(const unwind::MappedObject& object) override { names_.objects().add(object); }

  // Each group's slowest before all others, the slowest first; as many as a frame may have. Keys are those of rows of
  // table(), and may not be portable.
  std::vector<Slow> slowest();

 private:
  struct Kept {
    Slow slow;
    std::optional<output::UserStack> stack;  // whose functions have not been looked up yet
  };
  void paired(Paired end) override;
  void forget_some();
  [[nodiscard]] std::string fields_text(const Paired& end) const;
  void complete(Kept& kept);

  std::vector<std::string> left_out_;
  const std::uint64_t to_wall_ns_;  // is added to times of records
  std::unordered_map<std::uint16_t, output::EventType> types_;
  std::unordered_map<std::int32_t, std::string> tasks_;
  std::map<std::string, Kept> kept_;  // by group and power of two
  symbols::Symbols symbols_;
  output::StackNames names_{&symbols_};
};

}  // namespace landtrace::fleet
