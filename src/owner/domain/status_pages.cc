#include "domain/status_pages.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace landtrace::domain {
namespace {

// Opened anew without the right to write, so that a program gets EACCES for a writable mapping, as of the kernel's
// file.
Result<Fd> without_writing(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  Fd read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (read_only) return read_only;
  const int error = errno;
  if (::access("/proc/self", F_OK) == 0) return fail_errno("open " + path, error);
  return fail(error, "/proc is not mounted here, and a domain reaches programs by it; `mount -t proc proc /proc`");
}

Result<Mapping> make_page(const char* name, Fd& read_only) {
  LT_TRY(const Fd fd, create_memfd(name, StatusPages::kSize));
  LT_TRY(Mapping mapping, Mapping::map(fd.get(), StatusPages::kSize, Mapping::Access::kReadWrite));
  LT_CHECK(seal_against_new_writers(fd.get()));
  LT_TRY(read_only, without_writing(fd.get()));
  return mapping;
}

constexpr mode_t kFileMode = 0644;

// The file that an earlier owner has left.
Fd open_left(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat st {};
  const bool sound = fd && ::fstat(fd.get(), &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == ::geteuid() &&
                     (st.st_mode & 07777) == kFileMode && st.st_nlink == 1 &&
                     st.st_size == static_cast<off_t>(StatusPages::kSize);
  return sound ? std::move(fd) : Fd();
}

Result<Fd> make_file(const std::string& path) {
  ::unlink(path.c_str());
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!fd) return fail_errno("open " + path);
  // Programs of other users map it, too; and room that is not there would be a fault at the first change.
  int error = ::fchmod(fd.get(), kFileMode) == 0 ? 0 : errno;
  if (error == 0) error = ::posix_fallocate(fd.get(), 0, StatusPages::kSize);
  if (error == 0) return fd;
  ::unlink(path.c_str());
  return fail_errno("making " + path, error);
}

}  // namespace

Result<StatusPages> StatusPages::create() {
  StatusPages pages;
  Sheet& bits = pages.sheet(Page::kBits);
  Sheet& bytes = pages.sheet(Page::kBytes);
  LT_TRY(bits.mapping, make_page("landtrace-status-bits", bits.read_only));
  LT_TRY(bytes.mapping, make_page("landtrace-status-bytes", bytes.read_only));
  bits.taken.assign(kBits, false);
  bytes.taken.assign(kSize, false);
  return pages;
}

Result<void> StatusPages::keep_in(const std::string& path, bool go_on) {
  for (const auto& [page, name] : {std::pair(Page::kBits, path + ".bits"), std::pair(Page::kBytes, path + ".bytes")}) {
    Fd fd = go_on ? open_left(name) : Fd();
    if (!fd) {
      LT_TRY(fd, make_file(name));
    }
    LT_TRY(Mapping mapping, Mapping::map(fd.get(), kSize, Mapping::Access::kReadWrite));
    LT_TRY(Fd read_only, without_writing(fd.get()));
    std::memset(mapping.data(), 0, kSize);
    Sheet& sheet = this->sheet(page);
    sheet.mapping = std::move(mapping);
    sheet.read_only = std::move(read_only);
    sheet.path = name;
  }
  return {};
}

void StatusPages::remove_files() {
  for (Sheet& sheet : sheets_) {
    if (const std::string path = std::exchange(sheet.path, {}); !path.empty()) ::unlink(path.c_str());
  }
}

bool StatusPages::take_again(Page page, std::uint32_t place) {
  Sheet& sheet = this->sheet(page);
  if (place == 0 || place >= sheet.taken.size() || sheet.taken[place]) return false;
  sheet.taken[place] = true;
  return true;
}

Result<std::uint32_t> StatusPages::take(Page page) {
  Sheet& sheet = this->sheet(page);
  const auto free =
      std::find(sheet.taken.begin() + static_cast<std::ptrdiff_t>(sheet.lowest), sheet.taken.end(), false);
  if (free == sheet.taken.end()) return fail(EMFILE, "the status page has no place left");
  *free = true;
  const auto place = static_cast<std::size_t>(free - sheet.taken.begin());
  sheet.lowest = place + 1;
  return static_cast<std::uint32_t>(place);
}

void StatusPages::give_back(Page page, std::uint32_t place) {
  if (place == 0) return;
  set(page, place, false);
  Sheet& sheet = this->sheet(page);
  sheet.taken[place] = false;
  sheet.lowest = std::min<std::size_t>(sheet.lowest, place);
}

void StatusPages::set(Page page, std::uint32_t place, bool on) {
  if (place == 0) return;
  const std::size_t offset = page == Page::kBits ? place / 8 : place;
  const auto mask = static_cast<unsigned char>(page == Page::kBits ? 1u << place % 8 : 1u);
  auto& byte = reinterpret_cast<unsigned char&>(sheet(page).mapping.data()[offset]);
  const auto before = byte;
  const auto after = static_cast<unsigned char>(on ? before | mask : before & ~mask);
  if (before == after) return;
  // Has no partner among us: programs look at the byte and then write to their file.
  __atomic_store_n(&byte, after, __ATOMIC_RELEASE);
  for (Watcher* const watcher : watchers_) watcher->page_changed(page, offset);
}

}  // namespace landtrace::domain
