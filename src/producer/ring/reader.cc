#include "ring/reader.hpp"

#include <atomic>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace landtrace::ring {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
// A writer at full speed can lap a small ring while it is being copied; each failure counts what was lost.
constexpr int kMaxAttempts = 16;

// One 16-byte load: position and count belong together. Acquire: pairs with the commit, store_mark() in
// arch/write_exclusive.cc and the last store of arch/write_rseq.cc, so that what was committed is read, too.
Mark load_mark(const Mark* source) {
#if defined(__x86_64__)
  // x86-64 keeps loads in order; the compiler has to as well.
  const __m128i both = _mm_load_si128(reinterpret_cast<const __m128i*>(source));
  asm volatile("" ::: "memory");
  return {static_cast<std::uint64_t>(_mm_cvtsi128_si64(both)),
          static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(both, both)))};
#else
  // Two loads, which belong together if the position did not change meanwhile, as it does with every commit. All three
  // pair with the release store in store_mark(), and in arch/write_rseq_aarch64.cc.
  for (;;) {
    const std::uint64_t position = __atomic_load_n(&source->position, __ATOMIC_ACQUIRE);
    const std::uint64_t count = __atomic_load_n(&source->count, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&source->position, __ATOMIC_ACQUIRE) == position) return {position, count};
  }
#endif
}

// intent - size, or 0 before the first lap.
std::uint64_t oldest_intact(std::uint64_t intent, std::uint64_t size) { return intent > size ? intent - size : 0; }

}  // namespace

Reader::Reader(const std::byte* ring, Geometry geometry) : ring_(ring), geometry_(geometry) {
  const Mark start = oldest();
  position_ = start.position;
  count_ = start.count;
  lost_ = start.count;
}

bool Reader::is_intact(std::uint64_t position) const {
  return oldest_intact(std::max(load_intent(), load_commit().position), geometry_.size()) <= position;
}

Mark Reader::oldest() const {
  const Mark commit = load_commit();
  const std::uint64_t intact = oldest_intact(load_intent(), geometry_.size());
  return intact > 0 ? oldest_mark(intact, commit) : Mark{};
}

Mark Reader::load_commit() const { return load_mark(reinterpret_cast<const Mark*>(ring_)); }

std::uint64_t Reader::load_intent() const {
  return __atomic_load_n(&reinterpret_cast<const RingWords*>(ring_)->intent, __ATOMIC_RELAXED);
}

Discarded Reader::discarded() const {
  const auto* const words = reinterpret_cast<const RingWords*>(ring_);
  return {
      {__atomic_load_n(&words->discarded, __ATOMIC_RELAXED), __atomic_load_n(&words->discarded_odd, __ATOMIC_RELAXED)}};
}

bool Reader::is_claimed() const {
  // Pairs with the release store in write_if_unclaimed(), writer.cc: what earlier holders wrote is seen from here on.
  return __atomic_load_n(&reinterpret_cast<const RingWords*>(ring_)->claim, __ATOMIC_ACQUIRE) != 0;
}

std::uint64_t Reader::written() const { return load_commit().count; }

Mark Reader::oldest_mark(std::uint64_t from, Mark commit) const {
  const auto* marks = reinterpret_cast<const Mark*>(ring_ + Geometry::marks_offset());
  const std::uint32_t shift = geometry_.chunk_shift();
  const std::uint64_t last = commit.position >> shift;
  std::uint64_t chunk = from >> shift;
  // There are no more marks than chunks: what is further back has been overwritten by later laps' marks.
  if (last - chunk >= geometry_.chunks()) chunk = last - (geometry_.chunks() - 1);
  for (; chunk <= last; ++chunk) {
    const Mark mark = load_mark(&marks[chunk & (geometry_.chunks() - 1)]);
    if (mark.position >> shift == chunk && mark.position >= from && mark.position <= commit.position &&
        mark.count <= commit.count) {
      return mark;
    }
  }
  return commit;
}

