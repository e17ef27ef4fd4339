#include "base/end_with_parent.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace landtrace {
namespace {

constexpr const char* kParentVariable = "LANDTRACE_PARENT";

// A parent in another PID namespace has no number here, and it stays so when it has ended.
bool is_there(const char* parent) {
  const pid_t now = ::getppid();
  return now == 0 || std::to_string(now) == parent;
}

}  // namespace

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const char* const parent = std::getenv(kParentVariable);
  if (parent == nullptr) return;
  if (!is_there(parent)) ::kill(::getpid(), SIGTERM);
  ::unsetenv(kParentVariable);  // it is not for programs that this one starts
}

std::string parent_variable() { return std::string(kParentVariable) + "=" + std::to_string(::getpid()); }

std::vector<char*> environment_with(std::vector<std::string>& variables) {
  std::vector<char*> all;
  for (std::string& one : variables) all.push_back(one.data());
  for (char** one = environ; *one != nullptr; ++one) all.push_back(*one);
  all.push_back(nullptr);
  return all;
}

}  // namespace landtrace
