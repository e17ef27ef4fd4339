#include "cli/export/export_sink.hpp"

#include "output/text/own_events.hpp"

namespace landtrace::cli {

ExportSink::ExportSink(output::Exporter& exporter, std::function<Result<void>()> written)
    : exporter_(exporter),
      written_(std::move(written)),
      joiner_(
          {[this](const output::Record& record, const output::UserStack* stack) { hand_over(record, stack); },
           [this](std::uint32_t cpu, std::uint64_t count, std::uint64_t time) { exporter_.lost(cpu, count, time); }}) {}

void ExportSink::knows_type(const output::EventType& type) {
  if (auto fits = check_(type); !fits) fail_with_error(fits.error());
  is_stack_[type.id] = output::is_user_stack(type);
  exporter_.type(type);
}

void ExportSink::in_order(const output::Record& record, const output::Task* /*who*/, const output::EventType& type) {
  joiner_.add(record, is_stack_[type.id]);
}

void ExportSink::lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  joiner_.add_lost(cpu, count, time_ns);
}

void ExportSink::hand_over(const output::Record& record, const output::UserStack* stack) {
  if (is_stack_[record.event_id] && !has_lone_stacks_) return;
  const auto task = tasks().find(record.tid);
  const output::Task* const who = task == tasks().end() ? nullptr : &task->second;
  exporter_.event({record, types().at(record.event_id), who, stack});
  ++events_;
  if (stack != nullptr) ++with_stacks_;
}

void ExportSink::round_is_over() {
  if (auto written = written_(); !written) fail_with_error(written.error());
}

void ExportSink::all_is_over() {
  joiner_.end();
  exporter_.end();
  round_is_over();
}

}  // namespace landtrace::cli
