// What must outlive an owner, written to a file beside its socket as it happens: events, open files with their write
// indices, enable words. The next owner at the same place begins with it (see restore.cc).
//
// It is the user's alone (0600), and it counts only in the system that it was written in, before a reboot, and among
// the same process ids: what it names are processes, by when they started and what they run. So one from long ago does
// no harm. An owner that ends in good order leaves it if there is to be another one, and something to take over.
#pragma once

#include <vector>

#include "programs/foreign_memory.hpp"
#include "programs/identity.hpp"
#include "store/record_log.hpp"
#include "event/declaration.hpp"

namespace landtrace::domain {

using programs::EnableBit;
using programs::Identity;

// A process, whatever gets its pid later.
struct ProcessId {
  std::uint32_t pid = 0;
  std::uint64_t start = 0;  // in clock ticks since the boot; 0: unknown

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};
// As it is now; start is 0 when there is no such process, or it has ended.
ProcessId process_id(std::uint32_t pid);

struct SavedEvent {
  std::uint32_t slot = 0;
  std::uint16_t flags = 0;
  std::uint32_t uid = 0;
  std::string name;  // as shown
  event::Flavour flavour = event::Flavour::kUser;
  std::string text;              // as declared; of a probe: its command, of one of functions a line for each place
  std::uint32_t status_bit = 0;  // its places in the status pages; 0: none
  std::uint32_t status_byte = 0;
};

struct SavedFile {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  std::uint32_t uid = 0;
  bool plain = false;
  ProcessId opener;
  std::vector<std::uint32_t> events;  // by write index
  std::uint64_t key = 0;              // see ipc::FileIdentity; 0: of an owner from before there were keys
};

struct SavedWord {
  EnableBit bit{};
  std::uint32_t event = 0;
  std::uint64_t claim = 0;  // see ipc::Claim; 0: none
  std::uint64_t since = 0;  // when it was registered, in the unit of ProcessId::start
};

struct SavedProcess {
  ProcessId id;
  Identity who;
  std::uint64_t space = 0;  // AddressSpace::identity
  std::vector<SavedWord> words;
};

struct SavedDomain {
  bool found = false;  // there was a journal
  std::string damage;  // what of it was not read, and why; empty: nothing
  std::uint64_t next_multi = 0;
  std::vector<SavedEvent> events;  // by slot
  std::vector<SavedFile> files;    // by slot
  std::vector<SavedProcess> processes;
};

class Journal {
 public:
  explicit Journal(const std::string& path);

  // What an earlier owner has left.
  [[nodiscard]] SavedDomain saved() const;
  // Moves what is there out of the way of start(), for who wants to look at it. Returns its new path; empty where that
  // could not be done.
  std::string set_aside() const;

  // From here on the file is ours; what was put before is in it.
  Result<void> start() { return log_.start(); }
  void end() { log_.end(); }
  // No more is written down, and the file stays.
  void leave() { log_.leave(); }

  void event_made(const SavedEvent& event, std::uint64_t next_multi);
  void event_gone(std::uint32_t slot);

  void file_opened(const SavedFile& file);  // without its events
  void file_event(std::uint32_t slot, std::uint32_t index, std::uint32_t event);
  void file_closed(std::uint32_t slot);

  void process_known(const SavedProcess& process);  // without its words
  void process_gone(std::uint32_t pid);
  void word_added(std::uint32_t pid, const SavedWord& word);
  void word_removed(std::uint32_t pid, EnableBit bit);

  // While there is one, what is put is written together. nullptr: of no journal.
  class Batch : public store::RecordLog::Batch {
   public:
    explicit Batch(Journal* journal) : store::RecordLog::Batch(journal == nullptr ? nullptr : &journal->log_) {}
  };

 private:
  std::string path_;
  std::string header_;
  store::RecordLog log_;
};

}  // namespace landtrace::domain
