// Writes a recording to a trace.dat file.
#pragma once

#include <bitset>
#include <optional>

#include "reader/event_filter.hpp"
#include "consumer/recorder_sink.hpp"
#include "output/trace_dat/writer.hpp"

namespace landtrace::cli {

class TraceFileSink : public consumer::RecorderSink {
 public:
  TraceFileSink(output::TraceDatWriter writer, reader::EventFilter filter)
      : writer_(std::move(writer)), filter_(std::move(filter)) {}

  void type(const output::EventType& type) override;
  void task(std::int32_t tid, const output::Task& task) override { writer_.set_task(tid, task); }
  void object(const unwind::MappedObject& object) override { writer_.add_object(object); }
  void event(const output::Record& record, const output::EventType& type) override;
  void lost(std::uint32_t cpu, std::uint64_t count) override { writer_.lost(cpu, count); }
  void outstanding(std::uint32_t cpu, consumer::Outstanding events) override;
  void settled(std::uint64_t horizon_ns) override;

  Result<void> finish() override { return writer_.finish(); }

  // From a failure on events are counted as lost.
  [[nodiscard]] const std::optional<Error>& failure() const override { return failure_; }
  [[nodiscard]] std::uint64_t written() const override { return written_; }
  [[nodiscard]] std::uint64_t unwritten() const { return unwritten_; }
  [[nodiscard]] std::uint64_t bytes() const override { return writer_.bytes_written(); }
  // What became of an older recording at the path.
  [[nodiscard]] bool has_replaced() const { return writer_.has_replaced(); }
  [[nodiscard]] bool kept_older() const { return writer_.kept_older(); }
  [[nodiscard]] const std::string& place() const { return writer_.place(); }

 private:
  output::TraceDatWriter writer_;
  reader::EventFilter filter_;
  std::bitset<65536> described_;  // by id
  std::optional<Error> failure_;
  std::uint64_t written_ = 0;
  std::uint64_t unwritten_ = 0;
};

}  // namespace landtrace::cli
