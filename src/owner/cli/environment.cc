#include "cli/environment.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/end_with_parent.hpp"
#include "ipc/path.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kPreloadVariable = "LANDTRACE_PRELOAD";
constexpr const char* kShim = "liblandtrace-preload.so";
constexpr std::string_view kPreloadPrefix = "LD_PRELOAD=";
constexpr std::string_view kAsanPrefix = "ASAN_OPTIONS=";
// A program that was built with gcc's AddressSanitizer refuses to start where its runtime is not the first library.
constexpr const char* kAsanOption = "verify_asan_link_order=0";

// LD_PRELOAD separates its paths by spaces and colons, and has no escape for either.
Result<std::string> check_preloadable(const std::string& path) {
  if (path.find_first_of(" :") == std::string::npos) return path;
  return fail(EINVAL, path + ": a path with spaces or colons cannot be preloaded");
}

}  // namespace

Result<std::string> find_preload() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const char* const named = std::getenv(kPreloadVariable); named != nullptr && named[0] != '\0') {
    if (!fs::exists(named, error)) return fail(ENOENT, std::string(named) + " ($LANDTRACE_PRELOAD) does not exist");
    return check_preloadable(fs::absolute(named, error));
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return fail(ENOENT,
                fmt::format("/proc is not mounted here, so {} is not found; $LANDTRACE_PRELOAD can name it", kShim));
  }
  const fs::path folder = program.parent_path().parent_path();
  const fs::path shim = folder / LANDTRACE_LIBDIR / "landtrace" / kShim;
  if (!fs::exists(shim, error)) return fail(ENOENT, shim.string() + " does not exist; $LANDTRACE_PRELOAD can name it");
  return check_preloadable(shim);
}

Result<void> check_machine_has_probes() {
#if defined(__x86_64__)
  return {};
#else
  return fail(ENOTSUP, "functions cannot be probed on this machine yet: on x86-64 only");
#endif
}

Result<std::string> find_agent() {
  namespace fs = std::filesystem;
  LT_CHECK(check_machine_has_probes());
  LT_TRY(const std::string shim, find_preload());
  const fs::path agent = fs::path(shim).parent_path() / "liblandtrace-agent.so";
  std::error_code error;
  if (!fs::exists(agent, error)) return fail(ENOENT, agent.string() + " does not exist: probes are not there here");
  return agent.string();
}

Result<std::string> find_helper(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ENOENT, "/proc is not mounted here, so " + name + " is not found");
  return (program.parent_path().parent_path() / LANDTRACE_LIBDIR / "landtrace" / name).string();
}

std::vector<std::string> traced_environment(const std::string& socket, const std::string& preload) {
  const std::string socket_prefix = std::string(ipc::kSocketVariable) + "=";
  std::vector<std::string> words;
  std::string others, asan;
  for (char** word = environ; *word != nullptr; ++word) {
    const std::string_view text(*word);
    if (text.starts_with(kPreloadPrefix)) {
      others = text.substr(kPreloadPrefix.size());
    } else if (text.starts_with(kAsanPrefix)) {
      asan = text.substr(kAsanPrefix.size());
    } else if (!text.starts_with(socket_prefix)) {
      words.emplace_back(text);
    }
  }
  words.push_back(socket_prefix + socket);
  words.push_back(std::string(kPreloadPrefix) + preload + (others.empty() ? "" : ":" + others));
  words.push_back(std::string(kAsanPrefix) + (asan.empty() ? "" : asan + ":") + kAsanOption);
  return words;
}

std::vector<std::string> ending_with_this(std::vector<std::string> environment) {
  environment.insert(environment.begin(), parent_variable());
  return environment;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> words;
  for (char** word = environ; *word != nullptr; ++word) words.emplace_back(*word);
  return words;
}

std::string own_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::vector<char*> exec_array(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace landtrace::cli
