// Trace files of several hosts as one: their clocks aligned, and what each host numbers by itself told apart.
//
// Each CPU of each host that has events is a CPU of the file. A task is HOST:NAME. Its number is the host's own where
// no other host has that too; else one that Linux gives to nobody. Events with the same name and fields are one type.
// An event landtrace:fleet_host for each host says which CPUs are its, and how well its clock was known.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "fleet/clock_offset.hpp"
#include "output/trace_dat/reader.hpp"
#include "output/trace_dat/writer.hpp"

namespace landtrace::fleet {

class SnapshotMerge {
 public:
  // Events behind `until_ns`, in the file's time, are left out. The writer has CPUs 0 to most_cpus - 1.
  SnapshotMerge(output::TraceDatWriter& writer, std::uint32_t most_cpus, std::uint64_t until_ns)
      : writer_(writer), most_cpus_(most_cpus), until_ns_(until_ns) {}

  struct Host {
    std::string host;
    std::string domain;
    std::int64_t to_file_ns = 0;            // is added to its times
    std::optional<std::uint64_t> bound_ns;  // how much that may be wrong; none: nobody knows, and nothing is left out
    std::uint64_t left = 0;                 // events that were too many to be sent
    std::uint32_t most_cpus = ~0u;          // of the file's, that are there for it
  };
  // Events that one host may bring that no host before it has had: it cannot take all numbers.
  static constexpr std::size_t kMostHostTypes = 4096;
  struct Taken {
    std::uint64_t events = 0;
    std::uint64_t later = 0;  // events that were left out
    std::uint64_t lost = 0;
    std::uint64_t oldest_ns = 0;  // in the file's time; 0: there is no event
    std::string damage = {};      // what is wrong with its file, of which the rest was taken
    std::uint64_t without_room = 0;  // events that were left out, as it has more CPUs or types than there is room for
    std::string no_room = {};        // why
  };
  // What the writer says, as of a full disk.
  Result<Taken> add(const Host& host, output::TraceDatReader& reader);

 private:
  struct Numbers {
    std::unordered_map<std::int32_t, std::int32_t> tids;
    std::map<std::uint32_t, std::uint32_t> cpus;
    std::unordered_map<std::uint16_t, std::uint16_t> types;
    std::size_t new_types = 0;
    std::string no_room = {};  // why there was no number for something
  };
  std::int32_t number_of(Numbers& numbers, const Host& host, std::int32_t tid, const output::TraceDatReader& reader);
  std::int32_t process_of(Numbers& numbers, const Host& host, std::int32_t tgid, const output::TraceDatReader& reader);
  std::int32_t new_number(std::int32_t tid);
  // nullopt: there is no room, for the reason that the numbers say.
  std::optional<std::uint32_t> cpu_of(Numbers& numbers, const Host& host, std::uint32_t cpu);
  std::optional<std::uint16_t> type_of(Numbers& numbers, const output::EventType& type);
  Result<std::uint16_t> own_type();
  Result<void> add_event(Numbers& numbers, const Host& host, output::TraceDatReader& reader, output::Record record);
  void add_objects(Numbers& numbers, const Host& host, const output::TraceDatReader& reader);
  Result<void> add_host_event(Numbers& numbers, const Host& host, const Taken& taken, std::uint64_t time_ns);

  output::TraceDatWriter& writer_;
  const std::uint32_t most_cpus_;
  const std::uint64_t until_ns_;
  std::uint32_t cpus_ = 0;  // that have been given out
  std::set<std::int32_t> tids_;
  std::int32_t next_tid_ = 1 << 22;  // Linux numbers no task so high
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::uint16_t> types_;
  std::set<std::uint16_t> ids_;
  std::vector<std::byte> payload_;
};

}  // namespace landtrace::fleet
