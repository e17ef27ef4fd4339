// Writes a trace.dat file, version 6, that trace-cmd and KernelShark read.
//
// The format wants the events of each CPU in one piece and all that is said of them before, so a recording that goes
// on is several files: PATH is a journal of what the recording says about itself (journal.hpp), PATH.cpuN has the
// events of a CPU (cpu_stream.hpp). At every moment, whether the recorder lives or was killed, TraceDatReader reads
// them as one recording, and complete_recording() makes one file of them.
//
// finish() moves the events into PATH.partial, which then takes the place of the journal; it frees the streams'
// blocks as it goes, so that no second copy ever needs room on the disk. Where there are many, the longest stream
// becomes PATH.partial itself, and its events are not moved: it has room before them. The room that finish() needs is
// reserved there from the start: a disk that runs full ends the recording, but what append() accepted can still be
// finished.
//
// What was at PATH before stays there until there is an event to keep. Then it becomes PATH.old, and the journal,
// which was at PATH.new, takes its place. Where it cannot be moved then, the new recording stays beside it: finish()
// completes it at PATH.new.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "output/cpu_stats.hpp"
#include "output/record.hpp"
#include "output/trace_dat/cpu_stream.hpp"
#include "output/trace_dat/journal.hpp"
#include "output/trace_dat/metadata.hpp"

namespace landtrace::output {

// What complete_recording() has made.
struct Completed {
  std::string path;           // where it is
  bool has_replaced = false;  // an older one, which is at PATH.old now
  // Where the journal was damaged, which is PATH.damaged now: what it said there is missing.
  std::optional<std::uint64_t> damaged_at = {};
};

// Not thread-safe. Everything that takes a CPU number wants one below Options::cpus + Options::spare.
class TraceDatWriter {
 public:
  struct Options {
    std::uint32_t cpus = 1;
    std::uint32_t spare =
        0;  // further streams, numbered behind the CPUs; those at the end that stay empty are left out
    std::string clock = "mono";                       // a name of tracefs' trace_clock
    std::optional<std::int64_t> wall_offset_ns = {};  // from that clock to nanoseconds since 1970, at the beginning
    std::string kallsyms = {};  // lines of /proc/kallsyms, for formats that print addresses as symbols
  };

  // A recording that is to be at `path`, or where that leads to as a link of one's own. EINVAL: not a regular file, or
  // cpus is 0 or above 4096; EBUSY: somebody records into it, in whatever format, or into PATH.old, where an older one
  // is to go; EEXIST: an unfinished recording is there, or beside an older one (complete_recording()), or at PATH.old,
  // or PATH.new, PATH.partial or a PATH.cpuN is not ours, or has events whose journal is elsewhere; EISDIR, EPERM,
  // EACCES: what is there, or PATH.old, cannot be moved away; ENOSPC and what open(2) says.
  static Result<TraceDatWriter> create(const std::string& path, Options options);

  TraceDatWriter(TraceDatWriter&&) = default;
  TraceDatWriter& operator=(TraceDatWriter&&) = delete;
  // Without finish(): removes all files if nothing was recorded, otherwise leaves the recording unfinished.
  ~TraceDatWriter();

  // Appends an event; within a CPU in the order of time (an older one is kept too, at 8 bytes more). Copies
  // the payload, which readers see padded with zeros to a multiple of 4. E2BIG above kMaxPayload, EINVAL for
  // an unknown CPU. When something cannot be written, the CPU's first error names the file and the reason; from
  // then on its records are refused with the bare code and counted as dropped.
  Result<void> append(const Record& record);
  // The same for nearly every record. False: append() has to do it.
  bool append_at_once(const Record& record) {
    return record.cpu < streams_.size() && !journal_.has_unwritten() && streams_[record.cpu].append_at_once(record);
  }

  // `count` events (or kLostUnknown) of this CPU were missed between its last record and its next one. When
  // no record follows, only the CPU's overrun counter tells.
  void lost(std::uint32_t cpu, std::uint64_t count);

  // For those who read the recording after its writer was killed: so many events of this CPU are missing by now of
  // which lost() has not told yet, and so many are about to be appended. An error is as one of publish().
  Result<void> set_outstanding(std::uint32_t cpu, Outstanding events);

