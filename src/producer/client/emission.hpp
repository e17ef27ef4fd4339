// An event of the program goes to its domain.
#pragma once

#include <landtrace/landtrace.h>

#include "client/event_list.hpp"

namespace landtrace::client {

static_assert(sizeof(iovec) == sizeof(ring::Segment) && offsetof(iovec, iov_base) == offsetof(ring::Segment, data) &&
              offsetof(iovec, iov_len) == offsetof(ring::Segment, size));

// `emit` runs inside a Section, with what plan::emit_in_section() takes. 0 or a negative errno. Async-signal-safe.
template <typename Emit>
inline int emit_to_domain(const landtrace_event& event, const iovec* vectors, std::uint32_t count, std::size_t size,
                          const Emit& emit) {
  // Before the rest: pairs with the release stores in take_slot(), event_list.cc.
  const std::uint32_t word = __atomic_load_n(&event.word, __ATOMIC_ACQUIRE);
  const auto index = static_cast<std::uint32_t>(__atomic_load_n(&event.index, __ATOMIC_RELAXED));
  if (size < __atomic_load_n(&event.min_size, __ATOMIC_RELAXED)) return -EINVAL;
  if (size > ring::kMaxPayload) return -E2BIG;
  const Place* const place = Process::place();
  if (__builtin_expect(place == nullptr, 0)) return -EAGAIN;
  // Inside the section, so that a slot that is this event's stays so until the record is written.
  const plan::Section section(*place->thread.slot);
  if (__builtin_expect(is_replaced(place->view, index, word), 0)) return -EBADF;
  const bool heard = emit(place->view, place->thread, index, reinterpret_cast<const ring::Segment*>(vectors), count,
                          static_cast<std::uint32_t>(size));
  return heard ? 0 : -EBADF;
}

}  // namespace landtrace::client
