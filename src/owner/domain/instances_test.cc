// What instances do to events, through the owner's own place in the data plane.
#include "domain/instances.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "domain/domain.hpp"
#include "domain/proxy.hpp"
#include "domain/ring_exchange.hpp"
#include "domain/test_users.hpp"
#include "ring/reader.hpp"

namespace landtrace::domain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class InstancesTest : public testing::Test {
 protected:
  InstancesTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})), proxy_(*domain_) {
    file_ = *domain_->registrar().open_file(kUser);
    event_ = domain_->events().register_event("job u32 id", 0, kUser)->event;
    EXPECT_EQ(*domain_->files().add_event(file_, *event_), 0u);
  }

  ssize_t write(std::uint32_t tid, std::uint32_t id) {
    const std::uint32_t words[] = {0, id};
    const iovec vector{const_cast<std::uint32_t*>(words), sizeof words};
    return proxy_.write(file_, tid, kUser, std::span(&vector, 1));
  }

  std::vector<std::uint32_t> recorded(const RingPlace& place) {
    std::vector<std::uint32_t> ids;
    for (const User& user : domain_->users().all()) {
      for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
        ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
        for (const ring::RecordView& record : reader.read().records) {
          std::uint32_t id = 0;
          std::memcpy(&id, record.payload.data(), sizeof id);
          ids.push_back(id);
        }
      }
    }
    return ids;
  }
  void listen(Instance& instance) { ASSERT_TRUE(domain_->listening().set(instance, {event_}, true)); }
  Instance& top() { return domain_->top(); }

  std::unique_ptr<Domain> domain_;
  Proxy proxy_;
  FileId file_;
  Event* event_ = nullptr;
};

constexpr ssize_t kWritten = 8;

TEST_F(InstancesTest, EventsOfListedThreadsAlonePass) {
  listen(top());
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{300, 7, 9}}, std::nullopt));
  for (const std::uint32_t tid : {7u, 8u, 9u, 300u, 301u}) EXPECT_EQ(write(tid, tid), kWritten);
  EXPECT_THAT(recorded(top().place), testing::UnorderedElementsAre(7, 9, 300));
}

TEST_F(InstancesTest, EventsOfUnwantedThreadsDoNot) {
  listen(top());
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{7, 8}}, {{8, 9}}));
  for (const std::uint32_t tid : {7u, 8u, 9u}) EXPECT_EQ(write(tid, tid), kWritten);
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::nullopt, {{9}}));
  for (const std::uint32_t tid : {17u, 9u}) EXPECT_EQ(write(tid, tid), kWritten);
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::nullopt, std::nullopt));
  write(9, 109);
  EXPECT_THAT(recorded(top().place), testing::UnorderedElementsAre(7, 17, 109));
}

TEST_F(InstancesTest, AnEmptyListLetsNobodyThrough) {
  listen(top());
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::vector<std::uint32_t>{}, std::nullopt));
  EXPECT_EQ(write(7, 1), kWritten);
  EXPECT_THAT(recorded(top().place), IsEmpty());
}

TEST_F(InstancesTest, OneInstancesThreadsAreNotTheOthers) {
  Instance* const other = *domain_->instances().create("other", ring::Geometry::holding(0), true, true);
  listen(top());
  listen(*other);
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{7}}, std::nullopt));
  write(8, 1);
  write(7, 2);
  EXPECT_THAT(recorded(top().place), testing::UnorderedElementsAre(2));
  EXPECT_THAT(recorded(other->place), testing::UnorderedElementsAre(1, 2));
}

TEST_F(InstancesTest, AListThatChangesOftenLeavesNothingBehind) {
  listen(top());
  const std::uint64_t before = domain_->control().bytes_in_use();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(domain_->thread_lists().set(top(), {{i, i + 1}}, std::nullopt));
    write(i, i);
    domain_->grace().poll();
  }
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::nullopt, std::nullopt));
  domain_->grace().poll();
  EXPECT_EQ(domain_->control().bytes_in_use(), before);
}

