#include "output/trace_dat/cpu_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "output/trace_dat/cpu_stream.hpp"
#include "output/trace_dat/page_format.hpp"

namespace landtrace::output::trace_dat {
namespace {

using abi::load;

}  // namespace

Result<bool> CpuCursor::advance() {
  lost_ = 0;
  return go_on();
}

Result<bool> CpuCursor::go_on() {
  auto result = advance_checked();
  if (!result) {
    is_damaged_ = true;
    next_page_ = region_.size;
    at_ = used_ = 0;
  }
  return result;
}

Result<bool> CpuCursor::advance_checked() {
  while (true) {
    LT_TRY(const bool found, advance_within_page());
    if (found) return true;
    if (next_page_ >= region_.size) return false;
    LT_TRY(const bool loaded, load_page());
    if (!loaded) return false;
  }
}

Result<CpuCursor::PageHeader> CpuCursor::read_header(std::uint64_t start) const {
  PageHeader header{};
  if (region_.stream && start + sizeof header > page_file_->size()) return header;
  LT_CHECK(page_file_->read(start, std::as_writable_bytes(std::span(&header, 1)), "a page header"));
  return header;
}

Result<void> CpuCursor::check_size(const PageHeader& header, std::uint64_t start) const {
  const std::size_t size = header.commit & kCommitMask;
  const std::size_t count_size = (header.commit & kMissedStored) != 0 ? sizeof(std::uint64_t) : 0;
  if (size + count_size <= page_size_ - kPageHeader) return {};
  return fail(EBADMSG, fmt::format("{} bytes of events in a page of {} at offset {}", size, page_size_, start));
}

bool CpuCursor::is_missing(const PageHeader& header) const {
  return region_.stream && header.time_ns == 0 && header.commit == 0;
}

std::size_t CpuCursor::readable_in_page() const {
  const bool is_last = page_ + page_size_ == region_.size;
  return is_last && region_.last_page_used ? *region_.last_page_used : page_size_;
}

Result<bool> CpuCursor::read_whole_page() {
  const bool is_there = page_start() <= file_->size() && page_size_ <= file_->size() - page_start();
  if (region_.stream || !is_there) return false;
  LT_CHECK(file_->read(page_start(), {page_memory_.get(), page_size_}, "a page"));
  return true;
}

Result<bool> CpuCursor::load_page() {
  if (region_.offset + next_page_ < region_.offset) {
    return fail(EBADMSG, fmt::format("a page beyond all offsets at {}", region_.offset));
  }
  page_ = next_page_;
  page_file_ = file_;
  page_offset_ = region_.offset;
  used_ = at_ = 0;
  renew_memory();
  LT_TRY(const bool is_read, read_whole_page());
  PageHeader header{};
  if (is_read) {
    header = load<PageHeader>(page_memory_.get());
  } else {
    LT_TRY(header, read_header(page_start()));
  }
  if (is_missing(header) && region_.moved_to) {
    page_file_ = region_.moved_to.get();
    page_offset_ = region_.moved_offset;
    LT_CHECK(region_.moved_to->look_again());  // it grows by what is moved
    LT_TRY(header, read_header(page_start()));
  }
  const std::size_t readable = readable_in_page();
  if (is_missing(header) || readable == 0) return false;
  LT_TRY(const std::optional<std::uint64_t> unfinished_lost, lost_before_unfinished_page(header));
  LT_CHECK(check_size(header, page_start()));
  const bool has_count = (header.commit & kMissedStored) != 0;
  const std::size_t used = header.commit & kCommitMask;
  if (!is_read) {
    const std::size_t size = used + (has_count ? sizeof(std::uint64_t) : 0);
    LT_CHECK(page_file_->read(page_start() + kPageHeader, {events_, size}, "a page"));
    // A recorder that finishes moves its pages: what was read counts only if the page is still here.
    LT_TRY(const PageHeader after, read_header(page_start()));
    if (is_missing(after)) return false;
  }
  next_page_ = page_ + page_size_;
  time_ns_ = page_time_ns_ = header.time_ns;
  used_ = std::min(used, readable);
  if (has_count) {
    add_lost(load<std::uint64_t>(events_ + used));
  } else if ((header.commit & kMissedEvents) != 0) {
    add_lost(unfinished_lost.value_or(kLostUnknown));
  }
  return true;
}

// The number of missed events is in the counters until the page is full, and from then on behind its events: where
// the counters are about another page already, the header is read anew.
Result<std::optional<std::uint64_t>> CpuCursor::lost_before_unfinished_page(PageHeader& header) const {
  const bool is_told = (header.commit & kMissedEvents) == 0 || (header.commit & kMissedStored) != 0;
  if (is_told || !region_.stream || page_file_ != file_) return std::nullopt;
  StreamCounters counters{};
  LT_CHECK(file_->read(kCountersAt, std::as_writable_bytes(std::span(&counters, 1)), "counters"));
  if (counters.page == page_ / page_size_) return counters.page_lost;
  LT_TRY(header, read_header(page_start()));
  return std::nullopt;
}

// A page without events before this one may have brought a count too.
void CpuCursor::add_lost(std::uint64_t count) { lost_ = count > kLostUnknown - lost_ ? kLostUnknown : lost_ + count; }

// First how large the file is, then what the page has: in this order no page is passed over half read.
Result<bool> CpuCursor::look_again(const CpuRegion* now, bool is_held) {
  if (!region_.stream || is_damaged_) return false;
  if (now != nullptr && now->moved_to) {
    region_.moved_to = now->moved_to;
    region_.moved_offset = now->moved_offset;
    region_.size = std::max(region_.size, now->size);
  }
  region_.last_page_used.reset();
  LT_CHECK(region_.stream->look_again());
  // A stream that has become the finished file grows by the pages of other CPUs.
  const std::uint64_t size =
      is_trace_file(*region_.stream) ? region_.size : pages_in_stream(region_.stream->size()) * page_size_;
  if (next_page_ > page_ && page_file_ == file_) {
    LT_TRY(const PageHeader header, read_header(page_start()));
    LT_CHECK(check_size(header, page_start()));
    const std::size_t used = header.commit & kCommitMask;
    if (used > used_) {
      PageMemory grown = pool_->take();
      std::byte* const events = grown.get() + kPageHeader;
      std::memcpy(events, events_, used_);
      LT_CHECK(page_file_->read(page_start() + kPageHeader + used_, {events + used_, used - used_}, "a page"));
      if (is_held) keep_held(events_, events);
      use(std::move(grown));
      used_ = used;
      page_time_ns_ = header.time_ns;
    }
  }
  region_.size = std::max(region_.size, size);
  return at_ < used_ || next_page_ < region_.size;
}

// Whoever completed a recording may have left out a last page without events.
void CpuCursor::find_moved(const CpuRegion& now, const std::shared_ptr<InputFile>& finished) {
  if (!region_.stream) return;
  region_.moved_to = finished ? finished : now.moved_to;
  region_.moved_offset = finished ? now.offset : now.moved_offset;
  if (!region_.moved_to || now.size >= region_.size) return;
  region_.size = now.size;
  region_.last_page_used.reset();
}

// The pages stand in the same order there.
void CpuCursor::move_to(const InputFile& file, const CpuRegion& region, bool is_held) {
  const std::size_t at = at_;
  const std::uint64_t time = time_ns_;
  const std::uint64_t lost = is_held ? lost_ : 0;
  const bool stands_in_page = next_page_ > page_;
  file_ = &file;
  region_ = region;
  if (is_damaged_) {
    next_page_ = region_.size;
    return;
  }
  if (!stands_in_page) return;
  // More of that page may have been published by now than was read. What was lost before it is known.
  PageMemory before = std::exchange(page_memory_, nullptr);
  const std::byte* const events_before = events_;
  next_page_ = page_;
  const auto loaded = load_page();
  lost_ = lost;
  at_ = std::min(at, used_);
  if (!loaded || !*loaded || used_ < at) {
    use(std::move(before));  // which has the event's payload
    return;
  }
  time_ns_ = time;
  if (is_held) keep_held(events_before, events_);
}

bool CpuCursor::is_in(const InputFile& file, const CpuRegion& region) const {
  if (used_ == 0) return true;
  PageHeader header{};
  return page_ < region.size &&
         file.read(region.offset + page_, std::as_writable_bytes(std::span(&header, 1)), "a page header") &&
         header.time_ns == page_time_ns_;
}

void CpuCursor::keep_held(const std::byte* from, const std::byte* to) {
  record_.payload = {to + (record_.payload.data() - from), record_.payload.size()};
}

Result<bool> CpuCursor::advance_within_page() {
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
  if (length < abi::kEntryHeaderSize) return bad(fmt::format("an event of {} bytes", length));
  const std::byte* entry = events_ + at_;
  LT_CHECK(skip(length));
  take_record(entry, length);
  at_ = std::min(align4(at_), used_);
  return {};
}

Result<std::uint32_t> CpuCursor::word() {
  const std::size_t start = at_;
  LT_CHECK(skip(kWord));
  return load<std::uint32_t>(events_ + start);
}

Result<void> CpuCursor::skip(std::size_t size) {
  if (size > used_ - at_)
    return bad(fmt::format("an event that reaches {} bytes beyond its page", size - (used_ - at_)));
  at_ += size;
  return {};
}

tl::unexpected<Error> CpuCursor::bad(const std::string& message) const {
  return fail(EBADMSG, fmt::format("CPU {}: {} at offset {}", region_.cpu, message, page_start() + kPageHeader + at_));
}

}  // namespace landtrace::output::trace_dat
