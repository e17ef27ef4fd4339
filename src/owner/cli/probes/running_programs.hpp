// Programs that run already, of `landtrace attach` and --pid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attach/attach.hpp"
#include "base/fd.hpp"
#include "cli/command_line.hpp"
#include "cli/probes/probe_text.hpp"

namespace landtrace::cli {

// EINVAL for what is no number of a process; `option` is what it was given with.
Result<std::vector<std::uint32_t>> parse_pids(const std::string& option, const std::vector<std::string>& words);

Result<attach::Attached> attach_program(std::uint32_t pid, const std::string& socket);
// "1234 (bash) is attached to the domain at PATH; a thread of it was stopped for 0.05 ms"
std::string attached_text(const attach::Attached& attached, const std::string& socket);

// Those of --pid: a command attaches them to its domain, and ends when they have ended.
class RunningPrograms {
 public:
  // Adds --pid; check() is to be called when the options have been read.
  void add_option(Command& command);
  // EINVAL also where there is a CMD; ESRCH: one is not there.
  Result<void> check(const std::vector<std::string>& command);

  [[nodiscard]] bool any() const { return !pids_.empty(); }
  [[nodiscard]] const std::vector<std::uint32_t>& pids() const { return pids_; }
  // What stands for CMD where a probe names no program, or one by its name: the first one's file.
  [[nodiscard]] std::vector<std::string> as_command(const std::vector<std::string>& command) const;
  // An object without a folder is the one that a program has mapped, if any has.
  void find_object(ProbeText& probe) const;

  // All of them, once everything is ready; says for how long each was stopped.
  Result<void> attach_to(const std::string& socket) const;
  [[nodiscard]] bool have_ended() const;
  // What could not be probed, while the probes are there: in those that still run, and, of the events, in others, such
  // as CMD.
  void tell_refusals(const std::string& socket, const std::vector<std::string>& events,
                     const std::vector<std::string>& command) const;

 private:
  std::vector<std::string> words_;
  std::vector<std::uint32_t> pids_;
  std::vector<Fd> processes_;  // open as pidfds: another process may have the number later
};

}  // namespace landtrace::cli
