// The events of one CPU as pages of the kernel's ring buffer (events/header_page, header_event), which is what
// trace_pipe_raw hands out. Taking a page consumes what is in it.
//
// An event that is too large for a page is left out and counted: the next page says how many are missing. Payloads of
// up to 64 KiB need a buffer_subbuf_size_kb of 128; the usual 4 KiB hold some 4,000 bytes. (The kernel drops larger
// ones.)
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
  // Fills `page` with as many events as fit. False: there is none.
  bool take(Contents& contents, Printer& printer, std::span<std::byte> page);

 private:
  std::uint32_t cpu_;
  std::size_t page_bytes_;
  output::trace_dat::PageBuilder builder_;
  Merge merge_;
  std::uint64_t missing_ = 0;  // since the last page
};

}  // namespace landtrace::buffer
