// What descriptors of this process stand for that its domain answers for. One table, so that there is one place that
// hears what becomes of a descriptor: closed, replaced, duplicated, inherited by a child.
//
//     maps, programs, links    objects.hpp         the owner holds them for the process
//     perf buffers             perf_buffers.hpp    BPF_OUTPUT
//     perf events              perf_links.hpp      that can have a program
//
// Duplicates stand for one thing. It ends with the last of them, or behind whoever is at it then: a program that is
// being run, a timer's, a map whose pages are in use.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <map>
#include <memory>

namespace landtrace::bpf_calls {

struct Object;
struct PerfBuffer;
struct PerfEvent;
using ObjectRef = std::shared_ptr<const Object>;
using PerfBufferRef = std::shared_ptr<PerfBuffer>;
using PerfEventRef = std::shared_ptr<PerfEvent>;

// One of them; none: nothing that we know.
struct Described {
  ObjectRef object{};
  PerfBufferRef buffer{};
  PerfEventRef event{};

  [[nodiscard]] bool is_nothing() const { return object == nullptr && buffer == nullptr && event == nullptr; }
};

// Looked at before each close(), one load.
bool has_descriptors();
void describe(int fd, Described what);
Described described(int fd);
// `to` has become a duplicate of `from`, whatever that is.
void copy_descriptor(int from, int to);
// The descriptor is about to be closed, or replaced. Who puts what it was back by describe(), where that fails, need
// not let it go in between.
Described take_descriptor(int fd);
inline void forget_descriptor(int fd) { take_descriptor(fd); }
void forget_descriptors(unsigned first, unsigned last);

// Around fork(), so that no child finds the tables half changed. The child has what its parent had, but for timers and
// samples, which go on in the parent; what the owner holds, it holds for the parent.
void hold_for_fork();
void let_go_in_parent();
void be_child();

// All that this folder keeps of descriptors, and timers. Holds signals back: their handlers may close descriptors.
// Nobody asks the owner while he has it, nor lets the last reference to anything go: asking closes descriptors, too.
class Held {
 public:
  Held();
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  static std::map<int, Described>& all();

 private:
  sigset_t before_;
};

// see(descriptor, what), for each.
template <typename See>
void each_descriptor(const See& see) {
  if (!has_descriptors()) return;
  const Held held;
  for (const auto& [fd, what] : Held::all()) see(fd, what);
}

}  // namespace landtrace::bpf_calls
