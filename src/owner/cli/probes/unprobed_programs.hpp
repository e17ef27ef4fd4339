// Programs that CMD started and that no probe can come to, as those who started them note it (ipc/unprobed_mark.hpp).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace landtrace::cli {

class UnprobedPrograms {
 public:
  // From here on they are noted, unless somebody else at the domain lets them be.
  explicit UnprobedPrograms(const std::string& socket);
  ~UnprobedPrograms();
  UnprobedPrograms(UnprobedPrograms&& other) noexcept : file_(std::exchange(other.file_, {})) {}
  UnprobedPrograms& operator=(UnprobedPrograms&&) = delete;

  // A sentence each; none where nothing is noted at the socket's domain.
  static std::vector<std::string> texts(const std::string& socket);

 private:
  std::string file_;  // "": it is not ours
};

std::string static_program_text(const std::string& program);
std::string setuid_program_text(const std::string& program);

}  // namespace landtrace::cli