TEST_F(InstancesTest, WhatDoesNotTraceRecordsNothingForAnyUser) {
  const auto alone = domain_->enter();
  listen(top());
  write(7, 1);
  domain_->instances().set_tracing(top(), false);
  write(7, 2);
  Proxy other(*domain_);
  const std::uint32_t words[] = {0, 3};
  const iovec vector{const_cast<std::uint32_t*>(words), sizeof words};
  EXPECT_EQ(other.write(file_, 9, kUser + 1, std::span(&vector, 1)), kWritten);  // joins only now
  domain_->instances().set_tracing(top(), true);
  write(7, 4);
  EXPECT_THAT(recorded(top().place), testing::UnorderedElementsAre(1, 4));
}

TEST_F(InstancesTest, OtherRingsTakeOverAndTheOldOnesKeepWhatTheyHave) {
  listen(top());
  write(7, 1);
  const auto next = domain_->instances().make_place(ring::Geometry::holding(1 << 20), true);
  ASSERT_TRUE(next);
  const auto old = exchange_rings(top(), *next, domain_->plans(), domain_->grace());
  ASSERT_TRUE(old);
  write(7, 2);
  EXPECT_THAT(recorded(*old), ElementsAre(1));
  EXPECT_THAT(recorded(top().place), ElementsAre(2));
  domain_->instances().free_place(*old);
  write(7, 3);
  EXPECT_THAT(recorded(top().place), testing::UnorderedElementsAre(2, 3));
}

TEST_F(InstancesTest, ARecordForOneInstanceReachesNoOther) {
  Instance* const other = *domain_->instances().create("other", ring::Geometry::holding(0), true, true);
  listen(top());
  const std::uint32_t id = 5;
  const ring::Segment segment{&id, sizeof id};
  ASSERT_TRUE(proxy_.record(*other, event_->slot, 7, kUser, std::span(&segment, 1)));
  EXPECT_THAT(recorded(other->place), ElementsAre(5));
  EXPECT_THAT(recorded(top().place), IsEmpty());
}

TEST_F(InstancesTest, FullRingsKeepTheOldestOnceTheyDoNotOverwrite) {
  listen(top());
  domain_->instances().set_overwrite(top(), false);
  for (std::uint32_t i = 0; i < 20000; ++i) ASSERT_EQ(write(7, i), kWritten);
  const auto kept = recorded(top().place);  // ring by ring: the thread may have begun on the second CPU
  EXPECT_EQ(*std::min_element(kept.begin(), kept.end()), 0u);
}

TEST_F(InstancesTest, ASessionAndAListedInstanceMayHaveOneName) {
  ASSERT_TRUE(domain_->instances().create("foo", ring::Geometry::holding(0), true, true));
  EXPECT_EQ(domain_->instances().create("foo", ring::Geometry::holding(0), true, true).error().code, EEXIST);
  EXPECT_TRUE(domain_->instances().create("foo", ring::Geometry::holding(0), true, false));
  EXPECT_TRUE(domain_->instances().find("foo")->listed);
  EXPECT_EQ(domain_->instances().find("nosuch"), nullptr);
}

TEST_F(InstancesTest, ADomainHasSoManyInstancesAndNoMore) {
  Instances& instances = domain_->instances();
  for (std::uint32_t i = 1; i < plan::kMaxInstances; ++i) {
    const auto made = instances.create("i" + std::to_string(i), ring::Geometry::holding(0), true);
    ASSERT_TRUE(made);
    ASSERT_EQ((*made)->index, i);
  }
  const std::uint64_t before = domain_->control().bytes_in_use();
  EXPECT_EQ(instances.create("one_more", ring::Geometry::holding(0), true).error().code, ENOSPC);
  EXPECT_EQ(domain_->control().bytes_in_use(), before) << "what is refused leaves nothing";
  EXPECT_EQ(instances.all().size(), plan::kMaxInstances);
  const std::uint64_t serial = instances.at(5)->serial;
  destroy_instance(5, domain_->listening(), domain_->instances());
  EXPECT_EQ(instances.at(5), nullptr);
  EXPECT_EQ(instances.create("one_more", ring::Geometry::holding(0), true).error().code, ENOSPC)
      << "producers may still be in there";
  domain_->grace().poll();
  Instance* const again = *instances.create("one_more", ring::Geometry::holding(0), true);
  EXPECT_EQ(again->index, 5u);
  EXPECT_GT(again->serial, serial);
  EXPECT_EQ(instances.at(plan::kMaxInstances), nullptr);
}

