#include "attach/agent_status.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "agent/presence.hpp"
#include "ipc/socket.hpp"

namespace landtrace::attach {
namespace {

// The process that serves it; nullopt: nobody does.
std::optional<std::uint32_t> owner_of(const std::string& socket) {
  const auto connection = ipc::connect_to(socket);
  if (!connection) return std::nullopt;
  ipc::set_timeout(connection->get(), ipc::kAnswerPatience_ms);
  const auto answer = ipc::ask(connection->get(), {.operation = ipc::Operation::kAbout});
  return answer ? static_cast<std::uint32_t>(answer->reply.a) : 0;
}

}  // namespace

std::optional<AgentStatus> status_of_agent(const ProgramMemory& memory, const std::vector<MappedObject>& objects) {
  for (const MappedObject& object : objects) {
    if (object.name() != agent::kAgentFile) continue;
    const std::uint64_t at = object.find(memory, agent::kPresenceSymbol);
    agent::Presence presence{};
    if (at == 0 || !memory.read(at, presence) || presence.magic != agent::kPresenceMagic || presence.begun == 0)
      continue;
    presence.socket[sizeof presence.socket - 1] = '\0';
    const auto owner = owner_of(presence.socket);
    return AgentStatus{presence.socket, owner.has_value(), owner && *owner == presence.owner};
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
