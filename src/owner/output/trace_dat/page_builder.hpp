// Builds one ring-buffer page in memory.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "abi/entry.hpp"
#include "output/record.hpp"
#include "output/trace_dat/page_format.hpp"

namespace landtrace::output::trace_dat {

class PageBuilder {
 public:
  explicit PageBuilder(std::size_t page_size = kPageSize) : page_size_(page_size) {}

  // Appends the record. False: it needs a new page, or a larger one (a page of kPageSize has room for any).
  bool append(const Record& record) { return append_short(record) || append_any(record); }
  // The same for nearly every record: a short one, soon behind the one before, on the same page. False: append_any()
  // has to do it.
  bool append_short(const Record& record) {
    const std::size_t size = record.payload.size();
    const std::uint64_t delta = record.time_ns - last_ns_;  // of an earlier time: too large
    if (used_ == 0 || delta > kMaxDelta || size > kMaxShortEntry - abi::kEntryHeaderSize) return false;
    const std::size_t entry = align4(abi::kEntryHeaderSize + size);
    if (used_ + kWord + entry > capacity()) return false;
    std::byte* const at = page_.get() + kPageHeader + used_;
    const auto head = static_cast<std::uint32_t>(delta << kTypeBits | entry / kWord);
    const abi::EntryHeader header{record.event_id, 0, 0, record.tid};
    std::memcpy(at, &head, sizeof head);
    std::memset(at + entry, 0, kWord);  // the last word, which may pad the payload
    std::memcpy(at + kWord, &header, sizeof header);
    copy_short(at + kWord + sizeof header, record.payload.data(), size);
    used_ += kWord + entry;
    last_ns_ = record.time_ns;
    return true;
  }

  // Events missed just before the first record of this page. Only while the page is empty.
  void set_lost(std::uint64_t count) { lost_ = count; }

  [[nodiscard]] bool empty() const { return used_ == 0; }
  // Bytes of events so far.
  [[nodiscard]] std::size_t used() const { return used_; }

  // Completes the header and gives the page, without the unused room at its end. Valid until the next call.
  std::span<const std::byte> finish();
  // The page's beginning while more is to come: readers find the events so far, and see that some were missed before
  // the first, but not how many, as that number stands behind the last event.
  [[nodiscard]] std::array<std::byte, kPageHeader> header_so_far() const;
  // The events from byte `from` of used() on.
  [[nodiscard]] std::span<const std::byte> events(std::size_t from) const {
    return {page_.get() + kPageHeader + from, used_ - from};
  }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // Starts the next page.
  void clear();

 private:
  bool append_any(const Record& record);
  // In line: a call for some ten bytes takes longer than they do.
  static void copy_short(std::byte* to, const std::byte* from, std::size_t size) {
    for (; size >= 8; to += 8, from += 8, size -= 8) std::memcpy(to, from, 8);
    if (size >= 4) {
      std::memcpy(to, from, 4);
      to += 4;
      from += 4;
      size -= 4;
    }
    for (; size > 0; --size) *to++ = *from++;
  }
  // The number of missed events must fit behind the events of any page.
  [[nodiscard]] std::size_t capacity() const { return page_size_ - kPageHeader - sizeof(std::uint64_t); }

  // How the time of a record is told: by its delta alone, or with a word before it.
  enum class TimeWord { kNone, kExtend, kStamp, kImpossible };
  [[nodiscard]] TimeWord time_word(std::uint64_t time_ns) const;
  void start(std::uint64_t time_ns);
  void put_time_word(TimeWord word, std::uint64_t time_ns);
  void put_entry(const Record& record, std::size_t entry, std::uint64_t delta);

  std::size_t page_size_;
  std::unique_ptr<std::byte[]> page_;  // allocated with the first record: most CPUs of a big machine have none
  std::size_t used_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace landtrace::output::trace_dat
