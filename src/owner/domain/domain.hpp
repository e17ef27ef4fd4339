// The control plane of a domain, which is what the kernel's tracing subsystem is to a machine: its parts, and how they
// go together. Whoever needs a part takes that part.
//
// One thread at a time: whoever uses the parts holds the domain, by enter(). The thread that serves it holds it
// whenever it does anything.
//
//     (segments   ControlMemory, Users, Cells, Grace      what producers share with the owner: the layer below)
//     registry    Events, Instances, Files, EnableWords, StatusPages
//     what it does   Plans, Listening, ThreadLists        who listens to what, and what producers do then
//                    ProbeSlots                           … and where in programs' code
//     for whom    Registrar                               what programs ask for
//     when        Succession                              the owners before and after
#pragma once

#include <unistd.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "arch/clock_line.hpp"
#include "domain/attention.hpp"
#include "domain/descriptors.hpp"
#include "domain/enable_words.hpp"
#include "domain/event_rules.hpp"
#include "domain/events.hpp"
#include "domain/files.hpp"
#include "domain/instances.hpp"
#include "domain/listening.hpp"
#include "domain/plans.hpp"
#include "domain/probe_slots.hpp"
#include "domain/registrar.hpp"
#include "domain/segment_names.hpp"
#include "domain/serving.hpp"
#include "domain/status_pages.hpp"
#include "domain/succession.hpp"
#include "domain/thread_lists.hpp"
#include "programs/subordinate_ids.hpp"

namespace landtrace::domain {

// buffer_size_kb of a fresh kernel.
inline constexpr std::uint64_t kDefaultRingBytes = 1408u << 10;

class Domain final : private segments::CellWriters {
 public:
  struct Options {
    std::uint64_t ring_bytes = kDefaultRingBytes;  // of each ring of the top instance
    arch::RawClock raw_clock = arch::best_raw_clock();
    std::uint32_t owner_uid = ::geteuid();
    abi::Version abi = abi::Version::k6_12;
    std::string subordinate_ids = programs::SubordinateIds::kPath;
  };
  static Result<std::unique_ptr<Domain>> create(const Options& options);

  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  // The domain to oneself, from any thread; a thread may nest it. Work that is left for maintain() when it ends is
  // announced to whoever serves the domain.
  class Access {
   public:
    explicit Access(Domain& domain) : domain_(domain), lock_(domain.mutex_) {}
    ~Access() {
      if (domain_.grace_.has_fresh()) domain_.served_by_.wake();
    }
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    Domain& domain_;
    std::lock_guard<std::recursive_mutex> lock_;
  };
  [[nodiscard]] Access enter() { return Access(*this); }
  // The same for the serving thread, which need not be woken.
  [[nodiscard]] std::recursive_mutex& mutex() { return mutex_; }

  // Who serves the domain from here on; nullptr: nobody.
  void serve_by(ServingThread* thread) { served_by_.set(thread); }
  // What its events do beyond being recorded; nullptr: nothing.
  void set_rules(EventRules* rules) { rules_.set(rules); }

  // The user's index; its data segment is made at the first call. Where there are as many users as there can be, a
  // guest of whom nothing is left makes room. User ids that one person may take (subuid(5)) have a quarter of the
  // places. ENOSPC.
  using Time = std::chrono::steady_clock::time_point;
  Result<std::uint32_t> join(std::uint32_t uid, Time now = std::chrono::steady_clock::now());
  // A guest's segment may name threads of which nobody knows whether they live and are the guest's: those of another
  // pid namespace. For so long after all else of the guest's has gone they keep its place.
  static constexpr std::chrono::minutes kUnknownThreadsStay{5};

  // Something is done that whoever serves the domain waits for.
  void wake_server() const { served_by_.wake(); }

  // The processes that something of the domain waits for: it is to be told by processes_ended() when one has ended.
  [[nodiscard]] std::vector<std::uint32_t> processes() const;
  // True: call again soon, some of what they had waits for a child.
  bool processes_ended();
  // Drops what belonged to processes that are gone; runs what waited for a grace period. True: call again soon.
  bool maintain();
  // The domain ends: every enable word is cleared and no event has a listener. What becomes of the rest:
  // Succession::end().
  void shut_down();

