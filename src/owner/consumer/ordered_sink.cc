#include "consumer/ordered_sink.hpp"

#include <algorithm>
#include <utility>

namespace landtrace::consumer {

void OrderedSink::type(const output::EventType& type) {
  types_.insert_or_assign(type.id, type);
  knows_type(type);
}

void OrderedSink::task(std::int32_t tid, const output::Task& task) {
  tasks_[tid] = task;
  knows_task(tid, task);
}

void OrderedSink::event(const output::Record& record, const output::EventType& type) {
  ++came_;
  if (failure_) return;
  if (!types_.contains(type.id)) this->type(type);
  const auto lost = lost_.find(record.cpu);
  waiting_.push_back({record, bytes_.size(), record.payload.size(), lost == lost_.end() ? 0 : lost->second});
  if (lost != lost_.end()) lost_.erase(lost);
  bytes_.insert(bytes_.end(), record.payload.begin(), record.payload.end());
}

// What a CPU has behind the horizon waits for what others may have before that.
void OrderedSink::settled(std::uint64_t horizon_ns) {
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
    return a.record.time_ns != b.record.time_ns ? a.record.time_ns < b.record.time_ns : a.record.cpu < b.record.cpu;
  });
  const auto later = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& each) { return each.record.time_ns >= horizon_ns; });
  for (auto each = waiting_.begin(); each != later && !failure_; ++each) give(*each);
  forget(static_cast<std::size_t>(later - waiting_.begin()));
  if (!failure_) round_is_over();
}

void OrderedSink::give(const Waiting& waiting) {
  output::Record record = waiting.record;
  record.payload = std::span(bytes_).subspan(waiting.begin, waiting.size);
  last_ns_ = record.time_ns;
  if (waiting.lost > 0) lost_in_order(record.cpu, waiting.lost, record.time_ns);
  const auto task = tasks_.find(record.tid);
  in_order(record, task == tasks_.end() ? nullptr : &task->second, types_.at(record.event_id));
}

void OrderedSink::forget(std::size_t count) {
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::byte> kept;
  for (Waiting& each : waiting_) {
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(each.begin);
    each.begin = kept.size();
    kept.insert(kept.end(), begin, begin + static_cast<std::ptrdiff_t>(each.size));
  }
  if (waiting_.empty()) {
    bytes_.clear();  // with its room
  } else {
    std::swap(bytes_, kept);
  }
}

Result<void> OrderedSink::finish() {
  settled(~0ull);
  for (const auto& [cpu, count] : std::exchange(lost_, {})) lost_in_order(cpu, count, last_ns_);
  if (!failure_) all_is_over();
  return {};
}

}  // namespace landtrace::consumer
