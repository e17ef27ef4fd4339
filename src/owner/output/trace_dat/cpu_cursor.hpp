// Walks the events of one CPU, page by page.
#pragma once

#include <vector>

#include "output/record.hpp"
#include "output/trace_dat/contents.hpp"

namespace landtrace::output::trace_dat {

class CpuCursor {
 public:
  // `file` must live as long.
  CpuCursor(const InputFile& file, const CpuRegion& region, std::uint32_t page_size)
      : file_(&file), region_(region), page_size_(page_size) {}

  // Moves to the next event; false at the end. After an error (EBADMSG, with the offset) there is no next
  // one.
  Result<bool> advance();

  // The event; its payload is valid until the next advance().
  [[nodiscard]] const Record& record() const { return record_; }
  // Events missed on this CPU since the one before.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  Result<bool> advance_checked();
  Result<void> load_page();
  void take_lost(std::uint64_t commit);
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
  std::uint64_t next_page_ = 0;    // offset within the region
  std::vector<std::byte> events_;  // of this page, without its header
  std::size_t used_ = 0;           // bytes of events in events_
  std::size_t at_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint64_t lost_ = 0;
  Record record_;
};

}  // namespace landtrace::output::trace_dat
