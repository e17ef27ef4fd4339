// Hands events to an exporter as they come: `landtrace record --format` and `landtrace flame`.
#pragma once

#include <bitset>
#include <functional>

#include "consumer/ordered_sink.hpp"
#include "output/export/exporter.hpp"
#include "output/export/stacks.hpp"

namespace landtrace::cli {

class ExportSink : public consumer::OrderedSink {
 public:
  // `written` flushes what has been made, and says whether that could be written. All must outlive it.
  ExportSink(output::Exporter& exporter, std::function<Result<void>()> written);

  void object(const unwind::MappedObject& object) override { exporter_.object(object); }
  // What it refuses ends the recording.
  void check_types(std::function<Result<void>(const output::EventType&)> check) { check_ = std::move(check); }
  // Stacks that belong to no event are no events either.
  void leave_out_lone_stacks() { has_lone_stacks_ = false; }
  // Events that have been handed over, and those of them that had a stack.
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t with_stacks() const { return with_stacks_; }

 private:
  void knows_type(const output::EventType& type) override;
  void knows_task(std::int32_t tid, const output::Task& task) override { exporter_.task(tid, task); }
  void in_order(const output::Record& record, const output::Task* who, const output::EventType& type) override;
  void lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  void round_is_over() override;
  void all_is_over() override;
  void hand_over(const output::Record& record, const output::UserStack* stack);

  output::Exporter& exporter_;
  std::function<Result<void>()> written_;
  std::function<Result<void>(const output::EventType&)> check_ = [](const output::EventType&) {
    return Result<void>{};
  };
  output::StackJoiner joiner_;
  std::bitset<65536> is_stack_;  // by event id
  bool has_lone_stacks_ = true;
  std::uint64_t events_ = 0;
  std::uint64_t with_stacks_ = 0;
};

}  // namespace landtrace::cli
