#include "output/trace_dat/cpu_stream.hpp"

#include <algorithm>

namespace landtrace::output::trace_dat {
namespace {

constexpr std::uint64_t kPagesPerMove = 8;

std::uint64_t add_lost(std::uint64_t a, std::uint64_t b) { return a > kLostUnknown - b ? kLostUnknown : a + b; }

}  // namespace

Result<void> CpuStream::open(const std::string& path) {
  LT_TRY(file_, open_for_writing(path));
  return set_size(file_, 0);
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
    if (auto flushed = flush(); !flushed) return refuse(std::move(flushed).error());
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

void CpuStream::count(const Record& record) {
  if (stats_.entries++ == 0) stats_.oldest_event_ns = record.time_ns;
  stats_.now_ns = record.time_ns;
  stats_.bytes += event::kCommonHeaderSize + record.payload.size();
}

void CpuStream::lost(std::uint64_t count) {
  pending_lost_ = add_lost(pending_lost_, count);
  stats_.overrun = add_lost(stats_.overrun, count);
}

Result<void> CpuStream::flush() {
  if (page_.empty()) return {};
  LT_CHECK(write_at(file_, pages_written_ * kPageSize, page_.finish()));
  ++pages_written_;
  page_.clear();
  return {};
}

Result<void> CpuStream::move_to(const NamedFile& target, std::uint64_t offset, std::uint64_t& moved) {
  // The last page's unused end was never written, and a failed write may have left half a page.
  LT_CHECK(set_size(file_, pages_written_ * kPageSize));
  for (moved = 0; moved < pages_written_;) {
    const std::uint64_t pages = std::min(kPagesPerMove, pages_written_ - moved);
    LT_CHECK(move_bytes(file_, moved * kPageSize, target, offset + moved * kPageSize, pages * kPageSize));
    moved += pages;
  }
  if (page_.empty()) return {};
  const std::span<const std::byte> last = page_.finish();
  const std::uint64_t at = offset + moved * kPageSize;
  LT_CHECK(write_at(target, at, last));
  punch_hole(target, at + last.size(), kPageSize - last.size());
  page_.clear();
  ++moved;
  return {};
}

void CpuStream::remove_file() {
  if (is_open()) ::unlink(file_.path.c_str());
}

}  // namespace landtrace::output::trace_dat
