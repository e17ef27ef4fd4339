#include "attach/agent_status.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/agent.hpp"
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

std::optional<agent::Presence> presence_in(const ProgramMemory& memory, const std::vector<MappedObject>& objects) {
  for (const MappedObject& object : objects) {
    if (object.name() != agent::kAgentFile) continue;
    const std::uint64_t at = object.find(memory, agent::kPresenceSymbol);
    agent::Presence presence{};
    if (at == 0 || !memory.read(at, presence) || presence.magic != agent::kPresenceMagic || presence.begun == 0)
      continue;
    presence.socket[sizeof presence.socket - 1] = '\0';
    return presence;
  }
  return std::nullopt;
}

}  // namespace

bool has_agent(std::uint32_t pid) {
  const auto memory = ProgramMemory::open(pid);
  const auto ranges = memory ? memory->ranges() : Result<std::vector<MappedRange>>(fail(ESRCH));
  return ranges && presence_in(*memory, objects_in(*memory, *ranges)).has_value();
}

std::optional<AgentStatus> status_of_agent(const ProgramMemory& memory, const std::vector<MappedObject>& objects) {
  const auto presence = presence_in(memory, objects);
  if (!presence) return std::nullopt;
  const auto owner = owner_of(presence->socket);
  return AgentStatus{presence->socket, owner.has_value(), owner && *owner == presence->owner};
}

std::vector<ProbedPlace> places_in(std::uint32_t pid) {
  const auto memory = ProgramMemory::open(pid);
  const auto ranges = memory ? memory->ranges() : Result<std::vector<MappedRange>>(fail(ESRCH));
  if (!ranges) return {};
  std::vector<ProbedPlace> places;
  for (const MappedObject& object : objects_in(*memory, *ranges)) {
    if (object.name() != agent::kAgentFile) continue;
    const std::uint64_t at = object.find(*memory, agent::kPlacesSymbol);
    std::vector<agent::ShownPlace> shown(agent::kShownPlaces);
    if (at == 0 || !memory->read(at, shown.data(), shown.size() * sizeof shown[0])) continue;
    for (const agent::ShownPlace& one : shown) {
      const auto mapped = std::find_if(ranges->begin(), ranges->end(), [&](const MappedRange& range) {
        return range.inode == one.inode && range.path.starts_with('/');
      });
      const bool is_told = one.generation != 0 && one.state != static_cast<std::uint8_t>(agent::PlaceState::kWaiting);
      if (!is_told || mapped == ranges->end()) continue;
      const bool is_refused = one.state == static_cast<std::uint8_t>(agent::PlaceState::kRefused);
      places.push_back({mapped->path, one.offset, is_refused ? agent::text_of(agent::Reason{one.reason}) : ""});
    }
  }
  return places;
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
