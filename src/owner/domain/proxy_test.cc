// Events that the owner records on behalf of others.
#include "domain/proxy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "programs/test_child.hpp"
#include "ring/reader.hpp"

namespace landtrace::domain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kUser = 1000;

class ProxyTest : public testing::Test {
 protected:
  ProxyTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})), proxy_(*domain_) {
    file_ = *domain_->registrar().open_file(kUser);
    event_ = domain_->events().register_event("job u32 id", 0, kUser)->event;
    EXPECT_TRUE(domain_->files().add_event(file_, *event_));
    EXPECT_TRUE(domain_->listening().set(domain_->top(), {event_}, true));
  }
  ssize_t write(Proxy& proxy, std::uint32_t tid, std::uint32_t uid, std::uint32_t id) {
    const std::uint32_t words[] = {0, id};
    const iovec vector{const_cast<std::uint32_t*>(words), sizeof words};
    return proxy.write(file_, tid, uid, std::span(&vector, 1));
  }
  // The numbers in the records of one user's rings, with the threads that they are of.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> recorded(std::uint32_t uid) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    look_at_records(uid, [&](std::uint32_t, std::uint32_t tid, std::uint32_t id) { found.emplace_back(tid, id); });
    return found;
  }
  // Under which CPU readers find the record with this number.
  std::optional<std::uint32_t> cpu_of_record(std::uint32_t uid, std::uint32_t number) {
    std::optional<std::uint32_t> found;
    look_at_records(uid, [&](std::uint32_t ring, std::uint32_t, std::uint32_t id) {
      if (id == number) found = ring::cpu_of_ring(ring, domain_->instances().first_claimed());
    });
    return found;
  }
  // Calls visit(ring, tid, number) for each.
  template <typename Visit>
  void look_at_records(std::uint32_t uid, const Visit& visit) {
    const RingPlace& place = domain_->top().place;
    for (const User& user : domain_->users().all()) {
      if (user.uid != uid) continue;
      for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
        ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
        for (const ring::RecordView& record : reader.read().records) {
          std::uint32_t id = 0;
          std::memcpy(&id, record.payload.data(), sizeof id);
          visit(i, record.header.tid, id);
        }
      }
    }
  }
  std::uint32_t slots_in_use(std::uint32_t user) {
    std::uint32_t count = 0;
    for (const plan::ThreadSlot& slot : domain_->users().all()[user].data().threads) count += slot.tid != 0;
    return count;
  }

  std::unique_ptr<Domain> domain_;
  Proxy proxy_;
  FileId file_;
  Event* event_ = nullptr;
};

TEST_F(ProxyTest, AnEventIsTheThreadsAndInTheRingsOfItsUser) {
  EXPECT_EQ(write(proxy_, 41, kUser, 1), 8);
  EXPECT_EQ(write(proxy_, 42, kUser, 2), 8);
  EXPECT_EQ(write(proxy_, 43, kUser + 1, 3), 8);
  EXPECT_THAT(recorded(kUser), testing::UnorderedElementsAre(std::pair(41u, 1u), std::pair(42u, 2u)));
  EXPECT_THAT(recorded(kUser + 1), ElementsAre(std::pair(43u, 3u)));
}

TEST_F(ProxyTest, AUserJoinsWithTheFirstEvent) {
  EXPECT_THAT(domain_->users().all(), IsEmpty());
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(write(proxy_, 40 + i, kUser, i), 8);
  ASSERT_EQ(domain_->users().all().size(), 1u);
  EXPECT_EQ(slots_in_use(0), 0u) << "the user could say of a slot there that nobody is inside";
}

TEST_F(ProxyTest, ItsPlaceIsFreeWhenItGoes) {
  plan::ThreadSlot& free = domain_->grace().take_own_slot();
  Grace::give_back(free);
  std::thread([&] {
    Proxy other(*domain_);
    EXPECT_EQ(write(other, 41, kUser, 1), 8);
    EXPECT_EQ(write(other, 41, kUser + 1, 1), 8);
    EXPECT_EQ(free.tid, static_cast<std::uint32_t>(::gettid())) << "one, whichever users it is for";
  }).join();
  EXPECT_EQ(free.tid, 0u);
}

TEST_F(ProxyTest, WhatIsWrittenIsCheckedAsAProgramsOwnWrite) {
  const auto write_bytes = [&](FileId file, std::string bytes) {
    const iovec vector{bytes.data(), bytes.size()};
    return proxy_.write(file, 41, kUser, std::span(&vector, 1));
  };
  using namespace std::string_literals;
  EXPECT_EQ(write_bytes(file_, "\0\0\0"s), -EFAULT);
  EXPECT_EQ(write_bytes(file_, "\0\0\0\0xyz"s), -EINVAL);
  EXPECT_EQ(write_bytes(file_, "\1\0\0\0wxyz"s), -ENOENT);
  EXPECT_EQ(write_bytes({file_.slot, file_.generation + 1}, "\0\0\0\0wxyz"s), -ENOENT);
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {event_}, false));
  EXPECT_EQ(write_bytes(file_, "\0\0\0\0wxyz"s), -EBADF);
  EXPECT_THAT(recorded(kUser), IsEmpty());
}