TEST_F(InstancesTest, RingsThatDoNotFitAreRefusedAndLeaveNothing) {
  const std::uint64_t before = domain_->control().bytes_in_use();
  EXPECT_EQ(domain_->instances().create("large", ring::Geometry::holding(1ull << 32), true).error().code, ENOSPC);
  EXPECT_EQ(domain_->instances().make_place(ring::Geometry::holding(1ull << 32), true).error().code, ENOSPC);
  EXPECT_EQ(domain_->control().bytes_in_use(), before);
}

TEST_F(InstancesTest, ConsumersMakeRoomWhereNothingIsOverwritten) {
  Instances& instances = domain_->instances();
  const std::uint32_t rings = instances.rings_per_set();
  const RingPlace place = *instances.make_place(ring::Geometry::holding(0), false);
  const auto position = [&](std::uint32_t user, std::uint32_t ring) {
    return reinterpret_cast<const std::uint64_t*>(domain_->control().at(place.consumed))[user * rings + ring];
  };
  EXPECT_EQ(position(0, 0), 0u);
  instances.set_consumed(place, 1, 2, 4096);
  instances.set_consumed(place, plan::kMaxUsers - 1, rings - 1, 8192);
  EXPECT_EQ(position(1, 2), 4096u);
  EXPECT_EQ(position(plan::kMaxUsers - 1, rings - 1), 8192u);
  EXPECT_EQ(position(1, 1), 0u);
  instances.set_consumed(place, plan::kMaxUsers, 0, 1);
  instances.set_consumed(place, 0, rings, 1);
  EXPECT_EQ(position(1, 0), 0u) << "a ring that there is not is not the next user's first";
  instances.free_place(place);
}

TEST_F(InstancesTest, AnOverwritingRingIsNeverFull) {
  Instances& instances = domain_->instances();
  const auto position = [&](std::uint32_t user, std::uint32_t ring) {
    const auto* const positions = reinterpret_cast<const std::uint64_t*>(domain_->control().at(top().place.consumed));
    return positions[user * instances.rings_per_set() + ring];
  };
  EXPECT_EQ(position(0, 0), ring::kNeverFull);
  EXPECT_EQ(position(plan::kMaxUsers - 1, instances.rings_per_set() - 1), ring::kNeverFull);
  instances.set_consumed(top(), 0, 0, 4096);
  EXPECT_EQ(position(0, 0), ring::kNeverFull) << "there is nobody to wait for";
  instances.set_overwrite(top(), false);
  EXPECT_FALSE(top().place.overwrite);
  EXPECT_EQ(position(0, 0), 0u);
  instances.set_consumed(top(), 0, 1, 4096);
  EXPECT_EQ(position(0, 1), 4096u);
  instances.set_overwrite(top().place, false, [](std::uint32_t user, std::uint32_t ring) { return user * 100 + ring; });
  EXPECT_EQ(position(0, 1), 1u);
  EXPECT_EQ(position(3, 2), 302u);
  instances.set_overwrite(top(), true);
  EXPECT_EQ(position(3, 2), ring::kNeverFull);
}

TEST_F(InstancesTest, TheTopInstanceIsTheOneWithoutAName) {
  EXPECT_EQ(domain_->instances().find(""), &top());
  EXPECT_EQ(top().index, 0u);
  EXPECT_EQ(domain_->instances().first_claimed() + domain_->control().segment().claimed,
            domain_->instances().rings_per_set());
}

}  // namespace
}  // namespace landtrace::domain
