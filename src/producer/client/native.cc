// The C API of <landtrace/landtrace.h>.
#include <landtrace/landtrace.h>

#include <tuple>

#include "client/backend_kernel.hpp"
#include "client/emission.hpp"
#include "client/helper.hpp"
#include "client/own_frames.hpp"
#include "client/owner_trace.hpp"

extern "C" const uint32_t landtrace_never = 0;

namespace landtrace::client {
namespace {

constexpr int kMaxVectors = 64;
constexpr unsigned kKnownFlags = LANDTRACE_PERSIST | LANDTRACE_MULTI_FORMAT | LANDTRACE_DESCRIBED | LANDTRACE_RETRY;

// Another time will do no good to what is invalid.
bool is_final(int result, std::uint16_t flags) { return (flags & LANDTRACE_RETRY) == 0 || result == -EINVAL; }

int add_to_locked(landtrace_event& event, const char* declaration, std::uint16_t flags) {
  add_own_frames(
      {reinterpret_cast<const void*>(&landtrace_emit_enabled), reinterpret_cast<const void*>(&landtrace_emit)});
  if (is_listed(&event)) return 0;
  event.enable = &landtrace_never;
  event.backend = LANDTRACE_NONE;
  event.declaration = declaration;
  event.flags = flags;
  const int result = find_backend(event);
  if (result != 0 && result != -ENOENT && is_final(result, flags)) return result;
  add_to_list(event);
  std::ignore = helper::start();  // without it the event is as good, but for owners to come
  return result == -ENOENT ? 0 : result;
}

int add(landtrace_event& event, const char* declaration, std::uint16_t flags) {
  int result = 0;
  bool helper_is_to_see_it = false;
  {
    const ListLocked lock;
    result = add_to_locked(event, declaration, flags);
    helper_is_to_see_it = helper::waits_for_good() && has_no_place(event) && is_listed(&event);
  }
  if (helper_is_to_see_it) helper::restart();
  return result;
}

}  // namespace

int hold_event(landtrace_event& event, const char* name) { return add(event, name, kHeldByName); }

}  // namespace landtrace::client

using namespace landtrace::client;

extern "C" int landtrace_register(struct landtrace_event* event, const char* declaration, unsigned flags) {
  if (declaration == nullptr || (flags & ~kKnownFlags) != 0) return -EINVAL;
  return add(*event, declaration, static_cast<std::uint16_t>(flags));
}

extern "C" int landtrace_unregister(struct landtrace_event* event) {
  bool was_last = false;
  {
    const ListLocked lock;
    if (!remove_from_list(*event)) return -ENOENT;
    was_last = list_is_empty();
    // Not the next owner's event that has the same number.
    const bool is_held = event->backend == LANDTRACE_DOMAIN && !is_dropped(*event);
    // Has no partner: an emit reads enable without an order (landtrace_enabled()).
    __atomic_store_n(&event->enable, &landtrace_never, __ATOMIC_RELEASE);
    if (is_held) {
      std::ignore = Process::get().ask(
          {.operation = landtrace::ipc::Operation::kReleaseNative, .a = static_cast<std::uint64_t>(event->index)});
    } else if (event->backend == LANDTRACE_KERNEL) {
      kernel::unregister_event(&event->word);
    }
    event->backend = LANDTRACE_NONE;
  }
  // The library may be unloaded with its last event.
  if (was_last) helper::stop();
  return 0;
}

extern "C" int landtrace_attach(void) {
  const ListLocked lock;
  forget_nobody();
  if (Process::is_orphaned()) Process::get().join_next_owner();
  return find_backends();
}

extern "C" int landtrace_helper(int on) {
  helper::set_wanted(on != 0);
  if (on == 0) {
    helper::stop();
    return 0;
  }
  const ListLocked lock;
  return list_is_empty() ? 0 : helper::start();
}

extern "C" void landtrace_ptracer(int on) { set_naming_wanted(on != 0); }

extern "C" int landtrace_emit_enabled(const struct landtrace_event* event, const struct iovec* vectors, int count,
                                      size_t size) {
  if (__builtin_expect(event->backend == LANDTRACE_DOMAIN, 1)) {
    return emit_to_domain(*event, vectors, static_cast<std::uint32_t>(count), size, landtrace::plan::emit_in_section);
  }
  return kernel::write_event(event->index, vectors, count);
}

extern "C" int landtrace_emit(const struct landtrace_event* event, const struct iovec* vectors, int count) {
  if (!landtrace_enabled(event)) return -EBADF;
  if (count < 0 || count > kMaxVectors) return -EINVAL;
  size_t size = 0;
  for (int i = 0; i < count; ++i) {
    if (__builtin_add_overflow(size, vectors[i].iov_len, &size)) return -EINVAL;
  }
  return landtrace_emit_enabled(event, vectors, count, size);
}
