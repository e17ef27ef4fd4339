#include "daemon/mounts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "daemon/fuse_device.hpp"
#include "daemon/mount_table.hpp"
#include "daemon/namespaces.hpp"
#include "fuse/mount.hpp"

namespace landtrace::daemon {
namespace {

constexpr unsigned kMiscMajor = 10, kFuseMinor = 229;
constexpr const char* kSource = "landtrace";

bool is_fuse_device(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(kMiscMajor, kFuseMinor);
}

std::vector<fuse::SessionOptions::IdRange> ranges_of(const std::vector<IdRange>& map) {
  std::vector<fuse::SessionOptions::IdRange> ranges;
  for (const IdRange& range : map) ranges.push_back({range.inside, range.outside, range.count});
  return ranges;
}

std::string device_at(const std::string& process, std::string_view folder) {
  const auto lines = mounts_of(process);
  if (!lines) return {};
  const auto line = find_mount(*lines, folder);
  return line && line->is_fuse() ? line->device : std::string();
}

// True for root, and for a process with a user namespace of its own.
bool may_mount() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, sets) != 0) return false;
  return (sets[0].effective & (1u << CAP_SYS_ADMIN)) != 0;
}

}  // namespace

Result<Fd> mount_folder(const std::string& folder, bool allow_other) {
  LT_CHECK(check_fuse_device());
  if (may_mount()) return fuse::mount_here(folder, {.allow_other = true, .name = kSource});
  return fuse::mount_with_fusermount(folder, {.allow_other = allow_other, .name = kSource});
}

Result<void> unmount_folder(const std::string& folder) {
  LT_TRY(const auto lines, mounts_of("self"));
  const auto line = find_mount(lines, folder);
  if (!line || !line->is_fuse() || line->source != kSource)
    return fail(EINVAL, folder + ": nothing of ours is mounted there");
  return fuse::unmount(folder);
}

Mounts::Mounts(domain::Domain& domain, tracefs::Tree& tree, const Permissions& permissions)
    : domain_(domain), tree_(tree), permissions_(permissions) {}

Mounts::~Mounts() {
  end();
  if (!undertaker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  added_.notify_one();
  undertaker_.join();
}

void Mounts::bury_ended() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    const auto end = std::stable_partition(served_.begin(), served_.end(),
                                           [](const Served& served) { return !served.session->has_ended(); });
    std::vector<Served> ended(std::make_move_iterator(end), std::make_move_iterator(served_.end()));
    served_.erase(end, served_.end());
    // Without the lock: destroying a session takes the domain, and serve() has the domain when it takes the lock.
    lock.unlock();
    ended.clear();
    lock.lock();
    if (!is_over_) added_.wait(lock);
  }
}

Result<void> Mounts::add(Fd fuse, const fuse::SessionOptions& options, std::string folder, std::string device) {
  const auto access = domain_.enter();  // before mutex_, as in the serving thread
  const std::lock_guard lock(mutex_);
  LT_TRY(auto session, fuse::Session::serve(domain_, tree_.root(), std::move(fuse), options));
  served_.push_back({std::move(session), std::move(folder), std::move(device)});
  if (!undertaker_.joinable()) undertaker_ = std::thread([this] { bury_ended(); });
  added_.notify_one();
  return {};
}

Result<Fd> Mounts::mount(const std::string& folder, bool allow_other) {
  fuse::SessionOptions options;
  options.uid = ::geteuid();
  options.gid = permissions_.gid.value_or(::getegid());
  options.root_mode = permissions_.root_mode;
  LT_TRY(Fd fuse, mount_folder(folder, allow_other));
  Fd watch(::fcntl(fuse.get(), F_DUPFD_CLOEXEC, 0));
  if (auto added = add(std::move(fuse), options, folder, device_at("self", folder)); !added) {
    std::ignore = fuse::unmount(folder);
    return tl::unexpected<Error>(std::move(added).error());
  }
  return watch;
}

Result<void> Mounts::serve(host::MountOffer offer) {
  if (!is_fuse_device(offer.fuse.get())) return fail(EINVAL, "the descriptor is not one of /dev/fuse");
  // The kernel names callers by their ids in the mounter's pid namespace: in another one than ours they mean nothing
  // here.
  if (offer.pid == 0 || !shares_pids(offer.pid).value_or(false)) {
    return fail(
        EXDEV,
        "a mount in another pid namespace needs a domain that runs there: give it an XDG_RUNTIME_DIR of its own");
  }
  LT_TRY(const auto uids, id_map_of(offer.pid, "uid_map"));
  LT_TRY(const auto gids, id_map_of(offer.pid, "gid_map"));
  fuse::SessionOptions options;
  options.uids = ranges_of(uids);
  options.gids = ranges_of(gids);
  options.uid = inside_id(uids, offer.who.uid);
  options.root_mode = permissions_.root_mode;
  options.gid = inside_id(gids, permissions_.gid && uids.empty() ? *permissions_.gid : offer.who.gid);
  const std::string asker = std::to_string(offer.pid);
  const bool is_here = shares_mounts(offer.pid).value_or(false);
  std::string folder(is_here ? offer.where : std::string_view());
  return add(std::move(offer.fuse), options, folder, is_here ? device_at(asker, folder) : std::string());
}

// A mount is unmounted while it is still served, so that no caller waits for an answer that never comes. Another
// mount may lie at the folder by now: `device` tells.
void Mounts::end() {
  // Destroyed without the lock, as in bury_ended().
  std::vector<Served> ending;
  {
    const std::lock_guard lock(mutex_);
    ending.swap(served_);
  }
  for (const Served& served : ending) {
    if (served.device.empty() || served.session->has_ended()) continue;
    if (device_at("self", served.folder) == served.device) std::ignore = fuse::unmount(served.folder);
  }
}

}  // namespace landtrace::daemon
