// What `landtrace doctor` finds out, one function a question.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal.hpp"

namespace landtrace::cli::doctor {

enum class State {
  kWorks,
  kMissing,  // does not work here; `advice` says what to do
  kAbsent,   // is not there, and is not needed
};

struct Check {
  const char* group;
  std::string id;  // stable, for --json
  State state;
  std::string detail;  // what was seen
  std::string advice;  // "": nothing to do
};

inline constexpr const char* kRecording = "recording";
inline constexpr const char* kFiles = "files";
inline constexpr const char* kMachine = "machine";
inline constexpr const char* kProbes = "probes";
inline constexpr const char* kDomains = "domains";

// Hosts a domain and records a program's events in it, in each way that programs have; shows its files in each way that
// they can be shown.
std::vector<Check> check_ways();
// What showing files depends on.
std::vector<Check> check_mounting();
// What the kernel, the C library and the CPU have.
std::vector<Check> check_machine();
// Whether functions can be probed, and programs that run already attached.
std::vector<Check> check_probes();
// `uid`: effective; `yama`: kernel.yama.ptrace_scope, -1 where there is none.
Check judge_attach(std::uint32_t uid, int yama);
// Who serves domains here.
std::vector<Check> check_domains();
Check check_domain(const char* id, const std::string& socket);

// Whether events can be recorded.
bool can_record(const std::vector<Check>& checks);

// Lines are broken to so many columns, as far as words are that short.
std::string human_text(const std::vector<Check>& checks, std::size_t columns = Screen::kAny);
std::string json_text(const std::vector<Check>& checks);

}  // namespace landtrace::cli::doctor
