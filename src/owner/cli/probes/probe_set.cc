#include "cli/probes/probe_set.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <tuple>
#include <utility>

#include "cli/environment.hpp"
#include "cli/event_rules.hpp"
#include "cli/failure.hpp"
#include "cli/probes/libc_parameters.hpp"
#include "cli/probes/logged_mistake.hpp"
#include "cli/probes/probed_object.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kProbeFile = "uprobe_events";
constexpr const char* kNumberedGroup = "probes";
constexpr unsigned kMostOfOneName = 1000;
// Of many definitions, written at one time.
constexpr std::size_t kMuchText = 16'384;
// An owner may need a moment to see that nobody listens any more.
constexpr int kRemovals = 20;
constexpr useconds_t kRemovalPause_us = 10'000;

std::string removal_of(const std::string& group, const std::string& name) {
  return fmt::format("-:{}/{}", group, name);
}

// Of all lines of the profile whose definition has that name.
std::uint64_t hits_in(const std::string& profile, const std::string& definitions, const std::string& name) {
  std::istringstream profile_lines(profile);
  std::istringstream definition_lines(definitions);
  std::uint64_t hits = 0;
  std::string line;
  for (std::string definition; std::getline(definition_lines, definition) && std::getline(profile_lines, line);) {
    const std::string event = definition.substr(0, definition.find(' ') + 1);
    if (event.ends_with(name)) hits += std::strtoull(line.c_str() + line.rfind(' ') + 1, nullptr, 10);
  }
  return hits;
}

}  // namespace

Result<ProbeSet> ProbeSet::connect(const std::string& socket, const std::vector<std::string>& command) {
  LT_CHECK(check_machine_has_probes());
  LT_TRY(ipc::TreeClient tree, ipc::TreeClient::connect(socket));
  const std::size_t slash = socket.rfind('/');
  ProbeSet probes(std::move(tree), slash == std::string::npos ? "." : socket.substr(0, slash + 1), command);
  probes.unprobed_.emplace(socket);
  return probes;
}

ProbeSet::~ProbeSet() {
  for (auto defined = defined_.rbegin(); defined != defined_.rend(); ++defined) {
    remove(removal_of(defined->group, defined->name));
    tree_.forget_at_end(removal_of(defined->group, defined->name));
  }
}

void ProbeSet::keep(const std::string& group, const std::string& name) {
  defined_.push_back({group, name});
  // Of an owner that does not know of that it stays where this program is killed.
  if (tree_.open(kProbeFile, O_WRONLY | O_APPEND)) std::ignore = tree_.write_at_end(removal_of(group, name));
}

void ProbeSet::remove(const std::string& line) {
  for (int i = 0; i < kRemovals; ++i) {
    const auto done = write(line);
    if (done || done.error().code != EBUSY) return;
    ::usleep(kRemovalPause_us);
  }
}

// Two commands must not find the same name free: a second definition of it would be appended to the first one.
Fd ProbeSet::lock() const {
  Fd folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::flock(folder.get(), LOCK_EX);
  return folder;
}

Result<std::string> ProbeSet::free_name(const std::string& group, const std::string& name) {
  for (unsigned i = 0; i < kMostOfOneName; ++i) {
    std::string candidate = i == 0 ? name : fmt::format("{}_{}", name, i);
    const auto known = tree_.stat(fmt::format("events/{}/{}", group, candidate));
    if (known) continue;
    if (known.error().code != ENOENT) return tl::unexpected<Error>(known.error());
    return candidate;
  }
  return fail(EEXIST, fmt::format("there are too many events that are called {}:{}", group, name));
}

Result<std::string> ProbeSet::free_group(const std::string& group) {
  for (unsigned i = 0; i < kMostOfOneName; ++i) {
    std::string candidate = i == 0 ? group : fmt::format("{}_{}", group, i);
    const auto known = tree_.stat("events/" + candidate);
    if (known) continue;
    if (known.error().code != ENOENT) return tl::unexpected<Error>(known.error());
    return candidate;
  }
  return fail(EEXIST, fmt::format("there are too many systems of events that are called {}", group));
}

Result<void> ProbeSet::write(const std::string& line) {
  LT_CHECK(tree_.open(kProbeFile, O_WRONLY | O_APPEND));
  auto written = tree_.write(line + "\n");
  tree_.close();
  return written;
}

Result<std::string> ProbeSet::define(const ProbeText& probe) {
  LT_TRY(const std::string path, find_probed_object(probe, command_));
  const Fd locked = lock();
  const std::string group = probe.group();
  LT_TRY(const std::string name, free_name(group, probe.event_name()));
  LT_CHECK(define_as(probe, {group, name}, path));
  return fmt::format("{}:{}", group, name);
}