  // Returns memory of guests that have written where nothing is theirs: that of guests who have nothing open any more,
  // and of others where it is much. True while there is a guest to look after.
  bool look_after_guests(Time now = std::chrono::steady_clock::now());

  [[nodiscard]] abi::Version abi() const { return control_.segment().abi; }
  [[nodiscard]] Instance& top() { return instances_.top(); }
  // Draws the line anew by which producers without the time stamp counter know its value, unless that is fresh.
  void draw_counter_line();
  // Raw times in CLOCK_MONOTONIC, since the domain began.
  [[nodiscard]] arch::ClockLine& clock_line() { return clock_line_; }

  [[nodiscard]] ControlMemory& control() { return control_; }
  [[nodiscard]] Users& users() { return users_; }
  [[nodiscard]] Grace& grace() { return grace_; }
  [[nodiscard]] Cells& cells() { return cells_; }
  [[nodiscard]] StatusPages& status_pages() { return pages_; }
  [[nodiscard]] Events& events() { return events_; }
  [[nodiscard]] Instances& instances() { return instances_; }
  [[nodiscard]] Files& files() { return files_; }
  [[nodiscard]] Descriptors& descriptors() { return descriptors_; }
  [[nodiscard]] EnableWords& enable_words() { return enable_words_; }
  [[nodiscard]] Plans& plans() { return plans_; }
  [[nodiscard]] Listening& listening() { return listening_; }
  [[nodiscard]] ThreadLists& thread_lists() { return thread_lists_; }
  [[nodiscard]] ProbeSlots& probe_slots() { return probe_slots_; }
  [[nodiscard]] Registrar& registrar() { return registrar_; }
  [[nodiscard]] Succession& succession() { return succession_; }
  [[nodiscard]] RulesLink& rules() { return rules_; }

 private:
  bool are_trusted(std::uint32_t uid) override;
  [[nodiscard]] bool has_anything(std::uint32_t uid) const;
  [[nodiscard]] bool has_left(const User& user, Time now);
  // `only`: one of these.
  std::optional<std::uint32_t> find_one_who_left(const std::vector<std::uint32_t>* only, Time now);
  Result<std::uint32_t> replace(std::uint32_t user, std::uint32_t uid);
  Result<std::uint32_t> find_place(std::uint32_t uid, Time now);
  Domain(ControlMemory control, StatusPages pages, std::uint64_t data_bytes, const Options& options);

  const std::string subordinate_ids_;
  std::recursive_mutex mutex_;
  ServingLink served_by_;
  RulesLink rules_;
  ControlMemory control_;
  arch::CounterLinePainter counter_painter_;
  StatusPages pages_;
  Users users_;
  std::unordered_map<std::uint32_t, Time>
      absent_since_;  // guests that had nothing open when that was looked at, by uid
  Grace grace_{users_};
  Cells cells_{users_, static_cast<arch::RawClock>(control_.segment().raw_clock)};
  Instances instances_{control_, users_, grace_, cells_};
  Events events_{control_, grace_, pages_, rules_};
  Files files_{control_, grace_, events_};
  Descriptors descriptors_;
  EnableWords enable_words_{events_, served_by_, descriptors_};
  Plans plans_{control_, grace_, cells_, events_, instances_};
  Listening listening_{plans_, events_, cells_, grace_, enable_words_, pages_, rules_};
  ThreadLists thread_lists_{control_, grace_, instances_, plans_, served_by_};
  ProbeSlots probe_slots_{control_, users_, grace_};
  Registrar registrar_;
  Succession succession_{events_, files_, enable_words_, pages_, rules_, abi()};
  arch::ClockLine clock_line_{static_cast<arch::RawClock>(control_.segment().raw_clock), CLOCK_MONOTONIC};
  // The last member: its thread uses the others.
  Attention attention_{mutex_, cells_};
};

}  // namespace landtrace::domain
