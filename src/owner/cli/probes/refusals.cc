#include "cli/probes/refusals.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "agent/site.hpp"
#include "attach/agent_status.hpp"
#include "cli/probes/unprobed_programs.hpp"
#include "cli/quantity.hpp"
#include "cli/static_program.hpp"
#include "code/analysis.hpp"
#include "ipc/socket.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kMostPlaces = 20;

// "libc.so.6:malloc", or "libc.so.6:0x1234" where no function begins there.
class PlaceNames {
 public:
  std::string text(const std::string& object, std::uint64_t offset) {
    const std::string file = object.substr(object.rfind('/') + 1);
    auto found = analyses_.find(object);
    if (found == analyses_.end()) {
      auto analysis = code::Analysis::open(object);
      found = analyses_.emplace(object, analysis ? std::optional(*std::move(analysis)) : std::nullopt).first;
    }
    const auto& analysis = found->second;
    const code::Function* const function = analysis ? analysis->function_at(offset) : nullptr;
    if (function == nullptr || analysis->names(*function).empty() || analysis->offset_of(*function) != offset) {
      return fmt::format("{}:{:#x}", file, offset);
    }
    return fmt::format("{}:{}", file, analysis->names(*function).front());
  }

 private:
  std::map<std::string, std::optional<code::Analysis>> analyses_;
};

using Refused = std::tuple<std::string, std::uint64_t, std::string>;  // object, offset, why

// What the owner answers about one event, piece by piece.
class Refusals {
 public:
  explicit Refusals(const std::vector<std::uint32_t>& known) : known_(known) {}

  void ask(int socket, const std::string& event) {
    std::string name = event + '\0';
    std::replace(name.begin(), name.end(), ':', '\0');
    for (std::uint64_t from = 0;;) {
      const auto answer = ipc::ask(socket, {.operation = ipc::Operation::kRefusedPlaces, .a = from}, name);
      if (!answer) return;  // an older owner, or one that has gone
      if (from == 0 && answer->reply.b > 0) missed_.emplace_back(event, answer->reply.b);
      take(answer->text);
      if (answer->reply.a <= from) return;
      from = answer->reply.a;
    }
  }
  // Each with the programs, "1234 (bash)".
  [[nodiscard]] const std::map<Refused, std::set<std::string>>& all() const { return all_; }
  // Events that were hit and had no room, and how often.
  [[nodiscard]] const std::vector<std::pair<std::string, std::uint64_t>>& missed() const { return missed_; }

 private:
  void take(std::string_view text) {
    const auto next = [&text] {
      const std::string_view part = text.substr(0, text.find('\0'));
      text.remove_prefix(std::min(text.size(), part.size() + 1));
      return std::string(part);
    };
    while (!text.empty()) {
      const std::string head = next(), object = next(), why = next();
      unsigned pid = 0;
      unsigned long offset = 0;
      int name_at = 0;
      if (std::sscanf(head.c_str(), "%u %lu %n", &pid, &offset, &name_at) < 2) continue;
      if (std::find(known_.begin(), known_.end(), pid) != known_.end()) continue;
      all_[{object, offset, why}].insert(fmt::format("{} ({})", pid, head.substr(static_cast<std::size_t>(name_at))));
    }
  }

  const std::vector<std::uint32_t>& known_;
  std::map<Refused, std::set<std::string>> all_;
  std::vector<std::pair<std::string, std::uint64_t>> missed_;
};

// By the file: then the loader takes nothing from the environment of who starts it.
bool changes_rights(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return false;
  if ((st.st_mode & S_ISUID) != 0 && st.st_uid != ::geteuid()) return true;
  if ((st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0 && st.st_gid != ::getegid()) return true;
  return ::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

std::vector<std::string> refusal_texts(const std::vector<std::uint32_t>& pids) {
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> programs;
  std::map<Refused, std::vector<std::uint32_t>> refused;
  for (const std::uint32_t pid : pids) {
    for (const attach::ProbedPlace& place : attach::places_in(pid)) {
      ++programs[{place.object, place.offset}];
      if (!place.refusal.empty()) refused[{place.object, place.offset, place.refusal}].push_back(pid);
    }
  }
  PlaceNames names;
  std::vector<std::string> texts;
  for (const auto& [what, whom] : refused) {
    const auto& [object, offset, why] = what;
    const std::size_t all = programs[{object, offset}];
    const std::string who =
        all == 1 ? fmt::format("process {}", whom.front()) : fmt::format("{} of {} programs", whom.size(), all);
    texts.push_back(fmt::format("{} could not be probed at {}: {}", who, names.text(object, offset), why));
  }
  return texts;
}

std::vector<std::string> refusal_texts(const std::string& socket, const std::vector<std::string>& events,
                                       const std::vector<std::uint32_t>& known) {
  if (events.empty()) return {};
  const auto connection = ipc::connect_to(socket);
  if (!connection) return {};
  ipc::set_timeout(connection->get(), ipc::kAnswerPatience_ms);
  Refusals refusals(known);
  for (const std::string& event : events) refusals.ask(connection->get(), event);
  PlaceNames names;
  std::vector<std::string> texts;
  for (const auto& [what, whom] : refusals.all()) {
    const auto& [object, offset, why] = what;
    if (texts.size() == kMostPlaces) {
      texts.push_back(fmt::format("and {} more places could not be probed", refusals.all().size() - kMostPlaces));
      break;
    }
    const std::string who = whom.size() == 1 ? "process " + *whom.begin() : fmt::format("{} programs", whom.size());
    texts.push_back(fmt::format("{} could not be probed at {}: {}", who, names.text(object, offset), why));
  }
  for (const auto& [event, count] : refusals.missed()) {
    texts.push_back(
        fmt::format("{} hits of {} were missed: a program may be in {} calls whose returns are probed, and a "
                    "thread in one hit, at a time",
                    count_text(count), event, count_text(agent::kSlots)));
  }
  return texts;
}

std::string why_without_agent(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  const std::string& program = command.front();
  if (is_static_program(program)) {
    return static_program_text(program);
  }
  if (changes_rights(path_of_program(program))) {
    return setuid_program_text(program);
  }
  return "";
}

}  // namespace landtrace::cli
