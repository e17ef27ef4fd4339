#include "daemon/handover.hpp"

#include <unistd.h>

#include "daemon/mounts.hpp"
#include "fuse/mount.hpp"
#include "ipc/socket.hpp"

namespace landtrace::daemon {

namespace {

constexpr int kPatience_s = 10;

}  // namespace

Result<Handover> Handover::offer(const std::string& socket, unsigned abi) {
  LT_TRY(Fd owner, ipc::connect_to(socket));
  ipc::set_timeout(owner.get(), 1000 * kPatience_s);
  LT_CHECK(ipc::ask(owner.get(), {.operation = ipc::Operation::kOfferMount, .a = abi}));
  return Handover(std::move(owner));
}

Result<void> Handover::mount_and_serve(const std::string& folder, bool allow_other) {
  LT_TRY(const Fd fuse, mount_folder(folder, allow_other));
  auto served = ipc::ask(owner_.get(), {.operation = ipc::Operation::kServeMount}, folder, fuse.get());
  if (served) return {};
  std::ignore = fuse::unmount(folder);
  return tl::unexpected<Error>(std::move(served).error());
}

}  // namespace landtrace::daemon
