// Tests on a real mount, in a mount namespace of the test's own.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "fuse/mount.hpp"
#include "fuse/session.hpp"
#include "fuse/test_tree.hpp"
#include "rules/rules.hpp"

namespace landtrace::fuse::test {

// Gives this process a mount namespace of its own, with a user namespace where it needs one for that. Empty, or why
// nothing can be mounted here.
const std::string& reason_not_to_mount();

// What a read() gives: the bytes, or the errno as "errno: …".
std::string read_some(int fd, std::size_t size = 4096);
// 0 or errno.
int write_some(int fd, std::string_view bytes);
bool becomes_true(const std::function<bool()>& condition, std::chrono::seconds within = std::chrono::seconds(60));

class MountTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  // Serves the tree at the folder.
  void serve(const SessionOptions& options = {});

  [[nodiscard]] std::string at(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] Fd open(const std::string& name, int flags) const {
    return Fd(::open(at(name).c_str(), flags | O_CLOEXEC));
  }
  // Changes the tree as whoever holds the domain.
  template <typename F>
  auto change(F&& act) {
    const auto access = domain_->enter();
    return act();
  }

  std::string folder_;
  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<rules::Rules> rules_;
  std::optional<TestTree> tree_;
  std::unique_ptr<Session> session_;
};

}  // namespace landtrace::fuse::test
