// What threads that have ended still hold. The test fills slots and claims in, as if producers had.
#include "domain/reaper.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "domain/domain.hpp"
#include "plan/emit.hpp"
#include "ring/layout.hpp"

namespace landtrace::domain {
namespace {

constexpr std::uint32_t kNobody = 0x3fffff;  // a number that no thread has

class ReaperTest : public testing::Test {
 protected:
  ReaperTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})) {
    for (const std::uint32_t uid : {1000u, 1001u}) EXPECT_TRUE(domain_->join(uid));
  }
  plan::DataSegment& data(std::uint32_t user) { return domain_->users().all()[user].data(); }
  std::uint32_t& claim(const Instance& instance, std::uint32_t user, std::uint32_t ring) {
    std::byte* const segment = domain_->users().all()[user].mapping.data();
    const RingPlace& place = instance.place;
    return reinterpret_cast<ring::RingWords*>(segment + place.rings + ring * place.geometry.stride())->claim;
  }
  static std::uint32_t me() { return static_cast<std::uint32_t>(::getpid()); }

  std::unique_ptr<Domain> domain_;
};

TEST_F(ReaperTest, SlotsOfThreadsThatHaveEndedAreFree) {
  for (std::uint32_t user = 0; user < 2; ++user) {
    data(user).thread_high = 4;
    data(user).threads[0] = {.section = 0, .tid = me(), .pid = me()};
    data(user).threads[1] = {.section = 0, .tid = kNobody, .pid = kNobody};
    data(user).threads[3] = {.section = 0, .tid = kNobody, .pid = me()};
  }
  reap(domain_->users(), domain_->instances());
  for (std::uint32_t user = 0; user < 2; ++user) {
    EXPECT_EQ(data(user).threads[0].tid, me());
    EXPECT_EQ(data(user).threads[1].tid, 0u);
    EXPECT_EQ(data(user).threads[3].tid, 0u) << "another thread of the process lives, this one does not";
  }
}

TEST_F(ReaperTest, RingsClaimedByThreadsThatHaveEndedAreFree) {
  Instance& other = **domain_->instances().create("other", ring::Geometry::holding(0), true, true);
  const std::uint32_t first = domain_->instances().first_claimed(), last = domain_->instances().rings_per_set() - 1;
  ASSERT_LT(first, last);
  for (const Instance* const instance : {&domain_->top(), &other}) {
    for (std::uint32_t user = 0; user < 2; ++user) {
      claim(*instance, user, first) = kNobody;
      claim(*instance, user, last) = kNobody;
    }
  }
  claim(other, 1, first) = me();
  claim(other, 0, last) = kNobody | plan::kForeignClaim;
  reap(domain_->users(), domain_->instances());
  EXPECT_EQ(claim(domain_->top(), 0, first), 0u);
  EXPECT_EQ(claim(domain_->top(), 1, last), 0u);
  EXPECT_EQ(claim(other, 0, first), 0u);
  EXPECT_EQ(claim(other, 1, first), me());
  EXPECT_EQ(claim(other, 1, last), 0u);
  EXPECT_EQ(claim(other, 0, last), kNobody | plan::kForeignClaim) << "its number means nothing here";
}

TEST_F(ReaperTest, RingsOfCpusAreNobodysClaim) {
  claim(domain_->top(), 0, 0) = kNobody;
  reap(domain_->users(), domain_->instances());
  EXPECT_EQ(claim(domain_->top(), 0, 0), kNobody);
}

}  // namespace
}  // namespace landtrace::domain