TEST_F(ProxyTest, OneThatComesInPiecesIsOneEvent) {
  const std::uint32_t index = 0, id = 0x01020304;
  const iovec pieces[] = {{const_cast<std::uint32_t*>(&index), 2},
                          {reinterpret_cast<char*>(const_cast<std::uint32_t*>(&index)) + 2, 2},
                          {const_cast<std::uint32_t*>(&id), 1},
                          {reinterpret_cast<char*>(const_cast<std::uint32_t*>(&id)) + 1, 3}};
  EXPECT_EQ(proxy_.write(file_, 41, kUser, pieces), 8);
  EXPECT_THAT(recorded(kUser), ElementsAre(std::pair(41u, id)));
}

TEST_F(ProxyTest, AUserForWhomThereIsNoRoomIsToldSo) {
  const auto alone = domain_->enter();
  for (std::uint32_t uid = 2000; uid < 2000 + plan::kMaxUsers; ++uid) {
    ASSERT_TRUE(domain_->join(uid));
    ASSERT_TRUE(domain_->descriptors().take(uid, 1));
  }
  EXPECT_EQ(write(proxy_, 41, kUser, 1), -ENOSPC);
  const std::uint32_t id = 5;
  const ring::Segment segment{&id, sizeof id};
  EXPECT_EQ(proxy_.record(domain_->top(), event_->slot, 7, kUser, std::span(&segment, 1)).error().code, ENOSPC);
}

TEST_F(ProxyTest, AUserWhoComesAgainWritesToItsOwnRings) {
  const auto alone = domain_->enter();
  EXPECT_EQ(write(proxy_, 41, kUser + 1, 1), 8);
  for (std::uint32_t uid = 2000; domain_->users().all()[0].uid == kUser + 1; ++uid) ASSERT_TRUE(domain_->join(uid));
  EXPECT_EQ(write(proxy_, 41, kUser + 1, 2), 8);
  EXPECT_THAT(recorded(kUser + 1), ElementsAre(std::pair(41u, 2u)));
  EXPECT_THAT(recorded(domain_->users().all()[0].uid), IsEmpty());
}

TEST_F(ProxyTest, AUserWhoseThreadsHaveTakenAllPlacesKeepsItFromNothing) {
  ASSERT_TRUE(domain_->join(kUser));
  plan::DataSegment& data = domain_->users().all()[0].data();
  for (plan::ThreadSlot& slot : data.threads) slot.tid = slot.pid = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(write(proxy_, 41, kUser, 1), 8);
}

TEST_F(ProxyTest, ARecordForOneInstanceIsOfTheThreadAndKnowsItsLimit) {
  const std::string text(ring::kMaxPayload, 't');
  const ring::Segment parts[] = {{text.data(), 4}, {text.data(), 8}};
  ASSERT_TRUE(proxy_.record(domain_->top(), event_->slot, 77, kUser, parts));
  ASSERT_EQ(recorded(kUser).size(), 1u);
  EXPECT_EQ(recorded(kUser)[0].first, 77u);
  const ring::Segment much[] = {{text.data(), ring::kMaxPayload}, {text.data(), 1}};
  EXPECT_EQ(proxy_.record(domain_->top(), event_->slot, 77, kUser, much).error().code, E2BIG);
  EXPECT_EQ(recorded(kUser).size(), 1u);
}

TEST_F(ProxyTest, NothingIsRecordedWhereTheInstanceDoesNotTrace) {
  domain_->instances().set_tracing(domain_->top(), false);
  const std::uint32_t id = 5;
  const ring::Segment segment{&id, sizeof id};
  EXPECT_TRUE(proxy_.record(domain_->top(), event_->slot, 7, kUser, std::span(&segment, 1)));
  EXPECT_THAT(recorded(kUser), IsEmpty());
}

TEST_F(ProxyTest, AnEventIsUnderTheCpuThatItsThreadRanOn) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  const programs::TestChild child;
  std::uint32_t id = 0;
  for (unsigned cpu = 0; cpu < domain_->instances().first_claimed(); ++cpu) {
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    if (::sched_setaffinity(static_cast<pid_t>(child.pid()), sizeof there, &there) != 0) continue;
    EXPECT_EQ(write(proxy_, child.pid(), kUser, ++id), 8);
    EXPECT_EQ(cpu_of_record(kUser, id), cpu);
    const ring::Segment segment{&++id, sizeof id};
    ASSERT_TRUE(proxy_.record(domain_->top(), event_->slot, child.pid(), kUser, std::span(&segment, 1)));
    EXPECT_EQ(cpu_of_record(kUser, id), cpu);
  }
  EXPECT_GT(id, 0u);
}

TEST_F(ProxyTest, TheThreadsNameIsLeftForReaders) {
  const auto me = static_cast<std::uint32_t>(::gettid());
  EXPECT_EQ(write(proxy_, me, kUser, 1), 8);
  const plan::TaskEntry& task = domain_->users().all()[0].data().tasks[me % plan::kMaxTasks];
  EXPECT_EQ(task.tid, me);
  EXPECT_EQ(task.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_NE(task.comm[0], '\0');
}

}  // namespace
}  // namespace landtrace::domain
