#include "tracefs/events/event_inject.hpp"

#include "language/words.hpp"
#include "tracefs/events/injected.hpp"

namespace landtrace::tracefs {

Result<std::size_t> EventInject::store(const Caller& caller, std::string_view bytes) {
  constexpr std::size_t kMaxLine = 4095;
  if (bytes.size() > kMaxLine) return fail(EINVAL, "the line is too long");
  LT_TRY(const domain::Instance* const instance, event_.instance->get());
  LT_TRY(const domain::Event* const event, event_.get());
  std::string_view line = language::until_nul(bytes);
  line = line.substr(0, line.find_last_not_of(" \t\n\v\f\r") + 1);
  LT_TRY(const Injected injected, parse_injected(event->declaration, line));
  const ring::Segment segment{injected.payload.data(), injected.payload.size()};
  LT_CHECK(event_.instance->context.proxy().record(*instance, event->slot, injected.tid.value_or(caller.tid),
                                                   caller.who.uid, std::span(&segment, 1)));
  return bytes.size();
}

}  // namespace landtrace::tracefs
