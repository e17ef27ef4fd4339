// The control plane of a domain: what the kernel's tracing subsystem is to a machine. One thread at a time: who calls it
// holds it by enter(), but for the thread that serves it, which holds it whenever it does anything.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <mutex>

#include "arch/clock_line.hpp"
#include "domain/attention.hpp"
#include "domain/cells.hpp"
#include "domain/control_memory.hpp"
#include "domain/enable_words.hpp"
#include "domain/events.hpp"
#include "domain/files.hpp"
#include "domain/grace.hpp"
#include "domain/instances.hpp"
#include "domain/status_pages.hpp"
#include "domain/users.hpp"
#include "programs/program_functions.hpp"
#include "programs/thread_events.hpp"

namespace landtrace::domain {

// buffer_size_kb of a fresh kernel.
inline constexpr std::uint64_t kDefaultRingBytes = 1408u << 10;

class Domain {
 public:
  struct Options {
    std::uint64_t ring_bytes = kDefaultRingBytes;  // of each ring of the top instance
    arch::RawClock raw_clock = arch::best_raw_clock();
    std::uint32_t owner_uid = ::geteuid();
    abi::Version abi = abi::Version::k6_12;
  };
  static Result<std::unique_ptr<Domain>> create(const Options& options);

  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  // The domain to oneself, from any thread; a thread may nest it. Work that is left for maintain() when it ends is
  // announced to who serves the domain.
  class Access {
   public:
    explicit Access(Domain& domain) : domain_(domain), lock_(domain.mutex_) {}
    ~Access() {
      if (domain_.wake_ && domain_.grace_.is_waiting()) domain_.wake_();
    }
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    Domain& domain_;
    std::lock_guard<std::recursive_mutex> lock_;
  };
  [[nodiscard]] Access enter() { return Access(*this); }
  [[nodiscard]] std::recursive_mutex& mutex() { return mutex_; }
  // Any thread may call `wake`.
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  // A guest is a user who neither runs the domain nor is root. What guests may have is limited, so that none of them
  // uses the domain up; and nothing of theirs outlives them (the kernel wants CAP_PERFMON for kPersist).
  static constexpr std::uint32_t kGuestEvents = 4096;
  static constexpr std::uint32_t kGuestFiles = 4096;
  [[nodiscard]] bool is_guest(std::uint32_t uid) const { return uid != 0 && uid != owner_uid_; }

  // -- what unmodified programs ask for -------------------------------------------------------------------------
  struct RegisterRequest {
    std::string_view text;
    std::uint16_t flags;
    EnableBit bit;
    std::uint8_t size;
    int text_error = 0;       // errno: `text` could not be read from the program
    std::uint64_t claim = 0;  // see ipc::Claim
  };
  // DIAG_IOCSREG, in the kernel's order of checks. Returns the write index.
  Result<std::uint32_t> register_for_file(FileId file, std::uint32_t pid, Identity client,
                                          const RegisterRequest& request);
  // The same of 6.0 and 6.1: no enable word, but a bit in Page::kBits. The event stays until it is deleted, if its maker may
  // have such events. In a domain with that kernel's ways a name is enough to find it, whatever its fields.
  struct StatusRegistration {
    std::uint32_t index;
    std::uint32_t bit;
  };
  Result<StatusRegistration> register_status_bit(FileId file, std::string_view text, std::uint32_t uid);
  // The same of the 2021 proposal: what is written to the file is the event's payload from here on. The event stays as
  // above. Returns its place in Page::kBytes.
  Result<std::uint32_t> register_plain(FileId file, std::string_view text, std::uint32_t uid);
  // DIAG_IOCSUNREG.
  Result<void> unregister(std::uint32_t pid, Identity client, EnableBit bit);
  // DIAG_IOCSDEL.
  Result<void> remove_event(std::string_view name, std::uint32_t uid);
  Result<void> forked(std::uint32_t parent, std::uint32_t child, Identity client);
  // EMFILE beyond what the user may have. `opener`: the process, 0 where that is not known.
  Result<FileId> open_file(std::uint32_t uid, std::uint32_t opener = 0) {
    if (opener != 0) program_came(opener);
    return files_.open(uid, is_guest(uid) ? kGuestFiles : plan::kMaxFiles, opener);
  }

