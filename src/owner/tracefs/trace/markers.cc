#include "tracefs/trace/markers.hpp"

#include <algorithm>

#include "abi/entry.hpp"

namespace landtrace::tracefs {
namespace {

constexpr std::uint64_t kMaxText = 4096;
// In a record the text has an address before it, and a newline and a NUL after it.
constexpr std::uint64_t kTextExtra = abi::kEntryHeaderSize + sizeof(std::uint64_t) + 2;

}  // namespace

Result<domain::Instance*> Marker::writable() const {
  LT_TRY(domain::Instance* const found, instance_->get());
  if (!instance_->options()[TraceOption::kMarkers]) return fail(EINVAL, "the option markers is off");
  return found;
}

Result<void> Marker::record(const domain::Instance& instance, std::uint32_t slot, const Caller& caller,
                            std::span<const ring::Segment> segments) {
  if (!context_.domain.instances().is_tracing(instance)) return fail(EBADF, "tracing is off");
  return context_.proxy().record(instance, slot, caller.tid, caller.who.uid, segments);
}

Result<std::size_t> TraceMarker::store(const Caller& caller, std::string_view bytes) {
  LT_TRY(const domain::Instance* const found, writable());
  if (bytes.empty()) return 0;
  bytes = bytes.substr(0, std::min(kMaxText, instance().buffer.largest_event() - kTextExtra));
  const std::uint64_t address = 0;  // the kernel's own, of the function that takes markers
  const std::string_view end = bytes.ends_with('\n') ? std::string_view("\0", 1) : std::string_view("\n\0", 2);
  const ring::Segment segments[] = {{&address, sizeof address}, {bytes.data(), bytes.size()}, {end.data(), end.size()}};
  LT_CHECK(record(*found, plan::kPrintSlot, caller, segments));
  return bytes.size();
}

Result<std::size_t> TraceMarkerRaw::store(const Caller& caller, std::string_view bytes) {
  LT_TRY(const domain::Instance* const found, writable());
  if (bytes.size() < sizeof(std::uint32_t)) return fail(EINVAL, "the first four bytes are a number");
  if (bytes.size() > instance().buffer.largest_event() - abi::kEntryHeaderSize) {
    return fail(EINVAL, "more than a sub-buffer holds");
  }
  const ring::Segment segments[] = {{bytes.data(), bytes.size()}};
  LT_CHECK(record(*found, plan::kRawDataSlot, caller, segments));
  return bytes.size();
}

}  // namespace landtrace::tracefs
