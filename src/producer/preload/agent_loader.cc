#include "preload/agent_loader.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "client/owner_trace.hpp"
#include "ipc/path.hpp"

namespace landtrace::preload {
namespace {

// Where an agent was loaded here.
void (*set_thread)(int) = nullptr;

// Beside the shim.
std::string agent_path() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(&load_agent_if_wanted), &self) == 0 || self.dli_fname == nullptr) return {};
  const std::string own(self.dli_fname);
  return own.substr(0, own.rfind('/') + 1) + "liblandtrace-agent.so";
}

}  // namespace

void load_agent_if_wanted(const std::string& socket) {
  if (::access(ipc::probes_mark(socket).c_str(), F_OK) != 0) return client::let_owner_trace(socket.c_str());
  // Without it the program runs as ever, and its functions are not probed: `landtrace doctor` says why.
  void* const agent = ::dlopen(agent_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (agent == nullptr) return;
  auto* const start = reinterpret_cast<int (*)(const char*)>(::dlsym(agent, "landtrace_agent_start"));
  if (start == nullptr || start(nullptr) != 0) return;
  set_thread = reinterpret_cast<void (*)(int)>(::dlsym(agent, "landtrace_agent_set_thread"));
}

bool has_agent() { return set_thread != nullptr; }

void set_agent_thread(AgentThread wanted) {
  if (has_agent()) set_thread(static_cast<int>(wanted));
}

}  // namespace landtrace::preload
