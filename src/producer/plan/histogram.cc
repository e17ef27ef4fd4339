#include "plan/histogram.hpp"

#include <cstddef>

#include "hist/count_plain.hpp"
#include "plan/stack.hpp"
#include "plan/triggers.hpp"

namespace landtrace::plan {
namespace {

class Producer final : public hist::Surroundings {
 public:
  Producer(const View& view, const Thread& thread, hist::Moment& moment)
      : view_(view), thread_(thread), moment_(moment) {}

  std::uint32_t cpu() override { return detail::current_cpu(thread_); }
  const char* comm() override {
    detail::read_name(view_, thread_, name_);
    return name_;
  }
  std::uint32_t capture_stack(std::uint64_t* frames) override {
    moment_.let_go();
    return plan::capture_stack(view_, thread_, frames, hist::kStackFrames);
  }
  bool make_event(std::uint32_t slot, const std::byte* payload, std::uint32_t size) override {
    if (view_.nesting >= kMaxNesting || slot >= kMaxEvents) return false;
    View nested = view_;
    ++nested.nesting;
    nested.unseen = 0;
    const Segment segment{payload, size};
    emit_at(nested, thread_, slot, &segment, 1, size, ring::HeldTime{moment_.held()});
    moment_.let_go();  // the next one is later
    return true;
  }
  void take_snapshot(std::uint32_t cell) override {
    moment_.let_go();
    count(view_.data->cells[cell]);
    tell_others(view_);
  }

 private:
  const View& view_;
  const Thread& thread_;
  hist::Moment& moment_;
  char name_[filter::kCommSize];
};

std::uint64_t header_of(const View& view, const Thread& thread, std::uint32_t event) {
  static_assert(offsetof(abi::EntryHeader, pid) == 4);
  return view.control->events[event].id | std::uint64_t{thread.tid} << 32;
}

bool is_paused(const View& view, const hist::HistPlan& histogram) {
  const Cell* const cells = view.data->cells;  // cell 0 is never thrown
  const std::uint64_t own = __atomic_load_n(&cells[histogram.pause_cell].own, __ATOMIC_RELAXED);
  const std::uint64_t of_event = __atomic_load_n(&cells[histogram.event_pause_cell].own, __ATOMIC_RELAXED);
  return is_thrown(own > of_event ? own : of_event);
}

}  // namespace

void run_histogram(const View& view, const Thread& thread, const hist::HistPlan& histogram, std::uint32_t event,
                   const Segment* segments, std::uint32_t segment_count, hist::Moment& moment) {
  if (is_paused(view, histogram)) return;
  Producer producer(view, thread, moment);
  const hist::Event happened{
      {segments, segment_count - view.unseen}, header_of(view, thread, event), moment, producer};
  hist::count(histogram, reinterpret_cast<std::byte*>(view.data), happened);
}

void detail::run_histogram(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                           const Segment* segments, std::uint32_t segment_count) {
  if (step.cell != 0 && !passes(view, thread, step.cell, event, segments, segment_count - view.unseen)) return;
  const auto& histogram = *control_at<hist::HistPlan>(view, static_cast<std::uint32_t>(step.histogram));
  if (histogram.is_plain) {
    if (is_paused(view, histogram)) return;
    return hist::count_plain(histogram, reinterpret_cast<std::byte*>(view.data),
                             {segments, segment_count - view.unseen});
  }
  hist::Moment moment(thread.mode.clock, thread.mode.area);
  plan::run_histogram(view, thread, histogram, event, segments, segment_count, moment);
}

}  // namespace landtrace::plan
