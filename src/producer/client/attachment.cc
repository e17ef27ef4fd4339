#include "client/attachment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapping.hpp"

namespace landtrace::client {
namespace {

void* map(int fd, std::size_t size, int protection) {
  void* const address = ::mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED) return nullptr;
  ::madvise(address, size, MADV_DONTDUMP);
  return address;
}

// Nobody but the owner writes there, who is root or we ourselves. Without it programs are interpreted.
const std::byte* map_code(int control, std::uint32_t user) {
  constexpr int kNobodyElseWrites = F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (!is_sealed_memfd(control, plan::kControlFileBytes)) return nullptr;
  if ((::fcntl(control, F_GET_SEALS) & kNobodyElseWrites) != kNobodyElseWrites) return nullptr;
  void* const address = ::mmap(nullptr, plan::kCodeBytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_NORESERVE, control,
                               static_cast<off_t>(plan::code_area(user)));
  return address == MAP_FAILED ? nullptr : static_cast<const std::byte*>(address);
}

}  // namespace

std::uint64_t inode_of_memory(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 ? st.st_ino : 0;
}

Attachment* make_attachment(const ipc::Reply& reply, const int (&fds)[2], Attachment* before) {
  const bool sound = is_sealed_memfd(fds[0], plan::kControlBytes) && reply.b >= sizeof(plan::DataSegment) &&
                     is_sealed_memfd(fds[1], reply.b) && reply.a < plan::kMaxUsers;
  if (!sound) return nullptr;
  void* const control = map(fds[0], plan::kControlBytes, PROT_READ);
  void* const data = map(fds[1], reply.b, PROT_READ | PROT_WRITE);
  void* const own =
      ::mmap(nullptr, sizeof(Attachment), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const auto* const segment = static_cast<const plan::ControlSegment*>(control);
  const bool usable = control != nullptr && data != nullptr && own != MAP_FAILED &&
                      segment->magic == plan::kControlMagic && segment->version == plan::kLayoutVersion;
  if (!usable) {
    if (control != nullptr) ::munmap(control, plan::kControlBytes);
    if (data != nullptr) ::munmap(data, reply.b);
    if (own != MAP_FAILED) ::munmap(own, sizeof(Attachment));
    return nullptr;
  }
  auto* const attachment = static_cast<Attachment*>(own);
  attachment->view =
      plan::make_view(segment, static_cast<plan::DataSegment*>(data), static_cast<std::uint32_t>(reply.a));
  attachment->view.code = map_code(fds[0], static_cast<std::uint32_t>(reply.a));
  attachment->data_bytes = reply.b;
  attachment->control_inode = inode_of_memory(fds[0]);
  attachment->foreign = reply.c != static_cast<std::uint64_t>(::getpid());
  attachment->before = before;
  return attachment;
}

void retire(const Attachment& attachment) {
  // First elsewhere: where there is no room for it, the old mapping must stay.
  void* const empty = ::mmap(nullptr, attachment.data_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (empty == MAP_FAILED) return;
  ::madvise(empty, attachment.data_bytes, MADV_DONTDUMP);
  ::mremap(empty, attachment.data_bytes, attachment.data_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, attachment.view.data);
}

}  // namespace landtrace::client
