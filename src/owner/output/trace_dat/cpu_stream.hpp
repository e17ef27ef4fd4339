// The events of one CPU while they are recorded: the page in memory, and the full ones in a temporary file.
#pragma once

#include "output/cpu_stats.hpp"
#include "output/trace_dat/file_ops.hpp"
#include "output/trace_dat/page_builder.hpp"

namespace landtrace::output::trace_dat {

class CpuStream {
 public:
  // Creates the temporary file, or empties the one that a killed writer left.
  Result<void> open(const std::string& path);
  [[nodiscard]] bool is_open() const { return static_cast<bool>(file_.fd); }

  // Appends a record whose payload is at most kMaxPayload. After a first failed write of a page nothing more
  // is accepted: the error then holds only the code, and the record is counted in stats().dropped.
  Result<void> append(const Record& record);

  // Events missed before the next record, which starts a new page.
  void lost(std::uint64_t count);

  // Whole pages, the one in memory included.
  [[nodiscard]] std::uint64_t pages() const { return pages_written_ + (page_.empty() ? 0 : 1); }
  [[nodiscard]] std::uint64_t bytes() const { return stats_.bytes; }
  // What this stream knows itself: records kept, lost and dropped.
  [[nodiscard]] const CpuStats& stats() const { return stats_; }

  // Moves all pages to `target` at `offset`, which is a multiple of the page size, and counts those that
  // have arrived in `moved`; the rest stay in the temporary file. At most 1 MiB is on disk twice.
  Result<void> move_to(const NamedFile& target, std::uint64_t offset, std::uint64_t& moved);

  // Writes the page in memory to the temporary file.
  Result<void> flush();
  void remove_file();
  [[nodiscard]] const std::string& path() const { return file_.path; }

 private:
  Result<void> append_to_new_page(const Record& record);
  Result<void> refuse(Error error);
  void count(const Record& record);

  NamedFile file_;
  PageBuilder page_;
  std::uint64_t pages_written_ = 0;
  std::uint64_t pending_lost_ = 0;
  int failure_ = 0;  // errno of the first failed write
  CpuStats stats_;
};

}  // namespace landtrace::output::trace_dat
