#include "tracefs/trace/trace_instance.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace landtrace::tracefs {
namespace {

// There is one stack, the program's.
bool wants_stacks(const TraceOptions& options) {
  return options[TraceOption::kStackTrace] || options[TraceOption::kUserStackTrace];
}

}  // namespace

TraceInstance::TraceInstance(domain::Domain& domain_in, std::uint32_t instance_index, const TraceInstance* top)
    : domain(domain_in),
      buffer(domain_in, instance_index),
      clock(domain_in.clock_line()),
      printer(domain_in.control(), domain_in.users(), domain_in.events(), clock),
      options_(top != nullptr ? TraceOptions::of_instance(top->options_) : TraceOptions()),
      pipes_(buffer.cpus()) {
  if (options_[TraceOption::kOverwrite] != buffer.overwrite()) buffer.set_overwrite(options_[TraceOption::kOverwrite]);
  if (domain::Instance* const found = instance()) {
    found->clock = this;
    found->has_stacks = wants_stacks(options_);
  }
}

TraceInstance::~TraceInstance() {
  if (domain::Instance* const left = instance()) left->clock = nullptr;
}

Result<domain::Instance*> TraceInstance::get() const {
  domain::Instance* const found = instance();
  if (found == nullptr) return fail(ENODEV, "the instance is gone");
  return found;
}

Result<void> TraceInstance::set_option(TraceOption option, bool on) {
  if (option == TraceOption::kTestNopRefuse) return fail(EINVAL, "test_nop_refuse is there to be refused");
  if (option == TraceOption::kOverwrite && on != options_[option]) buffer.set_overwrite(on);
  if (option == TraceOption::kEventFork) domain.thread_lists().follow_forks(*instance(), on);
  TraceOptions next = options_;
  next.set(option, on);
  domain::Instance& own = *instance();
  if (const bool before = std::exchange(own.has_stacks, wants_stacks(next)); before != own.has_stacks) {
    if (auto published = domain.plans().publish_all(own); !published) {
      own.has_stacks = before;
      std::ignore = domain.plans().publish_all(own);
      return published;
    }
  }
  options_ = next;
  return {};
}

buffer::TextStyle TraceInstance::style(bool latency) const {
  using Body = buffer::TextStyle::Body;
  buffer::TextStyle style;
  style.columns.context = options_[TraceOption::kContextInfo];
  style.columns.irq_info = options_[TraceOption::kIrqInfo];
  style.columns.tgid = options_[TraceOption::kRecordTgid];
  style.columns.verbose = options_[TraceOption::kVerbose];
  style.columns.time_in_ns = clock.in_ns();
  style.columns.latency = latency;
  style.learn_names = options_[TraceOption::kRecordCmd];
  style.whole_lines = options_[TraceOption::kWholeLines];
  style.stack.functions = !options_[TraceOption::kSymUserObj];
  style.stack.addresses = options_[TraceOption::kSymAddr];
  if (options_[TraceOption::kFields]) style.body = Body::kFields;
  if (options_[TraceOption::kRaw]) style.body = Body::kRaw;
  if (options_[TraceOption::kHex]) style.body = Body::kHex;
  if (options_[TraceOption::kBin]) style.body = Body::kBin;
  return style;
}

Result<void> TraceInstance::select_clock(std::string_view name) {
  LT_CHECK(clock.select(name));
  buffer.clear_all();
  return {};
}

Result<void> TraceInstance::take_pipe(std::uint32_t cpu) {
  const bool all = cpu == buffer::kAllCpus;
  const bool is_taken = all ? std::find(pipes_.begin(), pipes_.end(), true) != pipes_.end() : pipes_[cpu];
  if (is_taken) return fail(EBUSY, "somebody else reads the pipe");
  if (all) {
    std::fill(pipes_.begin(), pipes_.end(), true);
  } else {
    pipes_[cpu] = true;
  }
  return {};
}

void TraceInstance::give_pipe(std::uint32_t cpu) {
  if (cpu == buffer::kAllCpus) {
    std::fill(pipes_.begin(), pipes_.end(), false);
  } else {
    pipes_[cpu] = false;
  }
}

}  // namespace landtrace::tracefs
