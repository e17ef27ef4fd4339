#include "cli/probes/unprobed_programs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/fd.hpp"
#include "ipc/unprobed_mark.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kMostShown = 20;
constexpr std::size_t kMostRead = 1 << 20;

std::string text_of(std::string_view line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view kind = line.substr(0, space);
  const std::string program(line.substr(std::min(space + 1, line.size())));
  if (kind == "static") return static_program_text(program);
  if (kind == "setuid") return setuid_program_text(program);
  return "";
}

}  // namespace

UnprobedPrograms::UnprobedPrograms(const std::string& socket) : file_(socket + ipc::kUnprobedSuffix) {
  const Fd made(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made) file_.clear();
}

UnprobedPrograms::~UnprobedPrograms() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

std::vector<std::string> UnprobedPrograms::texts(const std::string& socket) {
  const auto noted = read_file(socket + ipc::kUnprobedSuffix, kMostRead);
  std::set<std::string> texts;
  std::string_view left = noted ? std::string_view(*noted) : std::string_view();
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (std::string text = text_of(line); !text.empty()) texts.insert(std::move(text));
  }
  const std::size_t count = texts.size();
  std::vector<std::string> all(texts.begin(), texts.end());
  if (count <= kMostShown) return all;
  all.resize(kMostShown);
  all.push_back(fmt::format("and {} more programs were not probed", count - kMostShown));
  return all;
}

std::string static_program_text(const std::string& program) {
  return fmt::format("'{}' is linked statically: nothing can be loaded into it, and it was not probed", program);
}

std::string setuid_program_text(const std::string& program) {
  return fmt::format(
      "'{}' has rights of its own (setuid): the system lets nothing be loaded into it, and it was not "
      "probed; `landtrace attach`, as root, probes it once it runs",
      program);
}

}  // namespace landtrace::cli
