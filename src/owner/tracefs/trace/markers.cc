#include "tracefs/trace/markers.hpp"

#include <algorithm>

#include "abi/entry.hpp"

namespace landtrace::tracefs {
namespace {

// In a record the text has an address before it, and a newline and a NUL after it.
constexpr std::uint64_t kTextExtra = abi::kEntryHeaderSize + sizeof(std::uint64_t) + 2;

}  // namespace

Result<domain::Instance*> Marker::writable() const {
  LT_TRY(domain::Instance* const found, instance_->get());
  if (!instance_->options()[TraceOption::kMarkers]) return fail(EINVAL, "the option markers is off");
  return found;
}

Result<void> Marker::check_tracing(const domain::Instance& instance) const {
  if (!context_.domain.instances().is_tracing(instance)) return fail(EBADF, "tracing is off");
  return {};
}

Result<void> record_print(Context& context, const domain::Instance& instance, std::uint64_t ip, std::string_view text,
                          std::uint32_t tid, std::uint32_t uid) {
  const std::string_view end = text.ends_with('\n') ? std::string_view("\0", 1) : std::string_view("\n\0", 2);
  const ring::Segment segments[] = {{&ip, sizeof ip}, {text.data(), text.size()}, {end.data(), end.size()}};
  return context.proxy().record(instance, plan::kPrintSlot, tid, uid, segments, 1);
}

Result<std::size_t> TraceMarker::store(const Caller& caller, std::string_view bytes) {
  LT_TRY(const domain::Instance* const found, writable());
  if (bytes.empty()) return 0;
  bytes = bytes.substr(0, std::min<std::uint64_t>(domain::kMaxMarker, instance().buffer.largest_event() - kTextExtra));
  LT_CHECK(check_tracing(*found));
  const std::uint64_t address = 0;  // the kernel's own, of the function that takes markers
  LT_CHECK(record_print(context(), *found, address, bytes, caller.tid, caller.who.uid));
  return bytes.size();
}

Result<std::size_t> TraceMarkerRaw::store(const Caller& caller, std::string_view bytes) {
  LT_TRY(const domain::Instance* const found, writable());
  if (bytes.size() < sizeof(std::uint32_t)) return fail(EINVAL, "the first four bytes are a number");
  if (bytes.size() > instance().buffer.largest_event() - abi::kEntryHeaderSize) {
    return fail(EINVAL, "more than a sub-buffer holds");
  }
  const ring::Segment segments[] = {{bytes.data(), bytes.size()}};
  LT_CHECK(check_tracing(*found));
  LT_CHECK(context().proxy().record(*found, plan::kRawDataSlot, caller.tid, caller.who.uid, segments));
  return bytes.size();
}

}  // namespace landtrace::tracefs