  // -- what the native library asks for --------------------------------------------------------------------------
  // A synthetic event or an event probe, as Events::add(); listened to by who has selected it.
  Result<Event*> add_event(std::string system, event::Declaration declaration, std::string text, std::uint32_t uid);
  // A native producer of an event that no program registers: its slot, as below. ENOENT.
  Result<std::uint32_t> attach_native(std::string_view system, std::string_view name);
  // Returns the event's slot; the caller holds a reference until release_native().
  Result<std::uint32_t> register_native(std::string_view text, std::uint16_t flags, std::uint32_t uid);
  void release_native(std::uint32_t slot) { events_.drop_reference(slot); }

  // The user's index; its data segment is made at the first call. ENOSPC.
  Result<std::uint32_t> join(std::uint32_t uid);

  // -- listening ------------------------------------------------------------------------------------------------
  // Every enable word and status page has its new value when this returns.
  Result<void> listen(Instance& instance, const std::vector<Event*>& events, bool on);
  // Soft mode: the event is enabled for its triggers or for those that switch it, and stays as recorded as it was. What was
  // enabled by this alone is off when the last one lets go, unless a trigger has switched it on.
  Result<void> hold_soft(Instance& instance, Event& event);
  void release_soft(Instance& instance, Event& event);
  // Whether the instance records the event: what its `enable` file says.
  [[nodiscard]] bool is_recorded(const Instance& instance, const Event& event) const;
  // What the event does, as all of its instances have it now. To be called after any of that has changed.
  Result<void> publish(Event& event);
  // Listens to all events that match, now and as they register; or stops it.
  Result<void> listen_pattern(Instance& instance, const Pattern& pattern, bool on);
  // The same with a filter and triggers, which an event has before it is listened to. Of several selections that match an
  // event it has all triggers, and the filter of the last one that has a filter. Those that do not fit an event (it lacks a
  // field) are in `instance.unfit`; it is listened to all the same. A trigger that switches an event which is not there
  // yet waits for it. EINVAL for what is no filter or trigger at all.
  Result<void> select(Instance& instance, Selection selection);
  // Waits, for a little while, until no producer is inside what was published before: what was taken away has no effect any
  // more. One that is stopped there, or waits for a CPU, is not waited for.
  void settle(std::chrono::milliseconds limit = std::chrono::milliseconds(1));
  // Stops all listening of the instance and waits (bounded) until no producer writes to it.
  void quiesce(Instance& instance);
  void destroy_instance(std::uint32_t index);
  // tracing_on: whether the instance records.
  void set_tracing(Instance& instance, bool on) { cells_.set_switch(instance.stop_switch, !on); }
  [[nodiscard]] bool is_tracing(const Instance& instance) const { return !cells_.is_thrown(instance.stop_switch); }
  // Whose events the instance takes from here on; nullopt: everybody's. Lists need not be sorted.
  using Threads = std::optional<std::vector<std::uint32_t>>;
  Result<void> set_threads(Instance& instance, Threads only, Threads never);
  // Threads that those of the lists make are listed, too, and those that end no more; where the kernel tells of them (as it
  // does root).
  void set_follow_forks(Instance& instance, bool on);
  // Readable when catch_up_threads() has something to do; -1: nobody follows.
  [[nodiscard]] int thread_events_fd() const { return thread_events_ ? thread_events_->fd() : -1; }
  void catch_up_threads();
  // Whether events of a thread that nobody knows are to wait for that. Any thread may ask.
  // Pairs with the release store in follow_threads_where_wanted().
  [[nodiscard]] bool follows_threads() const { return __atomic_load_n(&follows_threads_, __ATOMIC_ACQUIRE); }
  // Gives the instance other rings, and waits (bounded) until no producer writes to the old ones, which the caller frees
  // with instances().free_place(), in a grace period's time.
  Result<RingPlace> replace_rings(Instance& instance, ring::Geometry geometry);
  // The same with rings that there are already: `next` is the instance's from here on, and what was is the caller's.
  Result<RingPlace> exchange_rings(Instance& instance, const RingPlace& next);

  // Two sets of rings to be exchanged by triggers from here on, of which the instance has the first now; nullopt: the instance
  // stays with the one that it has.
  Result<void> set_flip(Instance& instance, std::optional<Flip> flip);
  // What records in the instance now.
  [[nodiscard]] plan::PlanStep record_step(const Instance& instance) const;

  // A program has come that has to do with the domain: filters may be about functions of it.
  void program_came(std::uint32_t pid);
  // Some producer has ended: what it held in shared memory is taken back.
  void producers_ended();
  // Drops what belonged to processes that are gone; runs what waited for a grace period. True: call again soon.
  bool maintain();
  // The domain ends: every enable word is cleared and no event has a listener. What the next owner needs stays where there is
  // to be one; it goes where nothing is left that it could take over.
  void shut_down();

