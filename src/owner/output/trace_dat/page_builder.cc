#include "output/trace_dat/page_builder.hpp"

#include <cstring>

#include "abi/entry.hpp"

namespace landtrace::output::trace_dat {
namespace {

template <typename T>
std::byte* store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

std::uint32_t head(std::uint64_t type, std::uint64_t delta) {
  return static_cast<std::uint32_t>(delta << kTypeBits | type);
}

}  // namespace

bool PageBuilder::append_any(const Record& record) {
  const std::size_t entry = align4(abi::kEntryHeaderSize + record.payload.size());
  const TimeWord word = time_word(record.time_ns);
  const std::size_t time_size = word == TimeWord::kNone ? 0 : 2 * kWord;
  const std::size_t head_size = entry > kMaxShortEntry ? 2 * kWord : kWord;
  if (used_ + time_size + head_size + entry > capacity() || word == TimeWord::kImpossible) return false;

  if (empty()) start(record.time_ns);
  if (word != TimeWord::kNone) put_time_word(word, record.time_ns);
  put_entry(record, entry, word == TimeWord::kNone ? record.time_ns - last_ns_ : 0);
  last_ns_ = record.time_ns;
  return true;
}

PageBuilder::TimeWord PageBuilder::time_word(std::uint64_t time_ns) const {
  if (empty()) return TimeWord::kNone;
  if (time_ns < last_ns_) {
    // Readers take the high bits of a time stamp from the time before it.
    return time_ns >> kTimeBits == last_ns_ >> kTimeBits ? TimeWord::kStamp : TimeWord::kImpossible;
  }
  const std::uint64_t delta = time_ns - last_ns_;
  if (delta <= kMaxDelta) return TimeWord::kNone;
  return delta <= kTimeMask ? TimeWord::kExtend : TimeWord::kImpossible;
}

void PageBuilder::start(std::uint64_t time_ns) {
  if (!page_) page_ = std::make_unique_for_overwrite<std::byte[]>(page_size_);
  first_ns_ = last_ns_ = time_ns;
}

void PageBuilder::put_time_word(TimeWord word, std::uint64_t time_ns) {
  const bool stamp = word == TimeWord::kStamp;
  const std::uint64_t value = stamp ? time_ns & kTimeMask : time_ns - last_ns_;
  std::byte* at = page_.get() + kPageHeader + used_;
  at = store(at, head(stamp ? kTypeTimeStamp : kTypeTimeExtend, value & kMaxDelta));
  store(at, static_cast<std::uint32_t>(value >> kDeltaBits));
  used_ += 2 * kWord;
}

void PageBuilder::put_entry(const Record& record, std::size_t entry, std::uint64_t delta) {
  std::byte* at = page_.get() + kPageHeader + used_;
  std::byte* const start = at;
  if (entry > kMaxShortEntry) {
    at = store(at, head(kTypeLong, delta));
    at = store(at, static_cast<std::uint32_t>(entry + kWord));
  } else {
    at = store(at, head(entry / kWord, delta));
  }
  // The last word first: it zeroes the bytes that pad the payload.
  store(at + entry - kWord, std::uint32_t{0});
  store(at, abi::EntryHeader{record.event_id, 0, 0, record.tid});
  if (!record.payload.empty()) {
    std::memcpy(at + abi::kEntryHeaderSize, record.payload.data(), record.payload.size());
  }
  used_ += static_cast<std::size_t>(at - start) + entry;
}

std::span<const std::byte> PageBuilder::finish() {
  std::byte* at = store(page_.get(), first_ns_);
  std::size_t size = kPageHeader + used_;
  std::uint64_t commit = used_;
  if (lost_ > 0) {
    commit |= kMissedEvents;
    if (lost_ != kLostUnknown) {
      commit |= kMissedStored;
      store(page_.get() + size, lost_);
      size += sizeof lost_;
    }
  }
  store(at, commit);
  return {page_.get(), size};
}

std::array<std::byte, kPageHeader> PageBuilder::header_so_far() const {
  std::array<std::byte, kPageHeader> header;
  store(store(header.data(), first_ns_), used_ | (lost_ > 0 ? kMissedEvents : 0));
  return header;
}

void PageBuilder::clear() {
  used_ = 0;
  lost_ = 0;
}

}  // namespace landtrace::output::trace_dat
