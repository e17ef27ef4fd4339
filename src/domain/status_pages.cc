#include "domain/status_pages.hpp"

#include <fcntl.h>

#include <algorithm>

namespace landtrace::domain {
namespace {

Result<Mapping> make_page(const char* name, Fd& read_only) {
  LT_TRY(const Fd fd, create_memfd(name, StatusPages::kSize));
  LT_TRY(Mapping mapping, Mapping::map(fd.get(), StatusPages::kSize, Mapping::Access::kReadWrite));
  LT_CHECK(seal_against_new_writers(fd.get()));
  // Opened anew without the right to write, so that a program gets EACCES for a writable mapping, as of the kernel's file.
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  read_only = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!read_only) return fail_errno("open " + path);
  return mapping;
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
  __atomic_store_n(&byte, after, __ATOMIC_RELEASE);
  for (const auto& [id, changed] : watchers_) changed(page, offset);
}

unsigned StatusPages::on_change(Changed changed) {
  watchers_.emplace(next_watcher_, std::move(changed));
  return next_watcher_++;
}

}  // namespace landtrace::domain
