// What programs ask of a domain: open files, events, enable words.
#pragma once

#include "domain/enable_words.hpp"
#include "domain/event_rules.hpp"
#include "domain/events.hpp"
#include "domain/files.hpp"

namespace landtrace::domain {

class Registrar {
 public:
  Registrar(Events& events, Files& files, EnableWords& enable_words, RulesLink& rules, abi::Version abi,
            std::uint32_t owner_uid)
      : events_(events), files_(files), enable_words_(enable_words), rules_(rules), abi_(abi), owner_uid_(owner_uid) {}

  // A guest is a user who neither runs the domain nor is root. What guests may have is limited, so that none of them
  // uses the domain up; and nothing of theirs outlives them (the kernel wants CAP_PERFMON for kPersist).
  static constexpr std::uint32_t kGuestEvents = 4096;
  static constexpr std::uint32_t kGuestFiles = 4096;
  static constexpr std::uint32_t kGuestIndices = 1 << 16;  // of all files together
  [[nodiscard]] std::uint32_t owner_uid() const { return owner_uid_; }
  [[nodiscard]] bool is_guest(std::uint32_t uid) const { return uid != 0 && uid != owner_uid_; }

  // -- unmodified programs --------------------------------------------------------------------------------------
  // EMFILE beyond what the user may have. `opener`: the process, 0 where that is not known.
  Result<FileId> open_file(std::uint32_t uid, std::uint32_t opener = 0);

  // Whether the user may name the file: with its key, or as the file's own user, or as no guest. EBADF.
  Result<void> check_named(FileId file, std::uint64_t key, std::uint32_t uid) const;

  struct WordRequest {
    std::string_view text;
    std::uint16_t flags;
    EnableBit bit;
    std::uint8_t size;
    int text_error = 0;       // errno: `text` could not be read from the program
    std::uint64_t claim = 0;  // see ipc::Claim
  };
  // DIAG_IOCSREG, in the kernel's order of checks. Returns the write index.
  Result<std::uint32_t> register_for_file(FileId file, std::uint32_t pid, Identity client, const WordRequest& request);
  // The same of 6.0 and 6.1: no enable word, but a bit in Page::kBits. The event stays until it is deleted, if its
  // maker may have such events. In a domain with that kernel's ways a name is enough to find it, whatever its fields.
  struct StatusRegistration {
    std::uint32_t index;
    std::uint32_t bit;
  };
  Result<StatusRegistration> register_status_bit(FileId file, std::string_view text, std::uint32_t uid);
  // The same of the 2021 proposal: what is written to the file is the event's payload from here on. The event stays as
  // above. Returns its place in Page::kBytes.
  Result<std::uint32_t> register_plain(FileId file, std::string_view text, std::uint32_t uid);
  // DIAG_IOCSDEL.
  Result<void> remove_event(std::string_view name, std::uint32_t uid);

  // -- the native library -----------------------------------------------------------------------------------------
  // Returns the event's slot; the caller holds a reference of the user's until Events::drop_reference().
  Result<std::uint32_t> register_native(std::string_view text, std::uint16_t flags, std::uint32_t uid);
  // The same for an event that no program registers. ENOENT.
  Result<std::uint32_t> attach_native(std::string_view system, std::string_view name, std::uint32_t uid);

  // -- the rules ----------------------------------------------------------------------------------------------------
  // An event that no program registers, as Events::add(); listened to by whoever has selected it. EPERM for a guest.
  Result<Event*> add_event(std::string system, event::Declaration declaration, std::string text, std::uint32_t uid);

 private:
  [[nodiscard]] std::uint32_t most_indices_of(FileId file) const;
  Result<Event*> find_or_register(std::string_view text, std::uint16_t flags, std::uint32_t uid,
                                  Events::Match match = Events::Match::kByFields);
  Result<Event*> find_or_register_lasting(std::string_view text, std::uint32_t uid, Events::Match match);

  Events& events_;
  Files& files_;
  EnableWords& enable_words_;
  RulesLink& rules_;
  abi::Version abi_;
  std::uint32_t owner_uid_;
};

}  // namespace landtrace::domain
