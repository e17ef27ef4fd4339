// Whether a program has the agent already, and in which domain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attach/program_memory.hpp"

namespace landtrace::attach {

// Whether it has one that has begun; false also where that cannot be seen.
bool has_agent(std::uint32_t pid);

struct AgentStatus {
  std::string socket;  // of its domain
  bool is_served = false;
  // … and the agent is with the one who serves it now.
  bool is_followed = false;
};
// nullopt: it has none, or one that has not begun.
std::optional<AgentStatus> status_of_agent(const ProgramMemory& memory, const std::vector<MappedObject>& objects);

// What became of the probes in a program.
struct ProbedPlace {
  std::string object;  // path of its file
  std::uint64_t offset = 0;
  std::string refusal;  // "": it is probed
};
// Those whose object the program has mapped. Empty where there is no agent, or its memory cannot be read.
std::vector<ProbedPlace> places_in(std::uint32_t pid);

// A sentence's end for what the agent's beginning has returned.
std::string why_not_begun(int code, const std::string& socket);

}  // namespace landtrace::attach
