// What a recording that is not finished says about itself, beside the streams of its CPUs: everything that a finished
// file has before its events, and whatever else a reader, or who completes a recording whose recorder was killed,
// needs.
//
//      0  32 bytes  kJournalMagic
//     32  u64       horizon: each event of an earlier time is in its stream (monotonic nanoseconds, as records have)
//     40            zeros
//     64  entries, one behind the other, only ever appended:
//           u32 size of the body | u32 checksum of the body | body: u8 kind, then what the kind has
//
// A writer that was killed leaves at most one entry that is not whole, the last one: it lacks its end, or has zeros
// there after a power failure. Any other one that is not whole is damaged, and what stands behind it is looked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/trace_dat/file_cursor.hpp"
#include "output/trace_dat/file_ops.hpp"
#include "output/trace_dat/metadata.hpp"

namespace landtrace::output::trace_dat {

inline constexpr std::string_view kJournalMagic{"landtrace unfinished recording 2", 32};
inline constexpr std::uint64_t kHorizonAt = 32;
inline constexpr std::uint64_t kJournalStart = 64;

class Journal {
 public:
  // `size`: of what is there already, up to the last whole entry.
  Journal(NamedFile file, std::uint64_t size) : file_(std::move(file)), size_(size) {}

  // Writes the beginning of an empty one.
  Result<void> begin(const Metadata& metadata, std::uint32_t cpus, std::uint32_t spare);

  void add(const EventType& type);
  void add(std::int32_t tid, const Task& task);
  void add(const MappedObject& object);
  // Writes what was added. After an error (a full disk) it is kept, and the next call tries again.
  Result<void> write();
  [[nodiscard]] bool has_unwritten() const { return !pending_.empty(); }
  Result<void> set_horizon(std::uint64_t time_ns);

  [[nodiscard]] const NamedFile& file() const { return file_; }
  void renamed(std::string path) { file_.path = std::move(path); }

 private:
  void append(std::string_view body);

  NamedFile file_;
  std::uint64_t size_;
  std::string pending_;
};

// What a journal said.
struct Unfinished {
  Metadata metadata;
  std::uint32_t cpus = 0;
  std::uint32_t spare = 0;
  std::uint64_t horizon_ns = 0;
  std::uint64_t journal_size = 0;                // up to the last whole entry
  std::optional<std::uint64_t> damaged_at = {};  // the first entry that is damaged; what it said is not among this
};

// Whether the file is an unfinished recording.
bool is_journal(const InputFile& file);
bool is_journal_at(const std::string& path);
// Whether its recorder, or who completes it, lives: that one holds a lock of it.
bool has_writer(const InputFile& journal);
// A recorder has the lock of its journal before it writes how that begins: waits for that, some seconds at most.
void wait_for_beginning(InputFile& file);
// EEXIST with a sentence for that of another version, whose streams are read in another way: nothing may take its
// place.
Result<void> refuse_other_version(const InputFile& file, const std::string& path);
// As it is now, also where it is being written: what is said of each event before the horizon is among it. EBADMSG: it
// has not even a beginning.
Result<Unfinished> read_journal(InputFile& file);
// Adds what was written since.
Result<void> read_more(InputFile& file, Unfinished& read);

// The names of what belongs to the recording that is to be at `path`.
std::string stream_path(const std::string& path, std::uint32_t cpu);
std::string partial_path(const std::string& path);  // what it becomes, until that is complete
std::string new_path(const std::string& path);      // its journal, while an older recording has the place
std::string old_path(const std::string& path);      // the older recording, when it has given the place up

}  // namespace landtrace::output::trace_dat
