#include "segments/users.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>

namespace landtrace::segments {
namespace {

Result<Fd> make_segment(std::uint64_t bytes) {
  LT_TRY(Fd fd, create_memfd("landtrace-data", bytes));
  LT_CHECK(seal_seals(fd.get()));
  return fd;
}

void begin(User& user) {
  user.data().version = plan::kLayoutVersion;
  user.data().magic = plan::kDataMagic;
}

}  // namespace

Result<std::uint32_t> Users::find_or_create(std::uint32_t uid) {
  for (std::uint32_t i = 0; i < users_.size(); ++i) {
    if (users_[i].uid == uid) return i;
  }
  if (users_.size() >= plan::kMaxUsers) {
    return fail(ENOSPC, "the domain has " + std::to_string(plan::kMaxUsers) + " users, as many as it can");
  }
  LT_TRY(Fd fd, make_segment(data_bytes_));
  LT_TRY(Mapping mapping, Mapping::map(fd.get(), data_bytes_, Mapping::Access::kReadWrite));
  users_.push_back({uid, next_serial_++, std::move(fd), std::move(mapping)});
  begin(users_.back());
  return static_cast<std::uint32_t>(users_.size() - 1);
}

Result<void> Users::replace(std::uint32_t index, std::uint32_t uid) {
  User& user = users_[index];
  LT_TRY(Fd fd, make_segment(data_bytes_));
  LT_CHECK(user.mapping.map_in_place(fd.get()));
  user.uid = uid;
  user.fd = std::move(fd);
  begin(user);
  // Pairs with the acquire load in serial_now().
  __atomic_store_n(&user.serial, next_serial_++, __ATOMIC_RELEASE);
  return {};
}

std::uint64_t User::memory() const {
  constexpr std::uint64_t kBlock = 512;
  struct stat st {};
  return ::fstat(fd.get(), &st) == 0 ? static_cast<std::uint64_t>(st.st_blocks) * kBlock : 0;
}

void Users::trim(const User& user) const {
  constexpr std::uint64_t kPage = 4096;
  for (const auto& [offset, size] : arena_.free_ranges()) {
    const std::uint64_t begin = (offset + kPage - 1) / kPage * kPage;
    const std::uint64_t end = (offset + size) / kPage * kPage;
    if (begin >= end) continue;
    ::fallocate(user.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                static_cast<off_t>(end - begin));
  }
}

Result<std::uint64_t> Users::allocate(std::uint64_t size) {
  constexpr std::uint64_t kPage = 4096;
  auto offset = arena_.allocate(size, kPage);
  if (!offset && room_maker_ != nullptr && room_maker_->give_way()) offset = arena_.allocate(size, kPage);
  if (!offset) {
    return fail(ENOSPC, "no room for " + std::to_string(size >> 20) + " MiB of rings in data segments of " +
                            std::to_string(data_bytes_ >> 20) + " MiB");
  }
  return *offset;
}

void Users::clear(std::uint64_t offset, std::uint64_t size) const {
  for (const User& user : users_) {
    ::fallocate(user.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(size));
  }
}

void Users::free(std::uint64_t offset, std::uint64_t size) {
  clear(offset, size);
  arena_.free(offset);
}

}  // namespace landtrace::segments
