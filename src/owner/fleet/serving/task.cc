#include "fleet/serving/task.hpp"

#include "arch/clock.hpp"
#include "fleet/portable.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kEveryDomains = "ftrace";

// What a frame has besides the hits.
std::uint64_t rest_of(const Counted& counted) {
  return counted.table.dropped + counted.unpaired.starts + counted.unpaired.ends + counted.unpaired.lost;
}

}  // namespace

Task::Task(const AgentOptions& options, std::string boot, Order order, AgentDomain& domain)
    : options_(options), boot_(std::move(boot)), order_(std::move(order)) {
  state_.id = order_.id;
  for (const std::string* const event : {&order_.event, &order_.to}) {
    auto pattern = event::Pattern::parse(*event);
    if (pattern && !event->empty()) missing_.push_back(*std::move(pattern));
  }
  auto work = domain.begin(options_, order_);
  if (work) {
    work_ = *std::move(work);
  } else {
    const Error& error = work.error();
    refuse(error.message.empty() ? errno_text(error.code) : error.message);
  }
}

Task::Task(const AgentOptions& options, Order order)
    : options_(options), order_(std::move(order)), ended_ns_(arch::monotonic_ns()) {
  state_.id = order_.id;
  state_.now = OrderState::Now::kEnded;
  state_.refusals = {{"", "its time was over when it came here"}};
}

void Task::refuse(const std::string& reason) {
  state_.now = OrderState::Now::kRefused;
  state_.refusals = {{"", reason}};
  work_.reset();
}

Result<void> Task::look() {
  if (!work_) return {};
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  next_look_ns = arch::monotonic_ns() + static_cast<std::uint64_t>(work_->look_ms()) * kNsPerMs;
  return work_->look();
}

// Behind the end also where there are none: who has not heard the last ones knows it by that.
std::optional<ToldLines> Task::lines() {
  if (order_.kind != Order::Kind::kTail) return std::nullopt;
  const bool goes_on = work_ != nullptr;
  std::string lines = goes_on ? work_->take_lines() : std::exchange(last_lines_, {});
  if (lines.empty() && goes_on) return std::nullopt;
  ToldLines told{lines_subject(options_.domain, options_.host, order_.id), std::move(lines), lines_};
  lines_ += lines_in(told.lines);
  return told;
}

bool Task::update_state() {
  if (!work_) return false;
  const OrderState before = state_;
  state_.events = work_->events();
  state_.refusals = work_->refusals();
  look_for_events();
  return !(state_ == before);
}

// One that was there once is not missing, though it has gone.
void Task::look_for_events() {
  constexpr std::size_t kMostThere = 64;
  state_.missing.clear();
  state_.there.clear();
  if (order_.kind != Order::Kind::kLatency && state_.events > 0) missing_.clear();
  if (missing_.empty()) return;
  std::vector<std::string> there;
  for (const output::EventType& type : work_->types()) {
    std::erase_if(missing_, [&](const event::Pattern& one) { return one.matches(type.system, type.name); });
    if (type.system != kEveryDomains && there.size() < kMostThere) there.push_back(type.system + ":" + type.name);
  }
  for (const event::Pattern& one : missing_) state_.missing.push_back(one.text());
  if (!missing_.empty()) state_.there = std::move(there);
}

// What began anew in the domain, with a count below the last one, is another histogram.
Frame Task::frame_of(Counted counted, Sent& sent, std::uint64_t now_ns) const {
  if (sent.generation == 0 || counted.table.hits < sent.hits) sent = {now_ns, 0, 0, sent.rest};
  sent.hits = counted.table.hits;
  ++sent.sequence;
  Frame frame;
  frame.host = options_.host;
  frame.boot = boot_;
  frame.domain = options_.domain;
  frame.labels = options_.labels;
  frame.order = order_.id;
  frame.event = counted.event;
  frame.generation = sent.generation;
  frame.sequence = sent.sequence;
  frame.time_ns = now_ns;
  frame.unpaired = counted.unpaired;
  for (Slow& slow : counted.slowest) {
    slow.keys = portable_keys(counted.table, slow.keys, options_.left_out);
    frame.slowest.push_back(std::move(slow));
  }
  frame.table = portable(std::move(counted.table), options_.left_out);
  return frame;
}

Outbox::Letter Task::letter_of(Counted counted, std::uint64_t now_ns, bool is_last) {
  Sent& sent = sent_[counted.event];
  sent.rest = rest_of(counted);
  Frame frame = frame_of(std::move(counted), sent, now_ns);
  frame.is_last = is_last;
  return {subject_of(frame), encode(frame), false, is_last};
}

std::vector<Outbox::Letter> Task::frames(std::uint64_t now_ns, bool is_last) {
  std::vector<Outbox::Letter> letters;
  if (!work_) return letters;
  std::string kept_at_home;
  std::ignore = work_->counted([&](Counted one) {
    if (kept_at_home.empty()) kept_at_home = needs_left_out(one.table, options_.left_out);
    if (!kept_at_home.empty()) return;
    const auto sent = sent_.find(one.event);
    const bool is_same =
        sent != sent_.end() && sent->second.hits == one.table.hits && sent->second.rest == rest_of(one);
    if (!is_same || !is_known_ || is_last) letters.push_back(letter_of(std::move(one), now_ns, is_last));
  });
  if (!kept_at_home.empty()) {
    refuse("'" + kept_at_home + "' is left out of what travels from here (--fleet-redact)");
    return {};
  }
  is_known_ = true;
  return letters;
}

std::vector<Outbox::Letter> Task::end(std::uint64_t now_ns) {
  ended_ns_ = arch::monotonic_ns();
  if (!work_) return {};
  std::vector<Outbox::Letter> letters;
  if (order_.kind == Order::Kind::kLatency || order_.kind == Order::Kind::kTail) work_->end();
  last_lines_ = work_->take_lines();
  letters = frames(now_ns, true);
  if (!work_) return letters;  // it was refused just now
  std::ignore = update_state();
  if (order_.kind == Order::Kind::kEnable || order_.kind == Order::Kind::kHist) work_->end();
  work_.reset();
  state_.now = OrderState::Now::kEnded;
  return letters;
}

}  // namespace landtrace::fleet