  // -- the owners before and after this one -------------------------------------------------------------------
  // Writes down in the file at `path` what the next owner needs (see journal.hpp), beginning with what the one before has
  // left there: its events, open files and enable words are this domain's, as far as their processes live. To be called once,
  // before anybody is served and after all patterns are known; nobody else may have the file. On error, that of the file
  // system, nothing is written down, and what was left is restored all the same.
  // kMayCome: another owner may serve the place after this one has ended in good order, too.
  enum class Successor { kNone, kMayCome };
  Result<void> keep_journal(const std::string& path, Successor successor = Successor::kNone);
  // How long restored events wait for programs that link the library, which register them anew.
  static constexpr std::chrono::seconds kRestoredWait{5};
  // When maintain() has something to do that nobody announces.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_deadline() const {
    return waiting_events_.empty() ? std::nullopt : std::optional(waiting_until_);
  }
  // The processes that something of the domain waits for: it is to be told by processes_ended() when one has ended.
  [[nodiscard]] std::vector<std::uint32_t> processes() const;
  // True: call again soon, some of what they had waits for a child.
  bool processes_ended();

  [[nodiscard]] ControlMemory& control() { return control_; }
  [[nodiscard]] Users& users() { return users_; }
  [[nodiscard]] Files& files() { return files_; }
  [[nodiscard]] Events& events() { return events_; }
  [[nodiscard]] Instances& instances() { return instances_; }
  [[nodiscard]] Grace& grace() { return grace_; }
  [[nodiscard]] Cells& cells() { return cells_; }
  [[nodiscard]] programs::ProgramFunctions& functions() { return functions_; }
  [[nodiscard]] const Cells& cells() const { return cells_; }
  [[nodiscard]] EnableWords& enable_words() { return enable_words_; }
  [[nodiscard]] StatusPages& status_pages() { return pages_; }
  [[nodiscard]] abi::Version abi() const { return control_.segment().abi; }
  // Raw times in CLOCK_MONOTONIC, since the domain began.
  [[nodiscard]] arch::ClockLine& clock_line() { return clock_line_; }
  [[nodiscard]] Instance& top() { return *instances_.at(0); }

 private:
  Domain(ControlMemory control, StatusPages pages, std::uint64_t data_bytes, std::uint32_t owner_uid);
  Result<Event*> find_or_register(std::string_view text, std::uint16_t flags, std::uint32_t uid,
                                  Events::Match match = Events::Match::kByFields);
  Result<Event*> find_or_register_lasting(std::string_view text, std::uint32_t uid, Events::Match match);
  Result<void> give_place(Event& event, Page page);
  void drop_event_file(Instance& instance, Event& event);
  void drop_event_files(Instance& instance);
  void give_place_again(Event& event, Page page, std::uint32_t place);
  // Whoever looks at whether these events have listeners finds out: enable words, status pages.
  void show_listeners(const std::vector<Event*>& events);
  Result<void> publish_listeners(const Instance& instance);
  void follow_threads_where_wanted();
  Result<void> listen_as_selected(Event& event);
  void restore(const SavedDomain& saved);
  std::vector<SavedProcess> find_unannounced_children(const SavedDomain& saved);
  void let_go_of_waiting_events();
  bool is_anything_to_take_over();

  std::recursive_mutex mutex_;
  std::function<void()> wake_;
  std::uint32_t owner_uid_;
  ControlMemory control_;
  StatusPages pages_;
  Users users_;
  Grace grace_{users_};
  Cells cells_{users_, static_cast<arch::RawClock>(control_.segment().raw_clock)};
  Events events_{control_, grace_};
  Files files_{control_, grace_, events_};
  EnableWords enable_words_{events_};
  Instances instances_{control_, users_, grace_, cells_};
  programs::ProgramFunctions functions_{owner_uid_};
  std::optional<programs::ThreadEvents> thread_events_;
  bool follows_threads_ = false;
  arch::ClockLine clock_line_{static_cast<arch::RawClock>(control_.segment().raw_clock), CLOCK_MONOTONIC};
  std::unique_ptr<Journal> journal_;
  Successor successor_ = Successor::kNone;
  std::vector<std::uint32_t> waiting_events_;  // restored, and held until then
  std::chrono::steady_clock::time_point waiting_until_{};
  // The last member: its thread calls into the others.
  Attention attention_{[this] {
    const Access access = enter();
    cells_.spread();
  }};
};

}  // namespace landtrace::domain
