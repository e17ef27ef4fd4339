#include "output/export/target.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace landtrace::output {
namespace {

// Not where something was before, or what is written is always appended.
bool is_file_from_its_beginning(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ::lseek(fd, 0, SEEK_CUR) == 0 &&
         (::fcntl(fd, F_GETFL) & O_APPEND) == 0;
}

}  // namespace

Target::Target(int fd) : fd_(fd), can_go_back_(is_file_from_its_beginning(fd)) {}

void Target::flush() {
  if (shown_ != nullptr) bytes_ = shown_(bytes_);
  if (result_) result_ = write_all(fd_, bytes_.data(), bytes_.size());
  written_ += bytes_.size();
  bytes_.clear();
}

void Target::begin_again() {
  flush();
  written_ = 0;
  if (another_ >= 0) {
    fd_ = another_;
    return;
  }
  if (result_ && (::ftruncate(fd_, 0) != 0 || ::lseek(fd_, 0, SEEK_SET) != 0)) result_ = fail_errno("the file");
}

void Target::overwrite(std::uint64_t offset, std::string_view bytes) {
  flush();
  if (!result_) return;
  const auto written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (written != static_cast<ssize_t>(bytes.size())) result_ = fail_errno("the beginning of the file");
}

}  // namespace landtrace::output