Result<std::string> ProbeSet::define_each(const ProbeText& probe) {
  LT_TRY(const std::string path, find_probed_object(probe, command_));
  const Fd locked = lock();
  LT_TRY(const std::string group, free_group(probe.name.empty() ? ProbeText::group_of_many(path) : probe.name));
  LT_CHECK(define_as(probe, {group, ""}, path));
  return group + ":*";
}

Result<void> ProbeSet::define_as(const ProbeText& probe, const Defined& event, const std::string& path) {
  if (const std::string text = misplaced_text(probe, path); !text.empty()) {
    return fail(EINVAL, fmt::format("{}: {}: {}", probe.option, probe.place, text));
  }
  const std::string arguments =
      probe.is_usdt ? probe.arguments : with_libc_parameters(path, probe.function, probe.arguments);
  const std::string line =
      fmt::format("{}:{}/{} {}:{}{}{}", probe.is_return ? 'r' : 'p', event.group, event.name.empty() ? "*" : event.name,
                  path, probe.place_in_object(), arguments.empty() ? "" : " ", arguments);
  keep(event.group, event.name);
  if (auto written = write(line); !written) {
    tree_.forget_at_end(removal_of(event.group, event.name));
    defined_.pop_back();
    return why_not(probe, path, line, written.error());
  }
  if (!probe.is_pattern()) return {};
  const auto left_out = find_mistake(tree_, line);
  if (left_out) complain(fmt::format("{}: {}: {}", probe.option, probe.place, left_out->what));
  return {};
}

// "  /usr/bin/app malloc      12" does not say of which group: the same line of the definitions does.
Result<std::uint64_t> ProbeSet::hits(const std::string& event) {
  const auto is_it = [&](const Defined& one) { return fmt::format("{}:{}", one.group, one.name) == event; };
  const auto defined = std::find_if(defined_.begin(), defined_.end(), is_it);
  if (defined == defined_.end()) return fail(ENOENT, "there is no " + event);
  LT_TRY(std::string definitions, read(kProbeFile));
  for (;;) {
    LT_TRY(const std::string profile, read("uprobe_profile"));
    LT_TRY(std::string again, read(kProbeFile));
    if (again == definitions)
      return hits_in(profile, definitions, fmt::format(":{}/{} ", defined->group, defined->name));
    definitions = std::move(again);  // some came or went between
  }
}

Result<std::string> ProbeSet::read(const std::string& file) {
  LT_CHECK(tree_.open(file, O_RDONLY));
  std::string text;
  for (;;) {
    LT_TRY(const std::string part, tree_.read());
    if (part.empty()) break;
    text += part;
  }
  tree_.close();
  return text;
}

Result<std::string> ProbeSet::define_numbered(const std::string& name, const std::vector<NumberedPlace>& places,
                                              Side side) {
  const Fd locked = lock();
  LT_TRY(const std::string free, free_name(kNumberedGroup, name));
  const std::string event = fmt::format("{}/{}", kNumberedGroup, free);
  keep(kNumberedGroup, free);
  const std::string command = (side == Side::kCall ? "p:" : "r:") + event;
  const char* const arguments = side == Side::kCall ? "" : " ns=$elapsed:u64";
  std::string lines;
  for (std::size_t i = 0; i < places.size(); ++i) {
    lines += fmt::format("{} {}:{:#x} id=\\{}:u32{}\n", command, places[i].path, places[i].offset, i, arguments);
    if (lines.size() < kMuchText && i + 1 < places.size()) continue;
    lines.pop_back();
    LT_CHECK(write(lines));
    lines.clear();
  }
  return fmt::format("{}:{}", kNumberedGroup, free);
}

tl::unexpected<Error> ProbeSet::why_not(const ProbeText& probe, const std::string& path, const std::string& line,
                                        const Error& error) {
  const auto mistake = find_mistake(tree_, line);
  if (error.code == ENOENT && !mistake) {
    return fail(ENOENT, "the owner of the domain knows no probes: it is an older one");
  }
  if (mistake && error.code == ENOENT && probe.is_pattern()) {
    return fail(ENOENT, fmt::format("{}: {}", probe.option, nothing_fits_text(probe, path)));
  }
  const std::size_t arguments = line.size() - probe.arguments.size();
  if (mistake && mistake->column >= arguments) {
    return pointed_at(probe.option, mistake->what, probe.place + " " + probe.arguments,
                      probe.place.size() + 1 + mistake->column - arguments);
  }
  // Where the owner takes parameters for something else it says so, as a kernel does.
  const bool has_parameters = probe.function.ends_with(')');
  if ((!mistake || has_parameters) && !probe.is_usdt && !probe.is_pattern()) {
    if (const std::string text = missing_function_text(probe, path); !text.empty()) {
      return fail(error.code, fmt::format("{}: {}", probe.option, text));
    }
  }
  return fail(error.code,
              fmt::format("{}: {}: {}", probe.option, probe.place, mistake ? mistake->what : sentence(error)));
}

}  // namespace landtrace::cli
