// Walks the events of one CPU, page by page.
#pragma once

#include <optional>
#include <vector>

#include "output/record.hpp"
#include "output/trace_dat/contents.hpp"

namespace landtrace::output::trace_dat {

class CpuCursor {
 public:
  // `file`, of which the region is unless it has a stream, must live as long.
  CpuCursor(const InputFile& file, const CpuRegion& region, std::uint32_t page_size)
      : file_(region.stream ? region.stream.get() : &file), region_(region), page_size_(page_size) {}

  // Moves to the next event; false at the end. After an error (EBADMSG, with the offset) there is no next
  // one.
  Result<bool> advance();
  // `is_held`: the event that it stands at, and what was lost before it, have not been given to anybody yet.
  //
  // Of a stream that is being written: looks what has come since. True: advance() can go on. `now`: the region as it is
  // now, or nullptr.
  Result<bool> look_again(const CpuRegion* now, bool is_held);
  // The same events, which stand elsewhere from here on: the recording was finished.
  void move_to(const InputFile& file, const CpuRegion& region, bool is_held);

  // The event; its payload is valid until the next advance().
  [[nodiscard]] const Record& record() const { return record_; }
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
  Result<std::optional<std::uint64_t>> lost_before_unfinished_page(PageHeader& header) const;
  void add_lost(std::uint64_t count);
  // `before`: events_ as they were, with the held event in them.
  void keep_held(const std::vector<std::byte>& before);
  // False: the page has no more.
  Result<bool> advance_in_page();
  Result<void> take_padding(std::uint64_t delta);
  Result<void> take_time(std::uint32_t type, std::uint64_t delta);
  Result<void> take_entry(std::uint32_t type);
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
  std::vector<std::byte> events_;  // of this page, without its header
  std::size_t used_ = 0;           // bytes of events in events_
  std::size_t at_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint64_t lost_ = 0;
  bool is_damaged_ = false;
  Record record_;
};

}  // namespace landtrace::output::trace_dat
