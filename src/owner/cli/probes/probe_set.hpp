// The probes that a command has defined in a domain, in a group of their own. They go with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "cli/probes/probe_text.hpp"
#include "cli/probes/unprobed_programs.hpp"
#include "ipc/tree_client.hpp"

namespace landtrace::cli {

class ProbeSet {
 public:
  // Nothing is defined yet. `command` says what program a probe is of that names none.
  static Result<ProbeSet> connect(const std::string& socket, const std::vector<std::string>& command);
  ProbeSet(ProbeSet&&) = default;
  ProbeSet& operator=(ProbeSet&&) = delete;
  // Takes away what was defined; what others listen to by now stays. The session that listened must have stopped.
  ~ProbeSet();

  // SYSTEM:EVENT, which nobody else has: where the name is taken it gets a number. An error is a sentence, with the
  // mistake's place where it is in an argument.
  // Of a pattern that is one event at all functions that fit it.
  Result<std::string> define(const ProbeText& probe);
  // Of a pattern: SYSTEM:* of a system that nobody else has, with an event for each function that fits it.
  Result<std::string> define_each(const ProbeText& probe);
  // How often its place was hit since; of returns, how often the function was called.
  Result<std::uint64_t> hits(const std::string& event);
  // One event at many places: `id` is the place's index, and of returns `ns` how long the call took.
  struct NumberedPlace {
    std::string path;
    std::uint64_t offset = 0;
  };
  enum class Side : std::uint8_t { kCall, kReturn };
  Result<std::string> define_numbered(const std::string& name, const std::vector<NumberedPlace>& places, Side side);

 private:
  struct Defined {
    std::string group;
    std::string name;  // malloc; "": all of the group
  };
  ProbeSet(ipc::TreeClient tree, std::string folder, std::vector<std::string> command)
      : tree_(std::move(tree)), folder_(std::move(folder)), command_(std::move(command)) {}

  [[nodiscard]] Fd lock() const;
  Result<std::string> free_name(const std::string& group, const std::string& name);
  Result<void> write(const std::string& lines);
  Result<void> define_as(const ProbeText& probe, const Defined& event, const std::string& path);
  Result<std::string> free_group(const std::string& group);
  tl::unexpected<Error> why_not(const ProbeText& probe, const std::string& path, const std::string& line,
                                const Error& error);
  Result<std::string> read(const std::string& file);
  // From here on the definition goes with this object, or its process.
  void keep(const std::string& group, const std::string& name);
  void remove(const std::string& line);

  ipc::TreeClient tree_;
  std::string folder_;  // of the domain's socket
  std::vector<std::string> command_;
  std::vector<Defined> defined_;
  std::optional<UnprobedPrograms> unprobed_;  // noted as long as there are probes
};

}  // namespace landtrace::cli
