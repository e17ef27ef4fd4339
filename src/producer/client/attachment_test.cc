#include "client/attachment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "base/mapping.hpp"

namespace landtrace::client {
namespace {

class AttachmentTest : public testing::Test {
 protected:
  static constexpr std::size_t kDataBytes = sizeof(plan::DataSegment) + (1 << 20);

  void SetUp() override {
    control_ = *create_memfd("control", plan::kControlBytes);
    data_ = *create_memfd("data", kDataBytes);
    control_memory_ = *Mapping::map(control_.get(), sizeof(plan::ControlSegment), Mapping::Access::kReadWrite);
    data_memory_ = *Mapping::map(data_.get(), kDataBytes, Mapping::Access::kReadWrite);
    control().magic = plan::kControlMagic;
    control().version = plan::kLayoutVersion;
    control().cpus = 4;
    control().claimed = 2;
  }

  [[nodiscard]] plan::ControlSegment& control() const {
    return *reinterpret_cast<plan::ControlSegment*>(control_memory_.data());
  }
  [[nodiscard]] static ipc::Reply reply(std::uint64_t user, std::uint64_t bytes = kDataBytes) {
    ipc::Reply reply;
    reply.a = user;
    reply.b = bytes;
    reply.c = static_cast<std::uint64_t>(::getpid());
    return reply;
  }
  Attachment* attach(const ipc::Reply& reply, Attachment* before = nullptr) const {
    return make_attachment(reply, {control_.get(), data_.get()}, before);
  }
  Attachment* attach(int control, int data) const { return make_attachment(reply(0), {control, data}, nullptr); }
  static std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
  }

  Fd control_;
  Fd data_;
  Mapping control_memory_;
  Mapping data_memory_;
};

TEST_F(AttachmentTest, WhatTheOwnerSendsIsMapped) {
  const Attachment* const made = attach(reply(3));
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->view.control->magic, plan::kControlMagic);
  EXPECT_EQ(made->view.consumed_row, 3u * 6 * sizeof(std::uint64_t));
  EXPECT_EQ(made->data_bytes, kDataBytes);
  EXPECT_EQ(made->before, nullptr);
  EXPECT_FALSE(made->foreign);
  made->view.data->slotless = 5;
  EXPECT_EQ(reinterpret_cast<plan::DataSegment*>(data_memory_.data())->slotless, 5u);
}

TEST_F(AttachmentTest, TheControlSegmentCannotBeWrittenTo) {
  const Attachment* const made = attach(reply(0));
  ASSERT_NE(made, nullptr);
  std::uint64_t word = 0;
  const iovec from{&word, sizeof word};
  const iovec to{const_cast<plan::ControlSegment*>(made->view.control), sizeof word};
  EXPECT_EQ(::process_vm_writev(::getpid(), &from, 1, &to, 1, 0), -1);
  EXPECT_EQ(control().magic, plan::kControlMagic);
}

TEST_F(AttachmentTest, AnOwnerThatSeesAnotherPidIsForeign) {
  ipc::Reply elsewhere = reply(0);
  ++elsewhere.c;
  const Attachment* const made = attach(elsewhere);
  ASSERT_NE(made, nullptr);
  EXPECT_TRUE(made->foreign);
}

TEST_F(AttachmentTest, OwnersAreToldApartByTheirControlSegments) {
  Attachment* const first = attach(reply(0));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->control_inode, inode_of_memory(control_.get()));
  control_ = *create_memfd("control", plan::kControlBytes);
  EXPECT_NE(first->control_inode, inode_of_memory(control_.get()));
  control_memory_ = *Mapping::map(control_.get(), sizeof(plan::ControlSegment), Mapping::Access::kReadWrite);
  control().magic = plan::kControlMagic;
  control().version = plan::kLayoutVersion;
  const Attachment* const second = attach(reply(0), first);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->before, first);
  EXPECT_EQ(inode_of_memory(-1), 0u);
}

