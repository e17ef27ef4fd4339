#include "client/event_list.hpp"

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "client/backend_kernel.hpp"

namespace landtrace::client {
namespace {

pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
// Forks of this thread that have the list: in a handler it may fork once more. A thread's own, as the handlers of two
// threads that fork at once run beside each other.
constinit thread_local unsigned forks_with_list __attribute__((tls_model("initial-exec"))) = 0;
landtrace_event* list_head = nullptr;

// A program with a thousand events, and nobody to send them to, looks for somebody once, not a thousand times.
constexpr std::uint64_t kLookAgain_ns = 10'000'000;
std::uint64_t nobody_at_ns = 0;

constexpr unsigned kOwners = LANDTRACE_PERSIST | LANDTRACE_MULTI_FORMAT;

struct Registration {
  ipc::Request request;
  std::string_view text;
};
Registration registration_of(const landtrace_event& event) {
  if ((event.flags & kHeldByName) == 0) {
    return {{.operation = ipc::Operation::kRegisterNative, .d = event.flags & kOwners}, event.declaration};
  }
  const std::size_t system = std::strlen(event.declaration) + 1;
  return {{.operation = ipc::Operation::kHoldEvent},
          {event.declaration, system + std::strlen(event.declaration + system) + 1}};
}

int take_slot(landtrace_event& event, std::uint64_t slot) {
  if (slot >= plan::kMaxEvents) return -EPROTO;
  const plan::EventSlot& shared = Process::view().control->events[slot];
  // In the order of event_list.hpp, and seen in it: pairs with the acquire load of `word` in emit_to_domain(),
  // emission.hpp.
  __atomic_store_n(&event.enable, &landtrace_never, __ATOMIC_RELEASE);
  __atomic_store_n(&event.word, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&event.index, static_cast<std::int32_t>(slot), __ATOMIC_RELEASE);
  __atomic_store_n(&event.min_size, shared.min_size, __ATOMIC_RELEASE);
  __atomic_store_n(&event.backend, std::uint16_t{LANDTRACE_DOMAIN}, __ATOMIC_RELEASE);
  __atomic_store_n(&event.word, shared.generation, __ATOMIC_RELEASE);
  __atomic_store_n(&event.enable, &shared.plan, __ATOMIC_RELEASE);
  return 0;
}

// Says what stands behind the declaration. Where the owner does not take it (an older one does not know of it) structs
// are bytes.
template <typename Ask>
void describe_structs(const landtrace_event& event, std::uint64_t slot, const Ask& ask) {
  if ((event.flags & kHeldByName) != 0 || (event.flags & LANDTRACE_DESCRIBED) == 0) return;
  const ipc::Request request{.operation = ipc::Operation::kDescribeStructs, .a = slot};
  std::ignore = ask(request, event.declaration + std::strlen(event.declaration) + 1);
}

int register_in_domain(landtrace_event& event) {
  Process& process = Process::get();
  if (!process.attach()) return -ENOENT;
  const Registration registration = registration_of(event);
  auto answer = process.ask(registration.request, registration.text);
  if (!answer) return ipc::nobody_answers(answer.error().code) ? -ENOENT : -answer.error().code;
  describe_structs(event, answer->reply.a,
                   [&](const ipc::Request& request, std::string_view text) { return process.ask(request, text); });
  return take_slot(event, answer->reply.a);
}

int register_in_kernel(landtrace_event& event) {
  if ((event.flags & kHeldByName) != 0) return -ENOENT;
  event.word = 0;
  const auto index = kernel::register_event(event.declaration, event.flags & kOwners, &event.word);
  if (!index) return -index.error().code;
  event.index = *index;
  event.backend = LANDTRACE_KERNEL;
  // index and backend, then enable. Has no partner: an emit reads enable without an order (landtrace_enabled()).
  __atomic_store_n(&event.enable, &event.word, __ATOMIC_RELEASE);
  return 0;
}

// False where nobody answers.
bool register_on(int connection, landtrace_event& event) {
  const Registration registration = registration_of(event);
  const auto answer = ipc::ask(connection, registration.request, registration.text);
  if (!answer) return !ipc::nobody_answers(answer.error().code);
  describe_structs(event, answer->reply.a, [&](const ipc::Request& request, std::string_view text) {
    return ipc::ask(connection, request, text);
  });
  take_slot(event, answer->reply.a);
  return true;
}

}  // namespace

ListLocked::ListLocked() { pthread_mutex_lock(&list_lock); }
ListLocked::~ListLocked() { pthread_mutex_unlock(&list_lock); }

// Not for ever: a signal handler that forks may have interrupted the thread that has the lock. The list is whole at any
// moment.
void lock_list_for_fork() {
  timespec until;
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  if (forks_with_list > 0 || pthread_mutex_timedlock(&list_lock, &until) == 0) ++forks_with_list;
}
void unlock_list_in_parent() {
  if (forks_with_list > 0 && --forks_with_list == 0) pthread_mutex_unlock(&list_lock);
}
void unlock_list_in_child() {
  forks_with_list = 0;
  pthread_mutex_init(&list_lock, nullptr);
}

bool backend_allowed(const char* name) {
  const char* const wanted = ::secure_getenv("LANDTRACE_BACKEND");
  return wanted == nullptr || wanted[0] == '\0' || std::strcmp(wanted, name) == 0;
}

bool is_listed(const landtrace_event* event) {
  for (const landtrace_event* at = list_head; at != nullptr; at = at->next) {
    if (at == event) return true;
  }
  return false;
}

bool list_is_empty() { return list_head == nullptr; }

void add_to_list(landtrace_event& event) {
  event.next = list_head;
  list_head = &event;
}

bool remove_from_list(landtrace_event& event) {
  landtrace_event** at = &list_head;
  while (*at != nullptr && *at != &event) at = &(*at)->next;
  if (*at == nullptr) return false;
  *at = event.next;
  return true;
}

void forget_nobody() { nobody_at_ns = 0; }

int find_backend(landtrace_event& event) {
  const std::uint64_t now = arch::tick_ns();
  if (nobody_at_ns != 0 && now - nobody_at_ns < kLookAgain_ns) return -ENOENT;
  int result = -ENOENT;
  if (backend_allowed("domain")) result = register_in_domain(event);
  if (result == -ENOENT && backend_allowed("kernel")) result = register_in_kernel(event);
  nobody_at_ns = result == -ENOENT ? now : 0;
  return result;
}

int find_backends() {
  int found = 0;
  for (landtrace_event* event = list_head; event != nullptr; event = event->next) {
    if ((event->backend == LANDTRACE_NONE || is_dropped(*event)) && find_backend(*event) == 0) ++found;
  }
  return found;
}

bool is_dropped(const landtrace_event& event) {
  if (event.backend != LANDTRACE_DOMAIN) return false;
  const plan::View& view = Process::view();
  const auto index = static_cast<std::uint32_t>(event.index);
  return Process::is_orphaned() || is_replaced(view, index, event.word) || event.enable == &landtrace_never ||
         __atomic_load_n(&view.control->events[index].registered, __ATOMIC_RELAXED) == 0;
}

void register_all_on(int connection) {
  for (landtrace_event* event = list_head; event != nullptr; event = event->next) {
    if (event->backend != LANDTRACE_KERNEL && !register_on(connection, *event)) return;
  }
}

bool has_no_place(const landtrace_event& event) {
  return event.backend != LANDTRACE_KERNEL && event.enable == &landtrace_never;
}

bool all_have_places() {
  const landtrace_event* event = list_head;
  while (event != nullptr && !has_no_place(*event)) event = event->next;
  return event == nullptr;
}

void register_rest_on(int connection) {
  for (landtrace_event* event = list_head; event != nullptr; event = event->next) {
    if (has_no_place(*event) && !register_on(connection, *event)) return;
  }
}

void silence_all() {
  for (landtrace_event* event = list_head; event != nullptr; event = event->next) {
    // Has no partner: see register_in_kernel().
    if (event->backend == LANDTRACE_DOMAIN) __atomic_store_n(&event->enable, &landtrace_never, __ATOMIC_RELEASE);
  }
}

}  // namespace landtrace::client
