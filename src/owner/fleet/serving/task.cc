#include "fleet/serving/task.hpp"

#include "fleet/portable.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kEveryDomains = "ftrace";

}  // namespace

Task::Task(const AgentOptions& options, std::string boot, Order order)
    : options_(options), boot_(std::move(boot)), order_(std::move(order)) {
  state_.id = order_.id;
  for (const std::string* const event : {&order_.event, &order_.to}) {
    auto pattern = event::Pattern::parse(*event);
    if (pattern && !event->empty()) missing_.push_back(*std::move(pattern));
  }
  auto work = Work::begin(options_, order_);
  if (work) {
    work_ = *std::move(work);
  } else {
    const Error& error = work.error();
    refuse(error.message.empty() ? errno_text(error.code) : error.message);
  }
}

void Task::refuse(const std::string& reason) {
  state_.now = OrderState::Now::kRefused;
  state_.refusals = {{"", reason}};
  work_.reset();
}

Result<void> Task::look() { return work_ ? work_->look() : Result<void>(); }

std::optional<Outbox::Letter> Task::lines() {
  if (!work_) return std::nullopt;
  std::string lines = work_->take_lines();
  if (lines.empty()) return std::nullopt;
  return Outbox::Letter{lines_subject(options_.domain, options_.host, order_.id), std::move(lines)};
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
Frame Task::frame_of(const Counted& counted, Sent& sent, std::uint64_t now_ns) const {
  if (sent.generation == 0 || counted.table.hits < sent.hits) sent = {now_ns, 0, 0, 0};
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
  frame.table = portable(counted.table, options_.left_out);
  for (Slow slow : counted.slowest) {
    slow.keys = portable_keys(counted.table, slow.keys, options_.left_out);
    frame.slowest.push_back(std::move(slow));
  }
  return frame;
}

std::vector<Outbox::Letter> Task::frames(std::uint64_t now_ns, bool is_last) {
  std::vector<Outbox::Letter> letters;
  if (!work_) return letters;
  const auto counted = work_->counted();
  if (!counted) return letters;
  for (const Counted& one : *counted) {
    if (const std::string field = needs_left_out(one.table, options_.left_out); !field.empty()) {
      refuse("'" + field + "' is left out of what travels from here (--fleet-redact)");
      return {};
    }
    const auto sent = sent_.find(one.event);
    const std::uint64_t rest = one.table.dropped + one.unpaired.starts + one.unpaired.ends + one.unpaired.lost;
    const bool is_same = sent != sent_.end() && sent->second.hits == one.table.hits && sent->second.rest == rest;
    if (is_same && is_known_ && !is_last) continue;
    Sent& now_sent = sent_[one.event];
    Frame frame = frame_of(one, now_sent, now_ns);
    now_sent.rest = rest;
    frame.is_last = is_last;
    letters.push_back({subject_of(frame), encode(frame)});
  }
  is_known_ = true;
  return letters;
}

std::vector<Outbox::Letter> Task::end(std::uint64_t now_ns) {
  ended_ns_ = now_ns;
  if (!work_) return {};
  std::vector<Outbox::Letter> letters;
  if (order_.kind == Order::Kind::kLatency || order_.kind == Order::Kind::kTail) work_->end();
  letters = frames(now_ns, true);
  if (!work_) return letters;  // it was refused just now
  std::ignore = update_state();
  if (order_.kind == Order::Kind::kEnable || order_.kind == Order::Kind::kHist) work_->end();
  work_.reset();
  state_.now = OrderState::Now::kEnded;
  return letters;
}

}  // namespace landtrace::fleet
