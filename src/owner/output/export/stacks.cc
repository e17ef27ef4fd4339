#include "output/export/stacks.hpp"

namespace landtrace::output {

StackJoiner::Waiting* StackJoiner::waiting_of(std::int32_t tid) {
  const auto found = open_.find(tid);
  return found == open_.end() ? nullptr : &queue_[found->second - given_];
}

void StackJoiner::add(const Record& record, bool is_stack) {
  Waiting* const before = waiting_of(record.tid);
  if (before != nullptr) {
    before->is_decided = true;
    if (is_stack) {
      before->stack = parse_user_stack(record.payload);
      before->stack->time_ns = record.time_ns;
    }
    decide(record.tid);
  }
  if (before == nullptr || !is_stack) {
    Waiting& own = queue_.emplace_back();
    own.record = record;
    own.payload.assign(record.payload.begin(), record.payload.end());
    own.is_decided = is_stack;
    if (!is_stack) open_[record.tid] = given_ + queue_.size() - 1;
  }
  give(record.time_ns);
}

void StackJoiner::add_lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  Waiting& own = queue_.emplace_back();
  own.record.cpu = cpu;
  own.record.time_ns = time_ns;
  own.lost = count;
  own.is_decided = true;
  give(time_ns);
}

void StackJoiner::give(std::uint64_t now_ns) {
  while (!queue_.empty()) {
    const Waiting& first = queue_.front();
    const bool is_old = now_ns > first.record.time_ns && now_ns - first.record.time_ns > kLongest_ns;
    if (!first.is_decided && !is_old && queue_.size() <= kMost) return;
    give_first();
  }
}

void StackJoiner::give_first() {
  Waiting& first = queue_.front();
  if (!first.is_decided) decide(first.record.tid);
  if (first.lost != 0) {
    taker_.lost(first.record.cpu, first.lost, first.record.time_ns);
  } else {
    first.record.payload = first.payload;
    taker_.event(first.record, first.stack ? &*first.stack : nullptr);
  }
  queue_.pop_front();
  ++given_;
}

void StackJoiner::end() {
  while (!queue_.empty()) give_first();
}

}  // namespace landtrace::output
