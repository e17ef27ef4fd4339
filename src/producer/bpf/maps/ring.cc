#include "bpf/maps/ring.hpp"

#include <vector>

namespace landtrace::bpf {

std::optional<std::uint64_t> RecordRing::look_at_next(std::uint64_t position) const {
  const std::uint64_t seen = __atomic_load_n(header(position), __ATOMIC_RELAXED);
  // Pairs with the swap in reserve(): what was seen was there before anybody had that place.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(producer(), __ATOMIC_ACQUIRE) != position) return std::nullopt;
  return seen;
}

// The header at the producer position is that of a record to come.
bool RecordRing::mark_next(std::uint64_t position, std::uint64_t seen) const {
  std::uint64_t wanted = word_of(kRingBusy, check_of(position));
  if (seen == wanted) return true;
  std::uint64_t there = seen;
  // Before the position is looked at again, below; pairs with itself in other threads.
  if (!__atomic_compare_exchange_n(header(position), &there, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    return there == wanted;
  // Pairs with the swap in reserve(): whoever has that place in the next lap had it before what was seen came there.
  if (__atomic_load_n(producer(), __ATOMIC_SEQ_CST) - position <= size_) return true;
  __atomic_compare_exchange_n(header(position), &wanted, seen, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return false;
}

RecordRing::Record RecordRing::reserve(std::uint32_t length, std::uint32_t tid, Machine* payer) const {
  constexpr std::uint32_t kMaxTries = 4096;
  const std::uint64_t total = rounded(std::uint64_t{length} + kRingHeaderSize, 8);
  for (std::uint32_t i = 0; i < kMaxTries && total <= size_; ++i) {
    if (i != 0 && payer != nullptr && !payer->spend(8)) break;
    // Pairs with the swap below, and with the reader's release store: what it has read may be overwritten.
    const std::uint64_t at = __atomic_load_n(producer(), __ATOMIC_ACQUIRE);
    const std::uint64_t consumed = __atomic_load_n(consumer(), __ATOMIC_ACQUIRE);
    const std::uint64_t left = size_ - (at & (size_ - 1));
    const std::uint64_t skipped = total > left ? left : 0;
    if (at % 8 != 0 || at + skipped + total - consumed > size_) break;
    const auto seen = look_at_next(at);
    if (!seen || !mark_next(at, *seen)) continue;
    std::uint64_t now = at;
    // The header that was marked, then the position: pairs with the acquire loads of readers.
    if (!__atomic_compare_exchange_n(producer(), &now, at + skipped + total, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
      continue;
    }
    std::uint64_t* const record = header(at + skipped);
    __atomic_store_n(record, word_of(length | kRingBusy, tid), __ATOMIC_RELAXED);
    if (skipped != 0) {
      const auto rest = static_cast<std::uint32_t>(skipped - kRingHeaderSize);
      // The record's own header, then this: pairs with the acquire loads of readers.
      __atomic_store_n(header(at), word_of(rest | kRingDiscard, check_of(at)), __ATOMIC_RELEASE);
    }
    return {reinterpret_cast<std::byte*>(record) + kRingHeaderSize, length, at + skipped};
  }
  __atomic_fetch_add(dropped(), 1, __ATOMIC_RELAXED);
  return {nullptr, 0, 0};
}

void RecordRing::release(const Record& record, bool discard) const {
  // Of this position, so that nobody who has seen the place a lap ago takes it for what was there. Publishes the data:
  // pairs with the acquire loads of readers.
  __atomic_store_n(header(record.position),
                   word_of(record.length | (discard ? kRingDiscard : 0), check_of(record.position)), __ATOMIC_RELEASE);
}

std::uint64_t RecordRing::next_at() const {
  const std::uint64_t at = __atomic_load_n(consumer(), __ATOMIC_RELAXED);
  // Pairs with the release store in reserve(), whose record is behind it.
  const auto length = static_cast<std::uint32_t>(__atomic_load_n(header(at), __ATOMIC_ACQUIRE));
  if ((length & kRingBusy) != 0 || (length & kRingDiscard) == 0) return at;
  const std::uint64_t end = at + rounded(std::uint64_t{length & ~kRingDiscard} + kRingHeaderSize, 8);
  const bool is_rest = end % size_ == 0 && end != __atomic_load_n(producer(), __ATOMIC_RELAXED);
  return is_rest ? end : at;
}

bool RecordRing::is_readable() const {
  return has_data() && (__atomic_load_n(header(next_at()), __ATOMIC_RELAXED) & kRingBusy) == 0;
}

std::uint32_t RecordRing::holder() const {
  const std::uint64_t at = next_at();
  if (at == __atomic_load_n(producer(), __ATOMIC_ACQUIRE)) return 0;  // pairs with the swap in reserve()
  const std::uint64_t word = __atomic_load_n(header(at), __ATOMIC_RELAXED);
  return (word & kRingBusy) != 0 && (word & (kRingBusy - 1)) != 0 ? static_cast<std::uint32_t>(word >> 32) : 0;
}

void RecordRing::release_dead(std::uint32_t tid) const {
  const std::uint64_t at = next_at();
  std::uint64_t word = __atomic_load_n(header(at), __ATOMIC_RELAXED);
  if ((word & kRingBusy) == 0 || word >> 32 != tid) return;
  const auto length = static_cast<std::uint32_t>(word) & (kRingBusy - 1);
  // Pairs with the acquire loads of readers.
  __atomic_compare_exchange_n(header(at), &word, word_of(length | kRingDiscard, check_of(at)), false, __ATOMIC_ACQ_REL,
                              __ATOMIC_RELAXED);
}

std::optional<RecordRing::Stuck> RecordRing::stuck() const {
  const std::uint64_t at = __atomic_load_n(consumer(), __ATOMIC_RELAXED);
  const std::uint64_t end = __atomic_load_n(producer(), __ATOMIC_ACQUIRE);  // pairs with the swap in reserve()
  // Positions that are spoilt may be any.
  if (at == end || end - at > size_ || at % 8 != 0 || end % 8 != 0) return std::nullopt;
  if (__atomic_load_n(header(at), __ATOMIC_RELAXED) != word_of(kRingBusy, check_of(at))) return std::nullopt;
  return Stuck{at, end};
}

std::uint64_t RecordRing::end_of(std::uint64_t position, std::uint64_t limit) const {
  const std::uint64_t word = __atomic_load_n(header(position), __ATOMIC_RELAXED);
  const auto length = static_cast<std::uint32_t>(word) & (kRingBusy - 1) & ~kRingDiscard;
  const bool is_held = (word & kRingBusy) != 0 && length != 0;
  const bool is_complete = (word & kRingBusy) == 0 && word >> 32 == check_of(position);
  const std::uint64_t end = position + rounded(std::uint64_t{length} + kRingHeaderSize, 8);
  return (is_held || is_complete) && end <= limit ? end : 0;
}

// What is in memory that nobody has written to may look like a record. A row of them does not, up to where one ends for
// sure. From the end on, each place once: it is the owner who looks, maybe at memory that was prepared for that.
std::uint64_t RecordRing::first_record(const Stuck& stuck) const {
  constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20;
  const std::uint64_t begin = stuck.end - stuck.at > kMostBytes ? stuck.end - kMostBytes : stuck.at + 8;
  std::vector<bool> leads_to_end((stuck.end - begin) / 8 + 1);
  leads_to_end.back() = true;
  std::uint64_t first = stuck.end;
  for (std::uint64_t at = stuck.end; at > begin;) {
    at -= 8;
    const std::uint64_t end = end_of(at, stuck.end);
    if (end == 0 || !leads_to_end[(end - begin) / 8]) continue;
    leads_to_end[(at - begin) / 8] = true;
    if ((__atomic_load_n(header(at), __ATOMIC_RELAXED) & kRingBusy) == 0) first = at;
  }
  return first;
}

void RecordRing::give_up(const Stuck& stuck) const {
  const std::uint64_t next = first_record(stuck);
  const auto discard = [&](std::uint64_t from, std::uint64_t to) {
    return word_of(static_cast<std::uint32_t>(to - from - kRingHeaderSize) | kRingDiscard, check_of(from));
  };
  // Records do not wrap around.
  const std::uint64_t lap = (stuck.at / size_ + 1) * size_;
  std::uint64_t until = next;
  if (next > lap) {
    __atomic_store_n(header(lap), discard(lap, next), __ATOMIC_RELAXED);
    until = lap;
  }
  std::uint64_t expected = word_of(kRingBusy, check_of(stuck.at));
  // Pairs with the acquire loads of readers, as release().
  __atomic_compare_exchange_n(header(stuck.at), &expected, discard(stuck.at, until), false, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
}

}  // namespace landtrace::bpf
