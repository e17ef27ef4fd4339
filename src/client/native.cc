// The C API of <landtrace/landtrace.h>.
#include <landtrace/landtrace.h>

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <tuple>

#include "client/backend_kernel.hpp"
#include "client/process.hpp"

extern "C" const uint32_t landtrace_never = 0;

namespace landtrace::client {
namespace {

constexpr int kMaxVectors = 64;
constexpr unsigned kKnownFlags = LANDTRACE_PERSIST | LANDTRACE_MULTI_FORMAT;

// All registered events; those that found nobody are tried again by landtrace_attach().
pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
landtrace_event* list_head = nullptr;

class ListLocked {
 public:
  ListLocked() { pthread_mutex_lock(&list_lock); }
  ~ListLocked() { pthread_mutex_unlock(&list_lock); }
  ListLocked(const ListLocked&) = delete;
  ListLocked& operator=(const ListLocked&) = delete;
};

// $LANDTRACE_BACKEND narrows the choice: domain, kernel or none.
bool backend_allowed(const char* name) {
  const char* const wanted = ::secure_getenv("LANDTRACE_BACKEND");
  return wanted == nullptr || wanted[0] == '\0' || std::strcmp(wanted, name) == 0;
}

int register_in_domain(landtrace_event& event) {
  Process& process = Process::get();
  if (!process.attach()) return -ENOENT;
  auto answer = process.ask({.operation = ipc::Operation::kRegisterNative, .d = event.flags}, event.declaration);
  if (!answer) return ipc::nobody_answers(answer.error().code) ? -ENOENT : -answer.error().code;
  const std::uint64_t slot = answer->reply.a;
  if (slot >= plan::kMaxEvents) return -EPROTO;
  const plan::EventSlot& shared = process.view().control->events[slot];
  event.index = static_cast<std::int32_t>(slot);
  event.min_size = shared.min_size;
  event.word = shared.generation;
  event.backend = LANDTRACE_DOMAIN;
  __atomic_store_n(&event.enable, &shared.plan, __ATOMIC_RELEASE);
  return 0;
}

// True when the slot has another event by now.
inline bool is_replaced(const landtrace_event& event) {
  const plan::EventSlot& slot = Process::view().control->events[event.index];
  return __atomic_load_n(&slot.generation, __ATOMIC_RELAXED) != event.word;
}

// True when the domain has forgotten the event: the connection that held it is gone, and it had no listener.
bool is_dropped(const landtrace_event& event) {
  if (event.backend != LANDTRACE_DOMAIN) return false;
  const plan::EventSlot& slot = Process::view().control->events[event.index];
  return is_replaced(event) || __atomic_load_n(&slot.registered, __ATOMIC_RELAXED) == 0;
}

int register_in_kernel(landtrace_event& event) {
  event.word = 0;
  const auto index = kernel::register_event(event.declaration, event.flags, &event.word);
  if (!index) return -index.error().code;
  event.index = *index;
  event.backend = LANDTRACE_KERNEL;
  __atomic_store_n(&event.enable, &event.word, __ATOMIC_RELEASE);
  return 0;
}

// A program with a thousand events, and nobody to send them to, looks for somebody once, not a thousand times.
constexpr std::uint64_t kLookAgain_ns = 10'000'000;
std::uint64_t nobody_at_ns = 0;

// 0 with a back end, -ENOENT with none, another errno where one refused the event.
int find_backend(landtrace_event& event) {
  const std::uint64_t now = arch::monotonic_ns();
  if (nobody_at_ns != 0 && now - nobody_at_ns < kLookAgain_ns) return -ENOENT;
  int result = -ENOENT;
  if (backend_allowed("domain")) result = register_in_domain(event);
  if (result == -ENOENT && backend_allowed("kernel")) result = register_in_kernel(event);
  nobody_at_ns = result == -ENOENT ? now : 0;
  return result;
}

bool is_listed(const landtrace_event* event) {
  for (const landtrace_event* at = list_head; at != nullptr; at = at->next) {
    if (at == event) return true;
  }
  return false;
}

static_assert(sizeof(iovec) == sizeof(ring::Segment) && offsetof(iovec, iov_base) == offsetof(ring::Segment, data) &&
              offsetof(iovec, iov_len) == offsetof(ring::Segment, size));

inline int emit_to_domain(const landtrace_event& event, const iovec* vectors, std::uint32_t count, std::size_t size) {
  if (size < event.min_size) return -EINVAL;
  if (size > ring::kMaxPayload) return -E2BIG;
  const Place* const place = Process::place();
  if (__builtin_expect(place == nullptr, 0)) return -EAGAIN;
  // Inside the section, so that a slot that is this event's stays so until the record is written.
  const plan::Section section(*place->thread.slot);
  if (__builtin_expect(is_replaced(event), 0)) return -EBADF;
  const bool heard =
      plan::emit_in_section(place->view, place->thread, static_cast<std::uint32_t>(event.index),
                            reinterpret_cast<const ring::Segment*>(vectors), count, static_cast<std::uint32_t>(size));
  return heard ? 0 : -EBADF;
}

}  // namespace
}  // namespace landtrace::client

using namespace landtrace::client;

extern "C" int landtrace_register(struct landtrace_event* event, const char* declaration, unsigned flags) {
  if (declaration == nullptr || (flags & ~kKnownFlags) != 0) return -EINVAL;
  const ListLocked lock;
  if (is_listed(event)) return 0;
  event->enable = &landtrace_never;
  event->backend = LANDTRACE_NONE;
  event->declaration = declaration;
  event->flags = static_cast<std::uint16_t>(flags);
  const int result = find_backend(*event);
  if (result != 0 && result != -ENOENT) return result;
  event->next = list_head;
  list_head = event;
  return 0;
}

extern "C" int landtrace_unregister(struct landtrace_event* event) {
  const ListLocked lock;
  landtrace_event** at = &list_head;
  while (*at != nullptr && *at != event) at = &(*at)->next;
  if (*at == nullptr) return -ENOENT;
  *at = event->next;
  __atomic_store_n(&event->enable, &landtrace_never, __ATOMIC_RELEASE);
  if (event->backend == LANDTRACE_DOMAIN) {
    std::ignore = Process::get().ask(
        {.operation = landtrace::ipc::Operation::kReleaseNative, .a = static_cast<std::uint64_t>(event->index)});
  } else if (event->backend == LANDTRACE_KERNEL) {
    kernel::unregister_event(&event->word);
  }
  event->backend = LANDTRACE_NONE;
  return 0;
}

extern "C" int landtrace_attach(void) {
  const ListLocked lock;
  int found = 0;
  nobody_at_ns = 0;
  for (landtrace_event* event = list_head; event != nullptr; event = event->next) {
    if ((event->backend == LANDTRACE_NONE || is_dropped(*event)) && find_backend(*event) == 0) ++found;
  }
  return found;
}

extern "C" int landtrace_emit_enabled(const struct landtrace_event* event, const struct iovec* vectors, int count,
                                      size_t size) {
  if (__builtin_expect(event->backend == LANDTRACE_DOMAIN, 1)) {
    return emit_to_domain(*event, vectors, static_cast<std::uint32_t>(count), size);
  }
  return kernel::write_event(event->index, vectors, count);
}

extern "C" int landtrace_emit(const struct landtrace_event* event, const struct iovec* vectors, int count) {
  if (!landtrace_enabled(event)) return -EBADF;
  if (count < 0 || count > kMaxVectors) return -EINVAL;
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += vectors[i].iov_len;
  return landtrace_emit_enabled(event, vectors, count, size);
}
