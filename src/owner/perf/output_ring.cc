#include "perf/output_ring.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "arch/clock.hpp"
#include "output/perf_data/mappings.hpp"
#include "perf/event.hpp"
#include "perf/source.hpp"

namespace landtrace::perf {
namespace {

// For a LOST and a COMM record, which always find room.
constexpr std::size_t kReserve = 512;

// As the kernel: half of the ring, unless the program wants something else.
std::uint64_t watermark_of(const perf_event_attr& attr, std::uint64_t size) {
  const std::uint64_t wanted = attr.watermark != 0 ? std::min<std::uint64_t>(attr.wakeup_watermark, size) : 0;
  return wanted != 0 ? wanted : size / 2;
}

void signal(const Event& event) {
  const std::uint64_t one = 1;
  std::ignore = ::write(event.notifier.get(), &one, sizeof one);
}

// The program may let it block.
void unsignal(const Event& event) {
  std::uint64_t count;
  pollfd waiting{event.notifier.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 0) == 1) std::ignore = ::read(event.notifier.get(), &count, sizeof count);
}

}  // namespace

void OutputRing::add(Event& event) {
  if (events_.empty()) {
    watermark_ = watermark_of(event.attr, ring_->size());
    wakeup_events_ = event.attr.watermark != 0 ? 0 : event.attr.wakeup_events;
  }
  events_.push_back(&event);
}

void OutputRing::remove(Event& event) { std::erase(events_, &event); }

bool OutputRing::has_room(std::size_t sample) const {
  if (is_paused_) return false;
  return ring_->overwrites() ? ring_->fits(sample) : ring_->fits(sample + kReserve);
}

bool OutputRing::is_left_alone() {
  constexpr std::uint64_t kPatience_ns = 500'000'000;
  const std::uint64_t now = arch::monotonic_ns();
  const std::uint64_t tail = ring_->tail();
  if (full_since_ns_ == 0 || tail != tail_when_full_) {
    tail_when_full_ = tail;
    full_since_ns_ = now;
  }
  return now - full_since_ns_ > kPatience_ns;
}

bool OutputRing::write(std::span<const std::byte> sample, const Event& event, const SampleFacts& facts) {
  if (sample.size() > kLargestRecord || !has_room(sample.size())) return false;
  if (lost_ > 0) {
    SampleFacts of_event = facts;
    of_event.id = event.id;
    tell_lost(of_event);
  }
  ring_->write(sample);
  ++samples_;
  return true;
}

void OutputRing::lose(Event& event, std::uint64_t count) {
  event.lost += count;
  lost_ += count;
  lost_id_ = event.id;
}

void OutputRing::tell_lost(const SampleFacts& facts) {
  if (lost_ == 0 || events_.empty() || is_paused_ || ring_->overwrites()) return;
  SampleFacts of_loser = facts;
  of_loser.id = lost_id_;
  make_lost(bytes_, events_.front()->attr, of_loser, lost_);
  if (!ring_->fits(bytes_.size())) return;
  ring_->write(bytes_);
  lost_ = 0;
}

const Event* OutputRing::event_for(bool (*tells)(const Event&)) const {
  const auto found = std::find_if(events_.begin(), events_.end(), [&](const Event* e) { return tells(*e); });
  return found == events_.end() ? nullptr : *found;
}

void OutputRing::tell_name(const SampleFacts& facts, const std::string& name) {
  const Event* const event = event_for([](const Event& e) { return e.attr.comm != 0 && !e.tracker; });
  if (event == nullptr) return;
  const auto [told, is_new] = names_.try_emplace(facts.tid, name);
  if (!is_new && told->second == name) return;
  told->second = name;
  SampleFacts of_event = facts;
  of_event.id = event->id;
  make_name(bytes_, event->attr, of_event, name);
  if (!is_paused_ && ring_->fits(bytes_.size())) ring_->write(bytes_);
}

void OutputRing::tell_objects(const SampleFacts& facts, const std::vector<output::MappedObject>& all) {
  std::size_t& told = objects_told_[&all];
  if (told == all.size()) return;
  const Event* const event =
      event_for([](const Event& e) { return (e.attr.mmap2 != 0 || e.attr.mmap != 0) && !e.tracker; });
  if (event == nullptr) return;
  while (told < all.size() && tell_object(*event, facts, all[told])) ++told;
}

bool OutputRing::tell_object(const Event& event, const SampleFacts& facts, const output::MappedObject& object) {
  for (const output::perf_data::Mapping& mapping : output::perf_data::mappings_of(object)) {
    SampleFacts of_event = facts;
    of_event.id = event.id;
    of_event.pid = of_event.tid = object.pid;
    make_mapping(bytes_, event.attr, of_event,
                 {mapping.address, mapping.size, mapping.file_offset, object.path, object.build_id});
    if (!has_room(bytes_.size())) return false;
    ring_->write(bytes_);
  }
  return true;
}

bool OutputRing::copy(std::span<const std::byte> record) {
  if (!has_room(record.size())) return false;
  ring_->write(record);
  return true;
}

void OutputRing::look_at_kernel() {
  for (const auto& ring : kernel_) ring->look();
  has_kernel_records_ = true;
}

void OutputRing::look_at_kernel_again() {
  for (const auto& ring : kernel_) ring->look_again();
  has_kernel_records_ = true;
}

bool OutputRing::copy_kernel_until(std::uint64_t time) {
  bool any = false;
  has_kernel_records_ = false;
  for (const auto& ring : kernel_) {
    any |= ring->copy_until(time, *this);
    has_kernel_records_ |= ring->has_records();
  }
  return any;
}

bool OutputRing::copy_kernel_rest() {
  const auto waits = [](const Event* event) { return event->source != nullptr && event->source->waits_for_room(); };
  if (std::any_of(events_.begin(), events_.end(), waits)) return false;
  bool any = false;
  for (const auto& ring : kernel_) any |= ring->copy_rest(*this);
  return any;
}

void OutputRing::forget_kernel() {
  for (const auto& ring : kernel_) ring->forget();
  kernel_.clear();
}

bool OutputRing::is_due() const {
  if (wakeup_events_ > 0) return samples_ >= wakeup_events_;
  return ring_->written_bytes() - woken_at_ > watermark_;
}

void OutputRing::polled() {
  if (!std::exchange(is_notified_, false)) return;
  for (const Event* const event : events_) unsignal(*event);
}

void OutputRing::publish() {
  ring_->publish();
  const bool wakes = is_due();
  if (wakes) {
    woken_at_ = ring_->written_bytes();
    samples_ = wakeup_events_ > 0 ? samples_ % wakeup_events_ : 0;
    if (ring_->overwrites()) ring_->forget_unread();
  }
  // Who waits in epoll is not told apart (polled()): for that one, until it has read. Nobody says how far a ring that
  // overwrites was read.
  const bool is_on = wakes || (is_notified_ && !ring_->overwrites() && ring_->unread() > 0);
  if (is_on == is_notified_) return;
  is_notified_ = is_on;
  for (const Event* const event : events_) is_on ? signal(*event) : unsignal(*event);
}

}  // namespace landtrace::perf
