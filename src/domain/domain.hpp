// The control plane of a domain: what the kernel's tracing subsystem is to a machine. One thread at a time.
#pragma once

#include <unistd.h>

#include <memory>

#include "arch/clock.hpp"
#include "domain/control_memory.hpp"
#include "domain/enable_words.hpp"
#include "domain/events.hpp"
#include "domain/files.hpp"
#include "domain/grace.hpp"
#include "domain/instances.hpp"
#include "domain/users.hpp"

namespace landtrace::domain {

class Domain {
 public:
  struct Options {
    std::uint64_t ring_bytes = 4u << 20;  // of each ring of the top instance
    arch::RawClock raw_clock = arch::best_raw_clock();
    std::uint32_t owner_uid = ::geteuid();
  };
  static Result<std::unique_ptr<Domain>> create(const Options& options);

  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

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
    int text_error = 0;  // errno: `text` could not be read from the program
  };
  // DIAG_IOCSREG, in the kernel's order of checks. Returns the write index.
  Result<std::uint32_t> register_for_file(FileId file, std::uint32_t pid, Identity client,
                                          const RegisterRequest& request);
  // DIAG_IOCSUNREG.
  Result<void> unregister(std::uint32_t pid, Identity client, EnableBit bit);
  // DIAG_IOCSDEL.
  Result<void> remove_event(std::string_view name, std::uint32_t uid);
  Result<void> forked(std::uint32_t parent, std::uint32_t child, Identity client);
  // EMFILE beyond what the user may have.
  Result<FileId> open_file(std::uint32_t uid) {
    return files_.open(uid, is_guest(uid) ? kGuestFiles : plan::kMaxFiles);
  }

  // -- what the native library asks for --------------------------------------------------------------------------
  // Returns the event's slot; the caller holds a reference until release_native().
  Result<std::uint32_t> register_native(std::string_view text, std::uint16_t flags, std::uint32_t uid);
  void release_native(std::uint32_t slot) { events_.drop_reference(slot); }

  // -- listening ------------------------------------------------------------------------------------------------
  // Every enable word has its new value when this returns.
  Result<void> listen(Instance& instance, const std::vector<Event*>& events, bool on);
  // Listens to all events that match, now and as they register; or stops it.
  Result<void> listen_pattern(Instance& instance, const Pattern& pattern, bool on);
  // Stops all listening of the instance and waits (bounded) until no producer writes to it.
  void quiesce(Instance& instance);
  void destroy_instance(std::uint32_t index);

  // Some producer has ended: what it held in shared memory is taken back.
  void producers_ended();
  // Drops what belonged to processes that are gone; runs what waited for a grace period. True: call again soon.
  bool maintain();
  // The domain ends: every enable word is cleared and no event has a listener.
  void shut_down();

  [[nodiscard]] ControlMemory& control() { return control_; }
  [[nodiscard]] Users& users() { return users_; }
  [[nodiscard]] Files& files() { return files_; }
  [[nodiscard]] Events& events() { return events_; }
  [[nodiscard]] Instances& instances() { return instances_; }
  [[nodiscard]] Grace& grace() { return grace_; }
  [[nodiscard]] EnableWords& enable_words() { return enable_words_; }
  [[nodiscard]] Instance& top() { return *instances_.at(0); }

 private:
  Domain(ControlMemory control, std::uint64_t data_bytes, std::uint32_t owner_uid);
  Result<Event*> find_or_register(std::string_view text, std::uint16_t flags, std::uint32_t uid);
  Result<void> publish(Event& event);

  std::uint32_t owner_uid_;
  ControlMemory control_;
  Users users_;
  Grace grace_{users_};
  Events events_{control_, grace_};
  Files files_{control_, grace_, events_};
  EnableWords enable_words_{events_};
  Instances instances_{control_, users_, grace_};
};

}  // namespace landtrace::domain
