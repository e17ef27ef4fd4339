// Loads the agent that carries out probes (agent_object/) where the domain has any.
#pragma once

#include <string>

namespace landtrace::preload {

// When the program starts, before it has threads. A program of a domain without probes is not touched: whether
// there are any says a file beside the domain's socket.
void load_agent_if_wanted(const std::string& socket);

// The agent's thread, which a program with a domain that has probes has beside its own: as landtrace_agent_set_thread()
// has it. Nothing where there is none, or where others have loaded it.
enum class AgentThread { kEnded, kThere, kNotInChildren };
void set_agent_thread(AgentThread wanted);
// Whether that is heard by anybody.
bool has_agent();

// What a program does that a second thread would be in the way of.
template <typename Call>
int without_agent_thread(const Call& call) {
  set_agent_thread(AgentThread::kEnded);
  const int result = call();
  set_agent_thread(AgentThread::kThere);
  return result;
}

}  // namespace landtrace::preload