TEST_F(AttachmentTest, WhatIsNotADomainsMemoryIsRefused) {
  const std::size_t before = mappings();
  EXPECT_EQ(attach(-1, data_.get()), nullptr);
  EXPECT_EQ(attach(control_.get(), -1), nullptr);
  // The owner could take back what lies behind a mapping of these: the program would crash.
  const Fd unsealed(::memfd_create("unsealed", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(unsealed.get(), plan::kControlBytes), 0);
  EXPECT_EQ(attach(unsealed.get(), data_.get()), nullptr);
  EXPECT_EQ(attach(control_.get(), unsealed.get()), nullptr);
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(attach(file.get(), data_.get()), nullptr);
  const Fd small = *create_memfd("small", plan::kControlBytes - 1);
  EXPECT_EQ(attach(small.get(), data_.get()), nullptr);
  EXPECT_EQ(mappings(), before);
}

TEST_F(AttachmentTest, WhatTheReplySaysIsChecked) {
  const std::size_t before = mappings();
  EXPECT_EQ(attach(reply(plan::kMaxUsers)), nullptr);
  EXPECT_EQ(attach(reply(0, sizeof(plan::DataSegment) - 1)), nullptr);
  EXPECT_EQ(attach(reply(0, kDataBytes + 4096)), nullptr);
  EXPECT_EQ(mappings(), before);
  EXPECT_NE(attach(reply(plan::kMaxUsers - 1, sizeof(plan::DataSegment))), nullptr);
}

TEST_F(AttachmentTest, CodeIsMappedToBeRunWhereNobodyButTheOwnerCanWriteIt) {
  constexpr std::uint32_t kUser = 3;
  control_ = *create_memfd("control", plan::kControlFileBytes);
  const Mapping whole = *Mapping::map(control_.get(), plan::kControlFileBytes, Mapping::Access::kReadWrite);
  std::memcpy(whole.data(), control_memory_.data(), sizeof(plan::ControlSegment));
  const Attachment* const open = attach(reply(kUser));
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(open->view.code, nullptr) << "whoever has the descriptor can map it writable";
  ASSERT_TRUE(seal_against_new_writers(control_.get()));
  const Attachment* const sealed = attach(reply(kUser));
  ASSERT_NE(sealed->view.code, nullptr);
  // What the owner writes there is there: of this user.
#if defined(__aarch64__)
  constexpr std::uint8_t kReturn[] = {0xc0, 0x03, 0x5f, 0xd6};
#else
  constexpr std::uint8_t kReturn[] = {0xc3};
#endif
  std::memcpy(whole.data() + plan::code_area(kUser) + 64, kReturn, sizeof kReturn);
  EXPECT_EQ(std::memcmp(sealed->view.code + 64, kReturn, sizeof kReturn), 0);
  reinterpret_cast<void (*)()>(reinterpret_cast<std::uintptr_t>(sealed->view.code + 64))();
  std::ifstream maps("/proc/self/maps");
  std::stringstream begin;
  begin << std::hex << reinterpret_cast<std::uintptr_t>(sealed->view.code) << '-';
  std::string line;
  while (std::getline(maps, line) && line.rfind(begin.str(), 0) != 0) continue;
  EXPECT_NE(line.find(" r-xs "), std::string::npos) << line;
}

TEST_F(AttachmentTest, AControlSegmentOfAnotherLayoutIsRefusedAndUnmapped) {
  const std::size_t before = mappings();
  control().version = plan::kLayoutVersion + 1;
  EXPECT_EQ(attach(reply(0)), nullptr);
  control().version = plan::kLayoutVersion;
  control().magic = plan::kDataMagic;
  EXPECT_EQ(attach(reply(0)), nullptr);
  EXPECT_EQ(mappings(), before);
}

TEST_F(AttachmentTest, ARetiredAttachmentIsMemoryThatNobodyReads) {
  Attachment* const made = attach(reply(0));
  ASSERT_NE(made, nullptr);
  auto* const owners = reinterpret_cast<plan::DataSegment*>(data_memory_.data());
  made->view.data->slotless = 5;
  retire(*made);
  EXPECT_EQ(made->view.data->slotless, 0u);
  made->view.data->slotless = 6;  // somebody is still inside
  EXPECT_EQ(owners->slotless, 5u);
  EXPECT_EQ(made->view.control->magic, plan::kControlMagic);
}

}  // namespace
}  // namespace landtrace::client
