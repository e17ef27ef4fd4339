// A child of a soak: it ends with its supervisor.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace landtrace::soak {

struct Command {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;
};

// The pid, or -1.
inline pid_t start(const Command& command) {
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(125);
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execv(words[0], words.data());
  ::_exit(127);
}

}  // namespace landtrace::soak
