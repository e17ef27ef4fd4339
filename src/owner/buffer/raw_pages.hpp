// The events of one CPU as pages of the kernel's ring buffer (events/header_page, header_event), which is what
// trace_pipe_raw hands out. Taking a page consumes what is in it.
//
// An event that no page of this size holds is missing there and counted as such: the next page says how many. Payloads of
// up to 64 KiB need buffer_subbuf_size_kb of 128; with the usual 4 KiB, the limit is some 4,000 bytes (the kernel's own
// events are never larger than that, and it drops those of users that are).
#pragma once

#include <span>

#include "buffer/contents.hpp"
#include "buffer/printer.hpp"
#include "output/trace_dat/page_builder.hpp"

namespace landtrace::buffer {

class RawPages {
 public:
  RawPages(std::uint32_t cpu, std::size_t page_bytes);

  [[nodiscard]] std::size_t page_bytes() const { return page_bytes_; }
  // Fills `page` with what is there, as much as goes in. False: nothing is.
  bool take(Contents& contents, Printer& printer, std::span<std::byte> page);

 private:
  std::uint32_t cpu_;
  std::size_t page_bytes_;
  output::trace_dat::PageBuilder builder_;
  Merge merge_;
  std::uint64_t missing_ = 0;  // since the last page
};

}  // namespace landtrace::buffer
