#include "preload/writes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <climits>

#include "client/fake_owner.hpp"
#include "client/process.hpp"
#include "preload/data_file.hpp"

namespace landtrace::preload {
namespace {

using client::ClientTest;
using client::FakeOwner;
using client::Process;

constexpr std::uint32_t kEvent = plan::kFirstEventSlot;
constexpr FdEntry kWritesFile{77, 1, O_RDWR};
// Not open: what is behind it is the table's affair.
constexpr int kFd = 90;

class WritesTest : public ClientTest {
 protected:
  // With the event under index 0 of the file.
  static void listen(FakeOwner& owner) {
    plan::TestDomain& domain = owner.domain();
    domain.publish(kEvent, {domain.record()});
    domain.control().files[kWritesFile.slot] = {domain.put(std::vector<std::uint32_t>{1, kEvent}),
                                                kWritesFile.generation};
    EXPECT_TRUE(FdTable::set(kFd, kWritesFile));
  }
  void with_owner(const std::function<void(FakeOwner&)>& body) const {
    in_child([&] {
      FakeOwner owner(path());
      listen(owner);
      ASSERT_TRUE(Process::get().attach());
      body(owner);
    });
  }
  static ssize_t write(std::string_view bytes, FdEntry entry = kWritesFile) {
    return write_data_file(kFd, entry, bytes.data(), bytes.size());
  }
  // The negative errno where it fails.
  static ssize_t result_of(ssize_t result) { return result == -1 ? -errno : result; }
  static inline const std::string kEventBytes = plan::bytes_of(0) + "four";
};

TEST_F(WritesTest, AnEventIsWrittenAndErrnoStays) {
  with_owner([](FakeOwner& owner) {
    errno = EDOM;
    EXPECT_EQ(write(kEventBytes), 8);
    EXPECT_EQ(errno, EDOM);
    const auto records = owner.domain().records();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].payload, "four");
    std::string bytes = kEventBytes;
    const iovec vectors[] = {{bytes.data(), 6}, {bytes.data() + 6, 2}};
    EXPECT_EQ(writev_data_file(kFd, kWritesFile, vectors, 2), 8);
    EXPECT_EQ(owner.domain().records().size(), 2u);
  });
}

TEST_F(WritesTest, AFileIsWrittenToOnlyAsItWasOpened) {
  with_owner([](FakeOwner& owner) {
    EXPECT_EQ(result_of(write(kEventBytes, {kWritesFile.generation, kWritesFile.slot, O_RDONLY})), -EBADF);
    EXPECT_EQ(result_of(write(kEventBytes, {kWritesFile.generation, kWritesFile.slot, O_WRONLY})), 8);
    const iovec vector{const_cast<char*>(kEventBytes.data()), kEventBytes.size()};
    EXPECT_EQ(result_of(writev_data_file(kFd, {kWritesFile.generation, kWritesFile.slot, O_RDONLY}, &vector, 1)),
              -EBADF);
    EXPECT_EQ(owner.domain().records().size(), 1u);
  });
}

TEST_F(WritesTest, WhatTheDataPlaneAnswersIsTheError) {
  with_owner([](FakeOwner& owner) {
    EXPECT_EQ(result_of(write(plan::bytes_of(1))), -ENOENT);
    EXPECT_EQ(result_of(write("abc")), -EFAULT);
    owner.domain().control().events[kEvent].plan = 0;
    EXPECT_EQ(result_of(write(kEventBytes)), -EBADF);
  });
}

TEST_F(WritesTest, BadPointersAreFaults) {
  with_owner([](FakeOwner& owner) {
    EXPECT_EQ(result_of(write_data_file(kFd, kWritesFile, nullptr, 8)), -EFAULT);
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, nullptr, 1)), -EFAULT);
    iovec vector{nullptr, 8};
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, &vector, 1)), -EFAULT);
    EXPECT_TRUE(owner.domain().records().empty());
  });
}

TEST_F(WritesTest, VectorsHaveTheSystemsLimits) {
  with_owner([](FakeOwner& owner) {
    std::string bytes = kEventBytes;
    std::vector<iovec> vectors(1025, iovec{bytes.data(), 0});
    vectors[0].iov_len = bytes.size();
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, vectors.data(), 1024)), 8);
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, vectors.data(), 1025)), -EINVAL);
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, vectors.data(), -1)), -EINVAL);
    vectors[1].iov_len = SSIZE_MAX;
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, vectors.data(), 2)), -EINVAL);
    vectors[1].iov_len = SIZE_MAX;
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, vectors.data(), 2)), -EINVAL);
    EXPECT_EQ(owner.domain().records().size(), 1u);
  });
}

TEST_F(WritesTest, AnEmptyVectorNeverReachesTheFile) {
  with_owner([](FakeOwner&) {
    const iovec nothing{nullptr, 0};
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, &nothing, 1)), 0);
    EXPECT_EQ(result_of(writev_data_file(kFd, kWritesFile, &nothing, 0)), 0);
    EXPECT_EQ(result_of(write("")), -EFAULT);  // but an empty write does
  });
}

TEST_F(WritesTest, AnEventWithoutAPlaceIsTheDomainsLossAndNotTheProgramsError) {
  with_owner([](FakeOwner& owner) {
    plan::DataSegment& data = owner.domain().data();
    const auto tid = static_cast<std::uint32_t>(::gettid());
    for (plan::ThreadSlot& slot : data.threads) {
      slot = {.section = 0, .tid = tid, .pid = static_cast<std::uint32_t>(::getpid())};
    }
    EXPECT_EQ(result_of(write(kEventBytes)), 8);
    EXPECT_EQ(data.slotless, 1u);
  });
}

TEST_F(WritesTest, WithoutADomainThereIsNobody) {
  in_child([] { EXPECT_EQ(result_of(write(kEventBytes)), -EBADF); });
}

TEST_F(WritesTest, AnOrphansWriteJoinsTheNextOwner) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    listen(*first);
    ASSERT_TRUE(Process::get().attach());
    EXPECT_EQ(result_of(write(kEventBytes)), 8);
    first->die();
    EXPECT_EQ(result_of(write(kEventBytes)), -EBADF);
    FakeOwner second(path());
    listen(second);
    EXPECT_TRUE(client::eventually([] { return write(kEventBytes) == 8; }));
    EXPECT_EQ(second.domain().records().size(), 1u);
    EXPECT_EQ(first->domain().records().size(), 1u);
  });
}

}  // namespace
}  // namespace landtrace::preload
