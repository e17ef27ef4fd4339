#include "cli/probes/attached.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "cli/environment.hpp"

namespace landtrace::cli {

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
  return attach::attach({pid, agent, std::filesystem::absolute(socket, error).lexically_normal().string()});
}

std::string attached_text(const attach::Attached& attached, const std::string& socket) {
  if (attached.was_attached) return fmt::format("{} is attached to the domain at {} already", attached.name, socket);
  return fmt::format("{} is attached to the domain at {}; a thread of it was stopped for {:.2f} ms", attached.name,
                     socket, static_cast<double>(attached.stopped_ns) / 1e6);
}

}  // namespace landtrace::cli
