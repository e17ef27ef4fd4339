// Writes a trace.dat file, version 6, that trace-cmd and KernelShark read.
//
// The format wants the events of each CPU in one piece, so while events come in each CPU has a temporary file
// PATH.cpuN beside the target; finish() moves them into the target, freeing the temporary's blocks as it
// goes, so that no second copy ever needs room on the disk. The room that finish() needs is reserved in the
// target from the start: a disk that runs full ends the recording, but what append() accepted can still be
// finished.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "output/cpu_stats.hpp"
#include "output/record.hpp"
#include "output/trace_dat/cpu_stream.hpp"
#include "output/trace_dat/metadata.hpp"

namespace landtrace::output {

// Not thread-safe. Everything that takes a CPU number wants one below Options::cpus + Options::spare.
class TraceDatWriter {
 public:
  struct Options {
    std::uint32_t cpus = 1;
    std::uint32_t spare =
        0;  // further streams, numbered behind the CPUs; those at the end that stay empty are left out
    std::string clock = "mono";  // a name of tracefs' trace_clock
    std::string kallsyms = {};   // lines of /proc/kallsyms, for formats that print addresses as symbols
  };

  // Replaces the file at `path`. EINVAL: not a regular file, or cpus is 0 or above 4096; EBUSY: another
  // writer has it; ENOSPC and what open(2) says.
  static Result<TraceDatWriter> create(const std::string& path, Options options);

  TraceDatWriter(TraceDatWriter&&) = default;
  TraceDatWriter& operator=(TraceDatWriter&&) = delete;
  // Without finish(): removes all files if nothing was recorded, otherwise leaves the temporary ones
  // complete.
  ~TraceDatWriter();

  // Appends an event; within a CPU in the order of time (an older one is kept too, at 8 bytes more). Copies
  // the payload, which readers see padded with zeros to a multiple of 4. E2BIG above kMaxPayload, EINVAL for
  // an unknown CPU. When a page cannot be written, the CPU's first error names the file and the reason; from
  // then on its records are refused with the bare code and counted as dropped.
  Result<void> append(const Record& record);

  // `count` events (or kLostUnknown) of this CPU were missed between its last record and its next one. When
  // no record follows, only the CPU's overrun counter tells.
  void lost(std::uint32_t cpu, std::uint64_t count);

  // Needed until finish(), in any order with append(). A later one with the same id replaces the earlier.
  void add_event(EventType type);
  void set_task(std::int32_t tid, Task task);
  // An object on stacks. `first_seen` is in the clock of records.
  void add_object(MappedObject object);

  // Completes the file and removes the temporaries. `stats` are the rings' counters, by CPU; where there are
  // none, entries, bytes and overrun are what came through this writer. Records that were refused are added
  // to `dropped`. On an error the target is readable as far as it got, and the error names the temporaries
  // that still hold the rest. Nothing may be called afterwards.
  Result<void> finish(std::span<const CpuStats> stats = {});

  // Bytes of entries accepted so far.
  [[nodiscard]] std::uint64_t bytes_written() const;

 private:
  TraceDatWriter(trace_dat::NamedFile target, Options options);

  void drop_empty_spares();
  Result<void> open_stream(std::uint32_t cpu);
  Result<void> reserve_more(std::uint64_t bytes);
  [[nodiscard]] std::vector<CpuStats> final_stats(std::span<const CpuStats> stats) const;
  Result<void> write_metadata(const std::vector<CpuStats>& stats, const std::vector<trace_dat::Region>& regions,
                              std::uint64_t data_offset);
  Result<void> move_streams(std::vector<trace_dat::Region>& regions);
  void abandon();

  trace_dat::NamedFile target_;
  trace_dat::Metadata metadata_;
  std::vector<trace_dat::CpuStream> streams_;
  std::uint32_t cpus_;
  std::uint64_t needed_ = 0;    // bytes that finish() will need before it can free any
  std::uint64_t reserved_ = 0;  // bytes reserved in the target for that
  bool finished_ = false;
};

}  // namespace landtrace::output