void Reader::go_to(Mark mark) {
  // A count that went backwards is a hostile writer's; it must not turn the loss figure into nonsense.
  const std::uint64_t lost = mark.count > count_ ? mark.count - count_ : 0;
  batch_.lost_before += lost;
  lost_ += lost;
  position_ = mark.position;
  count_ = std::max(count_, mark.count);
}

void Reader::resync(Mark commit) {
  ++corrupt_;
  const std::uint64_t oldest = oldest_intact(load_intent(), geometry_.size());
  const std::uint64_t next_chunk = ((position_ >> geometry_.chunk_shift()) + 1) << geometry_.chunk_shift();
  // A hostile tail may make next_chunk overflow; going back there, a consumer would read the same for ever.
  const bool ahead = next_chunk > position_ && next_chunk <= commit.position;
  go_to(ahead ? oldest_mark(std::max(next_chunk, oldest), commit) : commit);
}

// Copies what follows position_, up to the end of the lap, into buffer_.
std::size_t Reader::copy_out(std::uint64_t tail) {
  const std::uint64_t offset = position_ & (geometry_.size() - 1);
  const std::uint64_t bytes =
      std::min({tail - position_, geometry_.size() - offset, static_cast<std::uint64_t>(kBufferBytes)});
  if (buffer_.size() < bytes) buffer_.resize(kBufferBytes);
  std::memcpy(buffer_.data(), ring_ + geometry_.data_offset() + offset, bytes);
  return bytes;
}

// Splits the copied bytes into records, as far as they make sense, and moves position_ past them. False if not even the
// first one does.
bool Reader::parse(std::size_t bytes, Mark commit) {
  const std::uint64_t committed = commit.position - position_;
  std::uint64_t at = 0;
  while (at < bytes) {
    const std::uint64_t left_in_lap = geometry_.size() - ((position_ + at) & (geometry_.size() - 1));
    RecordHeader header{};
    if (left_in_lap >= sizeof header) {
      if (bytes - at < sizeof header) break;
      std::memcpy(&header, buffer_.data() + at, sizeof header);
    }
    if (left_in_lap < sizeof header || header.event == kFillerEvent) {  // a filler, implied or written
      if (at + left_in_lap <= committed) at += left_in_lap;
      break;
    }
    const std::uint64_t payload = header.words * 4ull;
    const std::uint64_t length = record_length(payload);
    if (payload > kMaxPayload || length > left_in_lap || at + length > committed) break;
    if (length > bytes - at) break;  // the rest comes with the next batch
    batch_.records.push_back({header, {buffer_.data() + at + sizeof header, payload}});
    at += length;
  }
  if (at == 0) return false;
  batch_.start = place();
  batch_.bytes = buffer_.data();
  position_ += at;
  count_ += batch_.records.size();
  return true;
}

const Reader::Batch& Reader::read() {
  batch_.records.clear();
  batch_.lost_before = 0;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    Mark commit = load_commit();
    if (commit.position > end_.position) commit = end_;
    if (commit.position == position_) {
      // The tail is where we are, so the counts have to agree; where they do not, somebody made them up.
      count_ = commit.count;
      return batch_;
    }
    if (commit.position < position_ || ((commit.position | position_) & 7) != 0) {
      ++corrupt_;
      go_to({commit.position & ~7ull, commit.count});
      if ((commit.position & 7) != 0) return batch_;
      continue;
    }
    if (oldest_intact(std::max(load_intent(), commit.position), geometry_.size()) > position_) {
      go_to(oldest_mark(oldest_intact(std::max(load_intent(), commit.position), geometry_.size()), commit));
      continue;
    }
    const std::size_t bytes = copy_out(commit.position);
    // The bytes, then the intent: pairs with the release fence in announce(), arch/write_exclusive.cc. Whoever copied a
    // byte of the next lap sees the intent that announced it.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (oldest_intact(load_intent(), geometry_.size()) > position_) continue;  // lapped while copying
    if (!parse(bytes, commit)) {
      batch_.records.clear();
      resync(commit);
      continue;
    }
    if (!batch_.records.empty()) return batch_;
  }
  return batch_;
}

}  // namespace landtrace::ring
