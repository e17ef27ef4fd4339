#include "attach/agent_status.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "agent/presence.hpp"
#include "ipc/socket.hpp"

namespace landtrace::attach {
namespace {

constexpr const char* kAgent = "liblandtrace-agent.so";

bool is_served(const std::string& socket) {
  const int fd = ipc::connect_plain(socket.c_str(), true);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

}  // namespace

std::optional<AgentStatus> status_of_agent(const ProgramMemory& memory, const std::vector<MappedObject>& objects) {
  for (const MappedObject& object : objects) {
    if (object.name() != kAgent) continue;
    const std::uint64_t at = object.find(memory, agent::kPresenceSymbol);
    agent::Presence presence{};
    if (at == 0 || !memory.read(at, presence) || presence.magic != agent::kPresenceMagic || presence.begun == 0)
      continue;
    presence.socket[sizeof presence.socket - 1] = '\0';
    return AgentStatus{presence.socket, is_served(presence.socket)};
  }
  return std::nullopt;
}

std::string why_not_begun(int code, const std::string& socket) {
  switch (code) {
    case EPERM:
      return fmt::format("the domain at {} is another user's than its own, or root's, and a program trusts no others",
                         socket);
    case EACCES:
      return fmt::format("its user may not reach the domain at {}", socket);
    case ENOENT:
    case ECONNREFUSED:
      return fmt::format("it sees nobody who serves a domain at {}", socket);
    case EBUSY:
      return "it is in another domain already";
    default:
      return fmt::format("it does not get into the domain at {}: {}", socket, errno_text(code));
  }
}

}  // namespace landtrace::attach
