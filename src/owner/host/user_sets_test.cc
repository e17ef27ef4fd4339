#include "host/user_sets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <set>

namespace landtrace::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class UserSetsTest : public testing::Test {
 protected:
  std::vector<int> reported() {
    std::vector<epoll_event> events(100);
    const int n = ::epoll_wait(epoll_.get(), events.data(), 100, 0);
    std::vector<int> fds;
    for (int i = 0; i < n; ++i) fds.push_back(events[static_cast<std::size_t>(i)].data.fd);
    return fds;
  }
  static Fd speaking() { return Fd(::eventfd(1, EFD_CLOEXEC)); }

  Fd epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  UserSets sets_{epoll_.get()};
};

TEST_F(UserSetsTest, HoweverManyOfAUserAreReadyTheyAreOneEntryAndHideNobodyElses) {
  constexpr std::size_t kMany = 5000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, kMany + 100);
  if (files.rlim_max < kMany + 100 || ::setrlimit(RLIMIT_NOFILE, &files) != 0) {
    GTEST_SKIP() << "SKIPPED: this user may not have so many open files";
  }
  std::vector<Fd> many;
  for (std::size_t i = 0; i < kMany; ++i) {
    many.push_back(speaking());
    ASSERT_TRUE(sets_.add(1, many.back().get()));
  }
  const Fd one = speaking();
  ASSERT_TRUE(sets_.add(2, one.get()));
  const std::vector<int> sets = reported();
  ASSERT_THAT(sets, SizeIs(2));
  EXPECT_THAT((std::set{*sets_.user_of(sets[0]), *sets_.user_of(sets[1])}), ElementsAre(1, 2));
  std::set<int> seen;
  for (int look = 0; look < 2; ++look) {
    for (const epoll_event& event : sets_.ready(1)) seen.insert(event.data.fd);
  }
  EXPECT_THAT(seen, SizeIs(kMany)) << "those that found no room come first at the next look";
  ASSERT_THAT(sets_.ready(2), SizeIs(1));
  EXPECT_EQ(sets_.ready(2)[0].data.fd, one.get());
}

TEST_F(UserSetsTest, WhoHasNoConnectionHasNoSet) {
  const Fd first = speaking(), second = speaking();
  ASSERT_TRUE(sets_.add(1, first.get()));
  ASSERT_TRUE(sets_.add(1, second.get()));
  const int set = reported().at(0);
  sets_.remove(1);
  EXPECT_EQ(sets_.user_of(set), 1u);
  sets_.remove(1);
  EXPECT_EQ(sets_.user_of(set), std::nullopt);
  EXPECT_THAT(reported(), IsEmpty());
  EXPECT_THAT(sets_.ready(1), IsEmpty());
  ASSERT_TRUE(sets_.add(1, first.get()));
  EXPECT_THAT(sets_.ready(1), SizeIs(1));
}

}  // namespace
}  // namespace landtrace::host
