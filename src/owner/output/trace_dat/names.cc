#include "output/trace_dat/names.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "output/trace_dat/file_ops.hpp"

namespace landtrace::output::trace_dat {

bool swap_names(const std::string& a, const std::string& b) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

Result<void> rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return fail_errno("rename " + from + " to " + to);
  return {};
}

Result<void> rename_over_unused(const std::string& from, const std::string& to) {
  remove_aside(to);
  return rename_file(from, to);
}

Result<void> replace_file(const std::string& from, const std::string& to, int replaced) {
  if (!swap_names(from, to)) return rename_file(from, to);
  if (is_at(replaced, from)) ::unlink(from.c_str());
  return {};
}

}  // namespace landtrace::output::trace_dat
