#include "tracefs/node.hpp"

namespace landtrace::tracefs {

Result<void> Folder::make_folder(std::string_view, const Caller&) { return fail(EPERM, "no folders are made here"); }
Result<void> Folder::remove_folder(std::string_view, const Caller&) { return fail(EPERM, "this folder stays"); }

Result<std::size_t> OpenFile::read(const Caller&, std::span<char>, std::uint64_t) {
  return fail(EINVAL, "the file is not readable");
}
Result<std::size_t> OpenFile::write(const Caller&, std::string_view, std::uint64_t) {
  return fail(EINVAL, "the file is not writable");
}
Result<int> OpenFile::ioctl(const Caller&, unsigned, std::uint64_t) { return fail(ENOTTY, "no such request"); }
short OpenFile::ready() { return POLLIN | POLLOUT; }

}  // namespace landtrace::tracefs
