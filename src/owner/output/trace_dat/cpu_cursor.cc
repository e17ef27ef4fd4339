#include "output/trace_dat/cpu_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "output/trace_dat/page_format.hpp"

namespace landtrace::output::trace_dat {
namespace {

template <typename T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

constexpr std::size_t kWord = sizeof(std::uint32_t);

}  // namespace

Result<bool> CpuCursor::advance() {
  lost_ = 0;
  auto result = advance_checked();
  if (!result) {
    next_page_ = region_.size;
    at_ = used_ = 0;
  }
  return result;
}

Result<bool> CpuCursor::advance_checked() {
  while (true) {
    LT_TRY(const bool found, advance_in_page());
    if (found) return true;
    if (next_page_ >= region_.size) return false;
    LT_CHECK(load_page());
  }
}

Result<void> CpuCursor::load_page() {
  const std::uint64_t start = region_.offset + next_page_;
  if (start < region_.offset) return fail(EBADMSG, fmt::format("a page beyond all offsets at {}", region_.offset));
  std::array<std::byte, kPageHeader> header;
  LT_CHECK(file_->read(start, header, "a page header"));
  const auto commit = get<std::uint64_t>(&header[8]);
  used_ = at_ = 0;
  const std::size_t size = commit & kCommitMask;
  const std::size_t count_size = (commit & kMissedStored) != 0 ? sizeof(std::uint64_t) : 0;
  if (size + count_size > page_size_ - kPageHeader) {
    return fail(EBADMSG, fmt::format("{} bytes of events in a page of {} at offset {}", size, page_size_, start));
  }
  events_.resize(size + count_size);
  LT_CHECK(file_->read(start + kPageHeader, events_, "a page"));
  next_page_ += page_size_;
  time_ns_ = get<std::uint64_t>(header.data());
  used_ = size;
  take_lost(commit);
  return {};
}

void CpuCursor::take_lost(std::uint64_t commit) {
  if ((commit & kMissedEvents) == 0) return;
  const std::uint64_t count = (commit & kMissedStored) != 0 ? get<std::uint64_t>(events_.data() + used_) : kLostUnknown;
  // A page without events before this one may have brought a count too.
  lost_ = count > kLostUnknown - lost_ ? kLostUnknown : lost_ + count;
}

Result<bool> CpuCursor::advance_in_page() {
  while (at_ < used_) {
    LT_TRY(const std::uint32_t head, word());
    const std::uint32_t type = head & kTypeMask;
    const std::uint64_t delta = head >> kTypeBits;
    if (type == kTypePadding) {
      LT_CHECK(take_padding(delta));
    } else if (type == kTypeTimeExtend || type == kTypeTimeStamp) {
      LT_CHECK(take_time(type, delta));
    } else {
      time_ns_ += delta;
      LT_CHECK(take_entry(type));
      return true;
    }
  }
  return false;
}

Result<void> CpuCursor::take_padding(std::uint64_t delta) {
  if (delta == 0) {
    at_ = used_;
    return {};
  }
  // An event that was discarded after its room was reserved. The length includes itself.
  time_ns_ += delta;
  LT_TRY(const std::uint32_t length, word());
  if (length < kWord) return bad("padding without a length");
  return skip(length - kWord);
}

Result<void> CpuCursor::take_time(std::uint32_t type, std::uint64_t delta) {
  LT_TRY(const std::uint64_t high, word());
  const std::uint64_t value = high << kDeltaBits | delta;
  time_ns_ = type == kTypeTimeExtend ? time_ns_ + value : (time_ns_ & ~kTimeMask) | value;
  return {};
}

Result<void> CpuCursor::take_entry(std::uint32_t type) {
  std::size_t length = type * kWord;
  if (type == kTypeLong) {
    LT_TRY(const std::uint32_t stored, word());
    length = stored < kWord ? 0 : stored - kWord;
  }
  if (length < event::kCommonHeaderSize) return bad(fmt::format("an event of {} bytes", length));
  const std::byte* entry = events_.data() + at_;
  LT_CHECK(skip(length));
  record_.time_ns = time_ns_;
  record_.cpu = region_.cpu;
  record_.event_id = get<std::uint16_t>(entry);
  record_.tid = get<std::int32_t>(entry + 4);
  record_.payload = {entry + event::kCommonHeaderSize, length - event::kCommonHeaderSize};
  at_ = std::min(align4(at_), used_);
  return {};
}

Result<std::uint32_t> CpuCursor::word() {
  const std::size_t start = at_;
  LT_CHECK(skip(kWord));
  return get<std::uint32_t>(events_.data() + start);
}

Result<void> CpuCursor::skip(std::size_t size) {
  if (size > used_ - at_)
    return bad(fmt::format("an event that reaches {} bytes beyond its page", size - (used_ - at_)));
  at_ += size;
  return {};
}

tl::unexpected<Error> CpuCursor::bad(const std::string& message) const {
  const std::uint64_t page = region_.offset + next_page_ - page_size_;
  return fail(EBADMSG, fmt::format("CPU {}: {} at offset {}", region_.cpu, message, page + kPageHeader + at_));
}

}  // namespace landtrace::output::trace_dat
