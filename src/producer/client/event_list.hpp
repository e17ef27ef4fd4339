// All events that the program has registered, and where they go.
//
// An event changes its owner while other threads emit it, without a lock:
//
//   take_slot()                                    an emit
//     enable = &landtrace_never   nobody emits       *enable != 0?
//     word = 0                                       word          (acquire)
//     index, min_size, backend    of the new owner   index, min_size
//     word = generation (release)                    inside a section: is the event at `index`
//     enable = &plan    (release)                      still of generation `word`?
//
// What `word` is set to is no other event's, in this domain or in another one (domain::Events::first_generation_). So
// an emit that has read the word of one owner and the index of another finds that the event there is not its own; one
// that has read the new word has the rest of the new owner, too.
#pragma once

#include <landtrace/landtrace.h>

#include <pthread.h>

#include "client/process.hpp"

namespace landtrace::client {

// Whoever reads or changes the list, or registers an event, holds this.
class ListLocked {
 public:
  ListLocked();
  ~ListLocked();
  ListLocked(const ListLocked&) = delete;
  ListLocked& operator=(const ListLocked&) = delete;
};

// Around fork, so that a child does not find it locked for ever.
void lock_list_for_fork();
void unlock_list_in_parent();
void unlock_list_in_child();

// $LANDTRACE_BACKEND narrows the choice: domain, kernel or none.
bool backend_allowed(const char* name);

bool is_listed(const landtrace_event* event);
bool list_is_empty();
void add_to_list(landtrace_event& event);
// False if it is not there.
bool remove_from_list(landtrace_event& event);

// Looks for a back end: 0 with one, -ENOENT with none, another errno where one refused the event. Nobody is looked for
// again within some milliseconds: see forget_nobody().
int find_backend(landtrace_event& event);
void forget_nobody();
// find_backend() for all listed events that have none, or that the domain has forgotten. Returns how many found one.
int find_backends();

// Registers all listed events on this connection, which then holds them. Only while the process is attached to whoever
// is at its other end.
void register_all_on(int connection);
// An event that no owner has taken so far, or that this one has refused.
bool has_no_place(const landtrace_event& event);
bool all_have_places();
// The same for these alone.
void register_rest_on(int connection);
// In landtrace_event::flags: not the program's own event but one that is there already, `declaration` being
// "SYSTEM\0NAME\0".
inline constexpr std::uint16_t kHeldByName = 0x8000;
// Adds such an event, which stays as long as it is held: until landtrace_unregister(). As landtrace_register().
int hold_event(landtrace_event& event, const char* name);

// The owner is gone: nobody listens to what went there.
void silence_all();

// True when the domain has forgotten the event: the connection that held it is gone, and it had no listener; or there
// is another owner.
bool is_dropped(const landtrace_event& event);

// True when the slot has another event by now.
inline bool is_replaced(const plan::View& view, std::uint32_t index, std::uint32_t word) {
  return __atomic_load_n(&view.control->events[index].generation, __ATOMIC_RELAXED) != word;
}

}  // namespace landtrace::client