  // In any order with append(). A later one with the same id replaces the earlier.
  void add_event(EventType type);
  void set_task(std::int32_t tid, Task task);
  // An object on stacks. `first_seen` is in the clock of records.
  void add_object(MappedObject object);

  // Whatever was appended, added or lost until now is read by others from here on, and outlives this process. All
  // events before `horizon_ns` were among that. An error ends the recording; finish() still keeps what was accepted.
  Result<void> publish(std::uint64_t horizon_ns);

  // Completes the file and removes the others. `stats` are the rings' counters, by CPU; where there are none,
  // entries, bytes and overrun are what came through this writer. Records that were refused are added to `dropped`.
  // Without any event an older recording at the path stays. On an error the recording stays as an unfinished one, or is
  // complete beside an older one that could not be moved, and the error says so. Nothing may be called afterwards.
  Result<void> finish(std::span<const CpuStats> stats = {});

  // Bytes of entries accepted so far.
  [[nodiscard]] std::uint64_t bytes_written() const;
  // Whether the recording has replaced an older one, which is at PATH.old now.
  [[nodiscard]] bool has_replaced() const { return replaced_; }
  // Whether there is an older one that has not been replaced.
  [[nodiscard]] bool kept_older() const { return place() != path_; }
  // Where the recording is now: at the path, or at PATH.new, beside an older one.
  [[nodiscard]] const std::string& place() const { return journal_.file().path; }

 private:
  friend Result<Completed> complete_recording(const std::string& path);

  TraceDatWriter(std::string path, trace_dat::Journal journal, Options options);

  [[nodiscard]] bool has_events() const;
  void drop_empty_spares();
  Result<void> open_stream(std::uint32_t cpu);
  Result<void> open_left_streams(const std::vector<trace_dat::Region>& regions);
  Result<void> check_left_partial() const;
  Result<void> reserve_more(std::uint64_t bytes);
  Result<void> take_place();
  Result<void> publish_here(std::uint64_t horizon_ns);
  [[nodiscard]] std::vector<CpuStats> final_stats(std::span<const CpuStats> stats) const;
  struct Beginning {
    std::string text;
    std::vector<trace_dat::Region> regions;
  };
  // `base`: the stream that becomes the file, or npos.
  [[nodiscard]] Beginning beginning(std::span<const CpuStats> stats, std::size_t base) const;
  [[nodiscard]] std::size_t longest_stream() const;
  Result<std::vector<trace_dat::Region>> write_metadata(std::span<const CpuStats> stats);
  Result<std::vector<trace_dat::Region>> begin_partial(std::span<const CpuStats> stats);
  Result<void> move_streams(const std::vector<trace_dat::Region>& regions);
  Result<void> complete(const std::vector<trace_dat::Region>& regions);
  [[nodiscard]] Result<void> say_place(const Result<void>& placed) const;
  Result<void> complete_left();
  Result<void> complete_claimed(bool is_new);
  void remove_files();

  std::string path_;
  trace_dat::Journal journal_;
  trace_dat::NamedFile partial_;
  trace_dat::Metadata metadata_;
  std::vector<trace_dat::CpuStream> streams_;
  std::uint32_t cpus_;
  std::uint64_t needed_ = 0;    // bytes that finish() will need before it can free any
  std::uint64_t reserved_ = 0;  // bytes reserved for that
  bool replaced_ = false;
  bool finished_ = false;
  bool is_damaged_ = false;  // its journal, which is to be kept
};

// Makes one file of a recording whose recorder has not finished it. One that was left at PATH.new, beside an older one,
// goes by both names, and takes the place. EALREADY: it is complete as it is; EBUSY: it is being recorded; EBADMSG: not
// one of ours, or damaged; ENOENT: it is not there, or its events are not beside it; EPERM, EEXIST: what has the name
// of a file beside it is none of its files; ENOSPC and others: it stays as it is, and another try goes on from there.
// Where the older one cannot be moved it is completed beside that, and the error says so.
Result<Completed> complete_recording(const std::string& path);

}  // namespace landtrace::output
