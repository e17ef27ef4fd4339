#include "fuse/test_mount.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>

#include <cstdlib>

namespace landtrace::fuse::test {
namespace {

bool write_file(const char* path, const std::string& text) {
  const Fd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && write_all(file.get(), text.data(), text.size()).has_value();
}

std::string enter_namespace() {
  if (::access("/dev/fuse", R_OK | W_OK) != 0) return "no access to /dev/fuse";
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) {
    return "no mount namespace of one's own: " + errno_text(errno);
  }
  if (uid != 0 &&
      (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", fmt::format("0 {} 1", uid)) ||
       !write_file("/proc/self/gid_map", fmt::format("0 {} 1", gid)))) {
    return "no user namespace with ids";
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "mounts cannot be made private";
  return {};
}

}  // namespace

const std::string& reason_not_to_mount() {
  static const std::string reason = enter_namespace();
  return reason;
}

std::string read_some(int fd, std::size_t size) {
  std::string bytes(size, '\0');
  const ssize_t got = ::read(fd, bytes.data(), size);
  if (got < 0) return "errno: " + errno_text(errno);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

int write_some(int fd, std::string_view bytes) {
  const ssize_t put = ::write(fd, bytes.data(), bytes.size());
  return put == static_cast<ssize_t>(bytes.size()) ? 0 : put < 0 ? errno : -1;
}

bool becomes_true(const std::function<bool()>& condition, std::chrono::seconds within) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

void MountTest::SetUp() {
  if (!reason_not_to_mount().empty()) GTEST_SKIP() << reason_not_to_mount();
  std::string name = (std::filesystem::temp_directory_path() / "landtrace-fuse-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  folder_ = name;
  auto domain = domain::Domain::create({.ring_bytes = 1u << 18});
  ASSERT_TRUE(domain) << domain.error().message;
  domain_ = *std::move(domain);
  rules_ = std::make_unique<rules::Rules>(*domain_);
  tree_.emplace(*domain_);
}

void MountTest::serve(const SessionOptions& options) {
  auto fuse = mount_here(folder_, {});
  ASSERT_TRUE(fuse) << fuse.error().message;
  auto session = Session::serve(*domain_, tree_->root, *std::move(fuse), options);
  ASSERT_TRUE(session) << session.error().message;
  session_ = *std::move(session);
}

void MountTest::TearDown() {
  if (folder_.empty()) return;
  (void)unmount(folder_);
  session_.reset();
  ::rmdir(folder_.c_str());
}

}  // namespace landtrace::fuse::test
