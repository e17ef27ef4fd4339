#include "cli/probes/running_programs.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "attach/facts.hpp"
#include "attach/program_memory.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/mount_guard.hpp"
#include "cli/probes/refusals.hpp"
#include "cli/probes/unprobed_programs.hpp"
#include "programs/object_files.hpp"

namespace landtrace::cli {
namespace {

bool has_ended(const Fd& process) {
  pollfd waited{process.get(), POLLIN, 0};
  return ::poll(&waited, 1, 0) == 1;
}

}  // namespace

Result<std::vector<std::uint32_t>> parse_pids(const std::string& option, const std::vector<std::string>& words) {
  std::vector<std::uint32_t> pids;
  for (const std::string& word : words) {
    std::uint32_t pid = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
    if (error != std::errc() || end != word.data() + word.size() || pid == 0 || pid > INT32_MAX) {
      return fail(EINVAL, fmt::format("{}: want the number of a process, not '{}'", option, word));
    }
    pids.push_back(pid);
  }
  return pids;
}

Result<attach::Attached> attach_program(std::uint32_t pid, const std::string& socket) {
  LT_TRY(const std::string agent, find_agent());
  std::error_code error;
  return attach::attach({.pid = pid,
                         .agent = agent,
                         .socket = std::filesystem::absolute(socket, error).lexically_normal().string(),
                         .harmless_filters = guards_filters(pid)});
}

std::string attached_text(const attach::Attached& attached, const std::string& socket) {
  if (attached.was_attached) return fmt::format("{} is attached to the domain at {} already", attached.name, socket);
  return fmt::format("{} is attached to the domain at {}; a thread of it was stopped for {:.2f} ms", attached.name,
                     socket, static_cast<double>(attached.stopped_ns) / 1e6);
}

void RunningPrograms::add_option(Command& command) {
  command.repeated("--pid", words_, "Instead of CMD: a program that runs already, which is attached; until it ends",
                   {.type = "PID"});
}

Result<void> RunningPrograms::check(const std::vector<std::string>& command) {
  if (words_.empty()) return {};
  if (!command.empty()) {
    return fail(EINVAL,
                fmt::format("--pid: want programs that run already, or a CMD ('{}'), not both", command.front()));
  }
  LT_TRY(const std::vector<std::uint32_t> pids, parse_pids("--pid", words_));
  for (const std::uint32_t pid : pids) {
    const auto facts = attach::facts_of(pid);
    if (!facts) return fail(ESRCH, "--pid: " + facts.error().message);
    LT_CHECK(attach::check(*facts, attach::image_of(facts->pid)));
    Fd process(static_cast<int>(::syscall(SYS_pidfd_open, facts->pid, 0)));
    if (!process) return fail_errno(fmt::format("--pid: {}", pid));
    pids_.push_back(facts->pid);
    processes_.push_back(std::move(process));
  }
  return {};
}

std::vector<std::string> RunningPrograms::as_command(const std::vector<std::string>& command) const {
  if (pids_.empty()) return command;
  std::error_code error;
  const auto program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pids_.front()), error);
  return error ? command : std::vector<std::string>{program.string()};
}

void RunningPrograms::find_object(ProbeText& probe) const {
  if (probe.object.empty() || probe.object.find('/') != std::string::npos) return;
  for (const std::uint32_t pid : pids_) {
    const auto memory = attach::ProgramMemory::open(pid);
    const auto ranges = memory ? memory->ranges() : Result<std::vector<attach::MappedRange>>(fail(ESRCH));
    if (!ranges) continue;
    for (const attach::MappedRange& range : *ranges) {
      const std::string file = range.path.substr(range.path.rfind('/') + 1);
      std::error_code error;
      if (!range.path.starts_with('/') || !programs::is_object_called(file, probe.object)) continue;
      if (!std::filesystem::exists(range.path, error)) continue;  // deleted, or in another root folder
      probe.object = range.path;
      return;
    }
  }
}

Result<void> RunningPrograms::attach_to(const std::string& socket) const {
  std::vector<Error> ended;
  bool may_have_any = pids_.empty();
  for (std::size_t i = 0; i < pids_.size(); ++i) {
    const auto attached = attach_program(pids_[i], socket);
    if (attached) {
      complain(attached_text(*attached, socket));
    } else if (attached.error().code == ESRCH || attached.error().code == ECONNRESET || has_ended(processes_[i])) {
      ended.push_back(attached.error());
    } else {
      return tl::unexpected(attached.error());
    }
    may_have_any = may_have_any || attached || attached.error().code == ECONNRESET;
  }
  if (!may_have_any) return tl::unexpected(ended.front());
  // What these did before they ended is kept, and the others go on.
  for (const Error& error : ended) complain(sentence(error));
  return {};
}

void RunningPrograms::tell_refusals(const std::string& socket, const std::vector<std::string>& events,
                                    const std::vector<std::string>& command) const {
  for (const std::string& text : refusal_texts(pids_)) complain(text);
  for (const std::string& text : refusal_texts(socket, events, pids_)) complain(text);
  if (events.empty()) return;
  const std::string why = why_without_agent(command);
  if (!why.empty()) complain(why);
  for (const std::string& text : UnprobedPrograms::texts(socket)) {
    if (text != why) complain(text);
  }
}

bool RunningPrograms::have_ended() const {
  return !processes_.empty() && std::all_of(processes_.begin(), processes_.end(), has_ended);
}

}  // namespace landtrace::cli
