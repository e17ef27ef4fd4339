// Which events of a recording are wanted: the options that `report` and `export` have in common.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/command_line.hpp"
#include "language/filter/cpu_list.hpp"
#include "output/record.hpp"
#include "output/text/own_events.hpp"
#include "reader/event_filter.hpp"
#include "reader/expression_filter.hpp"

namespace landtrace::cli {

class Selection {
 public:
  // What the user typed.
  struct Texts {
    std::vector<std::string> events = {};
    std::string filter = {};
    std::string from = {};
    std::string to = {};
    std::vector<std::string> pids = {};
    std::vector<std::string> tids = {};
    std::string cpus = {};
    std::vector<std::string> comms = {};
  };
  static void add_options(Command& command, Texts& texts, const std::string& verb);
  // Those of them that are about threads and CPUs, without --pid.
  static void add_place_options(Command& command, Texts& texts);
  // EINVAL.
  static Result<Selection> parse(const Texts& texts);

  // What the recording has by now. EINVAL: --filter is none for any event that is wanted, with the place.
  Result<void> know(const std::map<std::uint16_t, output::EventType>& types, std::uint32_t cpus);

  // Stacks may be, whatever -e says.
  [[nodiscard]] bool wants(const output::EventType& type) const {
    return events_.wants(type) || output::is_user_stack(type);
  }
  [[nodiscard]] bool wants_time(std::uint64_t time_ns) const { return time_ns >= from_ns_ && time_ns <= to_ns_; }
  [[nodiscard]] bool wants_cpu(std::uint32_t cpu) const { return !cpus_ || cpus_->has(cpu); }
  // All of it but the time. `task` may be nullptr. A recording's events in their order: with --filter, or an -e
  // that is not for stacks, a stack goes with the event before it of its thread.
  [[nodiscard]] bool wants(const output::Record& record, const output::Task* task);
  // Whether one is wanted depends on the events before it: there are such stacks.
  [[nodiscard]] bool goes_by_order() const { return has_stacks_; }
  // The same of an event that is no such stack, from any thread.
  [[nodiscard]] bool wants_itself(const output::Record& record, const output::Task* task) const {
    const std::uint16_t id = record.event_id;
    // Of an event that nothing describes no name is known.
    const bool is_named = known_[id] ? wanted_[id] : events_.wants_all() && filter_.is_empty();
    return is_named && (!has_places_ || is_in_place(record, task)) && filter_.passes(record, task);
  }
  // Whether what is behind the last event is wanted, too.
  [[nodiscard]] bool has_no_end() const { return to_ns_ == ~0ull; }
  [[nodiscard]] const std::vector<event::Pattern>& patterns() const { return events_.patterns(); }

 private:
  // Of these CPUs, processes and threads.
  [[nodiscard]] bool is_in_place(const output::Record& record, const output::Task* task) const;

  reader::EventFilter events_;
  std::bitset<65536> wanted_;  // by id
  std::bitset<65536> known_;   // …, whether it has been looked at
  std::bitset<65536> stacks_;  // …, whether it is a stack that goes with its event
  bool has_stacks_ = false;    // … of those there are some
  std::unordered_map<std::int32_t, bool> last_;  // whether a thread's last event was wanted, where there are stacks
  reader::ExpressionFilter filter_;
  std::uint64_t from_ns_ = 0;
  std::uint64_t to_ns_ = ~0ull;
  bool has_places_ = false;  // not all of those that follow are wanted
  std::vector<std::uint32_t> pids_;
  std::vector<std::uint32_t> tids_;
  std::string cpu_list_;
  std::optional<language::CpuMask> cpus_;
  std::vector<std::string> comms_;  // with globs
};

}  // namespace landtrace::cli
