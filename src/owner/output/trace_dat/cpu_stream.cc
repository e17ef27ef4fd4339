#include "output/trace_dat/cpu_stream.hpp"

#include <sys/stat.h>

#include <cstring>

namespace landtrace::output::trace_dat {
namespace {

std::uint64_t add_lost(std::uint64_t a, std::uint64_t b) { return a > kLostUnknown - b ? kLostUnknown : a + b; }

// Pages that are moved are there twice for a while where the disk has room: to give back the blocks of each by itself
// takes longer than to copy it.
constexpr std::uint64_t kPagesTwice = 512;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

std::uint64_t pages_in_stream(std::uint64_t size) {
  return size <= kStreamStart ? 0 : (size - kStreamStart + kPageSize - 1) / kPageSize;
}

Result<void> CpuStream::open(const std::string& path) {
  LT_TRY(file_, open_anew(path));
  return {};
}

Result<void> CpuStream::open_left(NamedFile file, std::optional<std::uint64_t> pages) {
  file_ = std::move(file);
  struct stat status {};
  if (::fstat(file_.fd.get(), &status) != 0) return fail_errno("stat " + file_.path);
  pages_written_ = pages.value_or(pages_in_stream(static_cast<std::uint64_t>(status.st_size)));
  // Killed after the first events of a page had been written, before its header.
  if (!pages && pages_written_ > 0 && is_unpublished(pages_written_ - 1)) --pages_written_;
  LT_CHECK(read_at(file_, kCountersAt, std::as_writable_bytes(std::span(&written_, 1))));
  stats_.overrun = written_.overrun;
  stats_.dropped = written_.dropped;
  return complete_last_page();
}

bool CpuStream::is_unpublished(std::uint64_t page) const {
  const auto header = read_header(page);
  return header && header->time_ns == 0 && header->commit == 0;
}

Result<CpuStream::Header> CpuStream::read_header(std::uint64_t page) const {
  Header header{};
  LT_CHECK(read_at(file_, page_at(page), std::as_writable_bytes(std::span(&header, 1))));
  return header;
}

Result<void> CpuStream::complete_last_page() {
  if (pages_written_ == 0 || written_.page != pages_written_ - 1) return {};
  const std::uint64_t start = page_at(pages_written_ - 1);
  LT_TRY(Header header, read_header(pages_written_ - 1));
  const bool has_count = (header.commit & kMissedStored) != 0 || (header.commit & kMissedEvents) == 0;
  const std::uint64_t used = header.commit & kCommitMask;
  if (has_count || written_.page_lost == kLostUnknown || used > kPageSize - kPageHeader - sizeof written_.page_lost) {
    return {};
  }
  LT_CHECK(write_at(file_, start + kPageHeader + used, bytes_of(written_.page_lost)));
  header.commit |= kMissedStored;
  return write_at(file_, start, bytes_of(header));
}

Result<void> CpuStream::append(const Record& record) {
  if (failure_ != 0) return refuse(Error(failure_));
  // A page that is not empty cannot take the number of missed events any more.
  if (pending_lost_ > 0 || !page_.append(record)) LT_CHECK(append_to_new_page(record));
  count(record);
  return {};
}

Result<void> CpuStream::append_to_new_page(const Record& record) {
  if (!page_.empty()) {
    if (auto written = write_full_page(); !written) return refuse(std::move(written).error());
  }
  page_.set_lost(std::exchange(pending_lost_, 0));
  page_.append(record);
  return {};
}

Result<void> CpuStream::refuse(Error error) {
  failure_ = error.code;
  ++stats_.dropped;
  return tl::unexpected<Error>(std::move(error));
}

void CpuStream::set_left_stats(const CpuStats& stats) {
  const CpuStats counted{.entries = written_.entries, .waiting = written_.waiting};
  stats_ = stats;
  stats_.overrun = add_lost(stats.overrun, counted.never_came(stats.entries));
}

void CpuStream::lost(std::uint64_t count) {
  pending_lost_ = add_lost(pending_lost_, count);
  stats_.overrun = add_lost(stats_.overrun, count);
  outstanding_.missing -= std::min(outstanding_.missing, count);
}

Result<void> CpuStream::set_outstanding(Outstanding events) {
  outstanding_ = events;
  if (!is_open() || failure_ != 0) return {};
  auto written = write_counters();
  if (!written) failure_ = written.error().code;
  return written;
}

// The counters come first: after a kill between them and the page, the events missed before the page are told at the
// end.
Result<void> CpuStream::publish() {
  if (!is_open() || failure_ != 0) return {};
  const auto published = [&]() -> Result<void> {
    LT_CHECK(write_counters());
    if (page_.used() == published_) return {};
    LT_CHECK(write_at(file_, page_at(pages_written_) + kPageHeader + published_, page_.events(published_)));
    LT_CHECK(write_at(file_, page_at(pages_written_), page_.header_so_far()));
    published_ = page_.used();
    return {};
  }();
  if (!published) failure_ = published.error().code;
  return published;
}

Result<void> CpuStream::write_counters() {
  const StreamCounters counters{stats_.entries, stats_.bytes,           add_lost(stats_.overrun, outstanding_.missing),
                                stats_.dropped, stats_.oldest_event_ns, stats_.now_ns,
                                pages_written_, page_.lost(),           outstanding_.waiting};
  if (std::memcmp(&counters, &written_, sizeof counters) == 0) return {};
  LT_CHECK(write_at(file_, kCountersAt, bytes_of(counters)));
  written_ = counters;
  return {};
}

Result<void> CpuStream::write_full_page() {
  LT_CHECK(write_counters());
  const std::span<const std::byte> page = page_.finish();
  const std::size_t from = kPageHeader + published_;
  LT_CHECK(write_at(file_, page_at(pages_written_) + from, page.subspan(from)));
  LT_CHECK(write_at(file_, page_at(pages_written_), page.first(kPageHeader)));
  ++pages_written_;
  published_ = 0;
  page_.clear();
  return {};
}

Result<void> CpuStream::move_to(const NamedFile& target, std::uint64_t offset) {
  // The last page's unused end was never written, and a failed write may have left half a page.
  LT_CHECK(set_size(file_, page_at(pages_written_ + (published_ > 0 ? 1 : 0))));
  std::uint64_t there_twice = 0;  // pages before the next one
  const auto give_back = [&](std::uint64_t next) {
    punch_hole(file_, page_at(next - there_twice), there_twice * kPageSize);
    there_twice = 0;
  };
  for (std::uint64_t page = 0; page < pages_written_; ++page) {
    // Of an earlier try, perhaps another process's: it is in the target.
    if (is_unpublished(page)) {
      give_back(page);
      continue;
    }
    const auto copy = [&] { return copy_bytes(file_, page_at(page), target, offset + page * kPageSize, kPageSize); };
    auto copied = copy();
    if (!copied && (copied.error().code == ENOSPC || copied.error().code == EDQUOT) && there_twice > 0) {
      give_back(page);
      copied = copy();
    }
    LT_CHECK(copied);
    if (++there_twice == kPagesTwice) give_back(page + 1);
  }
  give_back(pages_written_);
  if (page_.empty()) return {};
  const std::span<const std::byte> last = page_.finish();
  const std::uint64_t at = offset + pages_written_ * kPageSize;
  LT_CHECK(write_at(target, at, last));
  punch_hole(target, at + last.size(), kPageSize - last.size());
  if (published_ > 0) punch_hole(file_, page_at(pages_written_), kPageSize);
  return {};
}

// The blocks are there before anything is changed, so that a full disk leaves the stream as it was.
Result<NamedFile> CpuStream::become_file(const Beginning& beginning) {
  LT_CHECK(reserve(file_, 0, beginning.bytes.size()));
  if (!page_.empty()) LT_CHECK(write_full_page());
  LT_CHECK(set_size(file_, page_at(pages_written_)));
  LT_CHECK(write_at(file_, beginning.first, beginning.bytes.subspan(beginning.first)));
  LT_CHECK(write_at(file_, 0, beginning.bytes.first(beginning.first)));
  return std::move(file_);
}

void CpuStream::remove_file() {
  // When the recording is finished the next one may have begun.
  if (is_open() && is_at(file_.fd.get(), file_.path)) ::unlink(file_.path.c_str());
}

}  // namespace landtrace::output::trace_dat
