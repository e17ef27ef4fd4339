#include "cli/mount_guard/asker.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string_view>

namespace landtrace::cli::guard {
namespace {

std::uint64_t number_in(const std::string& text, const char* label, int base) {
  const std::size_t at = text.find(label);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + std::string_view(label).size(), nullptr, base);
}

std::uint64_t namespace_at(int folder, const char* path) {
  struct stat about {};
  return ::fstatat(folder, path, &about, 0) == 0 ? about.st_ino : 0;
}

}  // namespace

std::uint64_t namespace_number(const std::string& path) { return namespace_at(AT_FDCWD, path.c_str()); }

Result<Asker> Asker::find(std::uint32_t tid) {
  const std::string path = "/proc/" + std::to_string(tid);
  Fd process(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!process) return fail_errno(path);
  Fd names(::openat(process.get(), "ns/mnt", O_RDONLY | O_CLOEXEC));
  Fd root(::openat(process.get(), "root", O_PATH | O_CLOEXEC));
  Fd folder(::openat(process.get(), "cwd", O_PATH | O_CLOEXEC));
  if (!names || !root || !folder) return fail(EPERM);
  return Asker(tid, std::move(process), std::move(names), std::move(root), std::move(folder));
}

Result<std::string> Asker::file(const char* name) const {
  const Fd fd(::openat(process_.get(), name, O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno(name);
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = ::read(fd.get(), piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(n));
  return text;
}

Result<std::string> Asker::mounts() const { return file("mountinfo"); }

bool Asker::may_mount(std::span<const std::uint64_t> elsewhere) const {
  const auto status = file("status");
  if (!status || (number_in(*status, "CapEff:", 16) >> CAP_SYS_ADMIN & 1) == 0) return false;
  if (namespace_at(process_.get(), "ns/user") != namespace_number("/proc/self/ns/user")) return false;
  return std::ranges::find(elsewhere, namespace_at(process_.get(), "ns/mnt")) == elsewhere.end();
}

Result<std::string> Asker::text(std::uint64_t address) const {
  std::string text;
  char piece[64];
  while (address != 0 && text.size() < PATH_MAX) {
    const std::size_t size = sizeof piece - address % sizeof piece;  // not beyond a page
    const iovec local{piece, size};
    const iovec remote{reinterpret_cast<void*>(address), size};
    const ssize_t n = ::process_vm_readv(static_cast<pid_t>(tid_), &local, 1, &remote, 1, 0);
    if (n <= 0) return fail(n == 0 ? EFAULT : errno);
    const char* const end = std::find(piece, piece + n, '\0');
    text.append(piece, static_cast<std::size_t>(end - piece));
    if (end != piece + n) break;
    address += static_cast<std::uint64_t>(n);
  }
  return text;
}

Result<Fd> Asker::place(int number) const {
  const std::string name = number == AT_FDCWD ? "cwd" : "fd/" + std::to_string(number);
  Fd fd(::openat(process_.get(), name.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return fail(errno == ENOENT ? EBADF : errno);
  return fd;
}

Result<void> Asker::enter() const {
  if (::setns(namespace_.get(), CLONE_NEWNS) != 0) return fail(errno);
  return {};
}

Result<void> Asker::stand_there() const {
  if (::fchdir(root_.get()) != 0 || ::chroot(".") != 0 || ::fchdir(folder_.get()) != 0) return fail(errno);
  return {};
}

}  // namespace landtrace::cli::guard
