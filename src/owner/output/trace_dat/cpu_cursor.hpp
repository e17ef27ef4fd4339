// Walks the events of one CPU, page by page.
#pragma once

#include <cstring>
#include <optional>

#include "abi/entry.hpp"
#include "output/record.hpp"
#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/page_format.hpp"
#include "output/trace_dat/page_pool.hpp"

namespace landtrace::output::trace_dat {

class CpuCursor {
 public:
  // `file`, of which the region is unless it has a stream, and `pool`, for pages of its size, must live as long.
  CpuCursor(const InputFile& file, const CpuRegion& region, PagePool& pool)
      : file_(region.stream ? region.stream.get() : &file),
        region_(region),
        page_size_(pool.page_size()),
        pool_(&pool) {}

  // Moves to the next event; false at the end. After an error (EBADMSG, with the offset) there is no next
  // one.
  Result<bool> advance();
  // After advance() has given false: whether there was a page that is not where it was looked for. The recorder moves
  // them when it finishes.
  [[nodiscard]] bool lacks_page() const { return region_.stream && !is_damaged_ && next_page_ < region_.size; }
  // `now`: the region as it is now, of `finished` or as its moved_to says.
  void find_moved(const CpuRegion& now, const std::shared_ptr<InputFile>& finished);
  // After that: advance() from where it ended.
  Result<bool> go_on();
  // As advance() where the next event is in the page and short, as nearly all are. False: it is for advance().
  bool advance_in_page() {
    if (used_ - at_ < kWord + abi::kEntryHeaderSize) return false;
    const auto head = abi::load<std::uint32_t>(events_ + at_);
    const std::size_t length = (head & kTypeMask) * kWord;
    if (length < abi::kEntryHeaderSize || length > kMaxShortEntry || length > used_ - at_ - kWord) return false;
    lost_ = 0;
    time_ns_ += head >> kTypeBits;
    take_record(events_ + at_ + kWord, length);
    at_ += kWord + length;
    return true;
  }
  // `is_held`: the event that it stands at, and what was lost before it, have not been given to anybody yet.
  //
  // Of a stream that is being written: looks what has come since. True: advance() can go on. `now`: the region as it is
  // now, or nullptr.
  Result<bool> look_again(const CpuRegion* now, bool is_held);
  // The same events, which stand elsewhere from here on: the recording was finished.
  void move_to(const InputFile& file, const CpuRegion& region, bool is_held);
  // Whether the region of that file can be this one: it has the page that this stands in, by its first event's time.
  [[nodiscard]] bool is_in(const InputFile& file, const CpuRegion& region) const;

  // The event; its payload is valid until the next advance(), and for as long as somebody holds page().
  [[nodiscard]] const Record& record() const { return record_; }
  [[nodiscard]] const PageMemory& page() const { return page_memory_; }
  // Events missed on this CPU since the one before.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  Result<bool> advance_checked();
  struct PageHeader {
    std::uint64_t time_ns;
    std::uint64_t commit;
  };
  // False: the page is not there yet, or not any more.
  Result<bool> load_page();
  Result<PageHeader> read_header(std::uint64_t page_start) const;
  Result<void> check_size(const PageHeader& header, std::uint64_t start) const;
  // Where the page that begins at `page_` of the region stands.
  [[nodiscard]] std::uint64_t page_start() const { return page_offset_ + page_; }
  [[nodiscard]] bool is_missing(const PageHeader& header) const;
  // As many bytes of its events, at most.
  [[nodiscard]] std::size_t readable_in_page() const;
  Result<std::optional<std::uint64_t>> lost_before_unfinished_page(PageHeader& header) const;
  void add_lost(std::uint64_t count);
  // For what is read next: whoever holds the memory so far keeps it as it is.
  void renew_memory() {
    if (page_memory_.use_count() != 1) use(pool_->take());
  }
  void use(PageMemory memory) {
    page_memory_ = std::move(memory);
    events_ = page_memory_.get() + kPageHeader;
  }
  // Header and events of a page that nobody writes any more, by one call. False: it is for read_header().
  Result<bool> read_whole_page();
  // The held event is in other memory now.
  void keep_held(const std::byte* from, const std::byte* to);
  // False: the page has no more.
  Result<bool> advance_within_page();
  Result<void> take_padding(std::uint64_t delta);
  Result<void> take_time(std::uint32_t type, std::uint64_t delta);
  Result<void> take_entry(std::uint32_t type);
  void take_record(const std::byte* entry, std::size_t length) {
    record_.time_ns = time_ns_;
    record_.cpu = region_.cpu;
    record_.event_id = abi::load<std::uint16_t>(entry);
    record_.tid = abi::load<std::int32_t>(entry + offsetof(abi::EntryHeader, pid));
    record_.payload = {entry + abi::kEntryHeaderSize, length - abi::kEntryHeaderSize};
  }
  Result<std::uint32_t> word();
  Result<void> skip(std::size_t size);
  [[nodiscard]] tl::unexpected<Error> bad(const std::string& message) const;

  const InputFile* file_;
  CpuRegion region_;
  std::uint32_t page_size_;
  const InputFile* page_file_ = nullptr;  // which has the page
  std::uint64_t page_offset_ = 0;         // of the region's first page in that file
  std::uint64_t page_ = 0;                // offset of the page within the region
  std::uint64_t next_page_ = 0;
  PagePool* pool_;
  PageMemory page_memory_;  // a header, of which only the room is used, and the events
  std::byte* events_ = nullptr;
  std::size_t used_ = 0;  // bytes of events in events_
  std::size_t at_ = 0;
  std::uint64_t page_time_ns_ = 0;  // of its first event
  std::uint64_t time_ns_ = 0;
  std::uint64_t lost_ = 0;
  bool is_damaged_ = false;
  Record record_;
};

}  // namespace landtrace::output::trace_dat
