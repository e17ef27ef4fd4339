#include "tracefs/events/event_inject.hpp"

#include <cstring>

#include "language/words.hpp"
#include "tracefs/trace/markers.hpp"

namespace landtrace::tracefs {

Result<std::size_t> EventInject::store(const Caller& caller, std::string_view bytes) {
  constexpr std::size_t kMaxLine = 4095;
  if (bytes.size() > kMaxLine) return fail(EINVAL, "the line is too long");
  LT_TRY(const domain::Instance* const instance, event_.instance->get());
  LT_TRY(const domain::Event* const event, event_.get());
  std::string_view line = language::until_nul(bytes);
  line = line.substr(0, line.find_last_not_of(" \t\n\v\f\r") + 1);
  LT_TRY(const Injected injected, parse_injected(*event->declaration(), line));
  LT_CHECK(record(*instance, injected, injected.tid.value_or(caller.tid), caller.who.uid));
  return bytes.size();
}

Result<void> EventInject::record(const domain::Instance& instance, const Injected& injected, std::uint32_t tid,
                                 std::uint32_t uid) {
  const ring::Segment segment{injected.payload.data(), injected.payload.size()};
  return event_.instance->context.proxy().record(instance, event_.slot, tid, uid, std::span(&segment, 1));
}

Result<void> PrintInject::record(const domain::Instance& instance, const Injected& injected, std::uint32_t tid,
                                 std::uint32_t uid) {
  std::uint64_t ip = 0;
  std::memcpy(&ip, injected.payload.data(), sizeof ip);
  const std::string_view text = language::until_nul(std::string_view(injected.payload).substr(sizeof ip));
  return record_print(event_.instance->context, instance, ip, text, tid, uid);
}

}  // namespace landtrace::tracefs
