// The events of one CPU while they are recorded: the page that is being filled, and a file with it and all pages
// before it.
//
// The file, at every moment, whenever its writer is killed:
//
//              0  nothing, a hole          room for what a finished file has before its events: see become_file()
//   kCountersAt   StreamCounters           what a reader needs beside the pages, written in one piece
//   kStreamStart  page 0 | page 1 | ...    each kPageSize long; of the last one as much as was published
//
// The events of a page are written before its header, which says how many bytes of them there are: a reader never sees
// half an event. A page that nobody published anything of reads as zeros.
#pragma once

#include <optional>

#include "output/cpu_stats.hpp"
#include "output/trace_dat/file_ops.hpp"
#include "output/trace_dat/page_builder.hpp"

namespace landtrace::output::trace_dat {

// Pages stand at multiples of their size in a finished file.
inline constexpr std::uint64_t kStreamStart = 8 * kPageSize;
inline constexpr std::uint64_t kCountersAt = kStreamStart - 4096;

struct StreamCounters {
  std::uint64_t entries;
  std::uint64_t bytes;
  std::uint64_t overrun;
  std::uint64_t dropped;
  std::uint64_t oldest_event_ns;
  std::uint64_t now_ns;
  // The events missed before the page that is being filled: its own header has no room for their number yet.
  std::uint64_t page;
  std::uint64_t page_lost;
  // Events that were about to be appended: of a writer that was killed, what was to come and never did.
  std::uint64_t waiting;
};
static_assert(sizeof(StreamCounters) == 72);

class CpuStream {
 public:
  // Creates the file, or empties the one that is there.
  Result<void> open(const std::string& path);
  // The file of a writer that was killed. Its last page is completed: what it lacks, the counters have. `pages`: how
  // many there are, where some may have been moved already.
  Result<void> open_left(NamedFile file, std::optional<std::uint64_t> pages);
  [[nodiscard]] bool is_open() const { return static_cast<bool>(file_.fd); }

  // Appends a record whose payload is at most kMaxPayload. After a first failed write nothing more is accepted: the
  // error then holds only the code, and the record is counted in stats().dropped.
  Result<void> append(const Record& record);
  // The same for nearly every record. False: append() has to do it.
  bool append_at_once(const Record& record) {
    if (failure_ != 0 || pending_lost_ > 0 || !page_.append_short(record)) return false;
    count(record);
    return true;
  }
  // Counts a record that there is no file for.
  Result<void> refuse(Error error);

  // Events missed before the next record, which starts a new page.
  void lost(std::uint64_t count);
  // Events of which lost() will tell, and those that append() will bring: until then the counters alone tell, from this
  // call on. An error is as one of append().
  Result<void> set_outstanding(Outstanding events);
  [[nodiscard]] bool has_missed() const { return outstanding_.missing > 0 || stats_.overrun > 0; }

  // Brings what was appended, and the counters, into the file. An error is as one of append().
  Result<void> publish();

  // Whole pages, the one that is being filled included.
  [[nodiscard]] std::uint64_t pages() const { return pages_written_ + (page_.empty() ? 0 : 1); }
  [[nodiscard]] std::uint64_t bytes() const { return stats_.bytes; }
  // What this stream knows itself: records kept, lost and dropped.
  [[nodiscard]] const CpuStats& stats() const { return stats_; }
  // After open_left(): what there is. What there should be, and is not, is lost.
  void set_left_stats(const CpuStats& stats);

  // Moves all pages to `target` at `offset`, which is a multiple of the page size. At most one page is on disk twice.
  // After an error, or a kill, what has arrived is in the target and the rest in the stream's file, and it may be
  // called again.
  Result<void> move_to(const NamedFile& target, std::uint64_t offset);

  // What stands before the events of a finished file, and the first bytes of that, without which it is none.
  struct Beginning {
    std::span<const std::byte> bytes;
    std::size_t first;
  };
  // Makes a trace file of the stream's own, whose pages stay where they are: its room gets this beginning, of at most
  // kCountersAt bytes. Before an error, or a kill, it is a stream as before; afterwards the file belongs to the
  // caller, and this is as one that was never opened but for its stats.
  Result<NamedFile> become_file(const Beginning& beginning);

  void remove_file();
  [[nodiscard]] const std::string& path() const { return file_.path; }

 private:
  struct Header {
    std::uint64_t time_ns;
    std::uint64_t commit;
  };
  static_assert(sizeof(Header) == kPageHeader);
  static std::uint64_t page_at(std::uint64_t page) { return kStreamStart + page * kPageSize; }
  [[nodiscard]] Result<Header> read_header(std::uint64_t page) const;
  [[nodiscard]] bool is_unpublished(std::uint64_t page) const;
  Result<void> append_to_new_page(const Record& record);
  Result<void> write_full_page();
  Result<void> write_counters();
  Result<void> complete_last_page();
  void count(const Record& record) {
    if (stats_.entries++ == 0) stats_.oldest_event_ns = record.time_ns;
    stats_.now_ns = record.time_ns;
    stats_.bytes += abi::kEntryHeaderSize + record.payload.size();
    if (outstanding_.waiting > 0) --outstanding_.waiting;
  }

  NamedFile file_;
  PageBuilder page_;
  std::uint64_t pages_written_ = 0;
  std::size_t published_ = 0;  // bytes of the page's events that are in the file
  std::uint64_t pending_lost_ = 0;
  Outstanding outstanding_;
  int failure_ = 0;  // errno of the first failed write
  CpuStats stats_;
  StreamCounters written_{};  // the counters as the file has them
};

// Of a stream's file of this size, the last one begun included.
std::uint64_t pages_in_stream(std::uint64_t size);

}  // namespace landtrace::output::trace_dat
