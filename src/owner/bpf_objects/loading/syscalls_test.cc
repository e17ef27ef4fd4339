// syscall() as libbpf calls it.
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "bpf/map_layout.hpp"
#include "bpf_calls/objects.hpp"
#include "client/fake_owner.hpp"

namespace landtrace::loading {
namespace {

class LoadingSyscallsTest : public client::ClientTest {};

TEST_F(LoadingSyscallsTest, AMapIsFoundWhereItWasMovedTo) {
  client::FakeOwner owner(path());
  owner.answer(ipc::Operation::kBpfMap, [](const client::Asked&) {
    client::FakeAnswer answer = client::FakeAnswer::number(31);
    const bpf::MapLayout layout{};
    answer.text.assign(reinterpret_cast<const char*>(&layout), sizeof layout);
    return answer;
  });
  in_child([] {
    const int reserved = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    bpf_attr wish{};
    wish.map_type = BPF_MAP_TYPE_ARRAY;
    const auto map = static_cast<int>(::syscall(SYS_bpf, BPF_MAP_CREATE, &wish, sizeof wish));
    ASSERT_GE(map, 0);
    EXPECT_EQ(::syscall(SYS_dup3, map, -1, O_CLOEXEC), -1);
    EXPECT_EQ(errno, EBADF);
    ASSERT_EQ(::syscall(SYS_dup3, map, reserved, O_CLOEXEC), reserved);
    EXPECT_EQ(::close(map), 0);
    const auto moved = bpf_calls::Objects::get().find(reserved, bpf_calls::Kind::kMap);
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(moved->number, 31u);
  });
}

}  // namespace
}  // namespace landtrace::loading
