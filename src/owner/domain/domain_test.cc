// What the parts of a domain are together: who may have what, the order of checks, the domain's own time.
#include "domain/domain.hpp"
#include "plan/cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <thread>

#include "domain/test_serving.hpp"
#include "programs/test_child.hpp"

namespace landtrace::domain {
namespace {

constexpr std::uint32_t kGuest = 65533;

class DomainTest : public testing::Test {
 protected:
  static std::uint32_t my_pid() { return static_cast<std::uint32_t>(::getpid()); }
  static Identity myself() { return {::geteuid(), ::getegid()}; }
  EnableBit word(std::uint8_t bit = 0) { return {reinterpret_cast<std::uint64_t>(&word_), bit}; }
  FileId open() { return *domain_->registrar().open_file(myself().uid); }
  int ask(FileId file, const Registrar::WordRequest& request) {
    const auto index = domain_->registrar().register_for_file(file, my_pid(), myself(), request);
    return index ? 0 : index.error().code;
  }
  Event* find(std::string_view name) { return domain_->events().find(kSystem, name); }

  alignas(8) std::uint64_t word_ = 0;
  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
};

TEST_F(DomainTest, ARequestIsCheckedInTheKernelsOrder) {
  const FileId file = open(), plain = open();
  ASSERT_TRUE(domain_->registrar().register_plain(plain, "plain", myself().uid));
  ASSERT_EQ(ask(file, {"used", 0, word(5), 8}), 0);
  EXPECT_EQ(ask({file.slot, file.generation + 1}, {"bad text", 0xff, word(64), 3}), EBADF);
  EXPECT_EQ(ask(plain, {"e1", 0, word(), 4}), EINVAL) << "what is written to it has no index";
  EXPECT_EQ(ask(file, {"e1", 4, word(5), 8}), EINVAL) << "flags";
  EXPECT_EQ(ask(file, {"e1", 0, word(5), 3}), EINVAL) << "no such size";
  EXPECT_EQ(ask(file, {"e1", 0, word(32), 4}), EINVAL) << "no such bit";
  EXPECT_EQ(ask(file, {"e1", 0, word(64), 8}), EINVAL);
  EXPECT_EQ(ask(file, {"e1", 0, {word().address + 4, 0}, 8}), EINVAL) << "not aligned";
  EXPECT_EQ(ask(file, {"e1", 0, {word().address + 2, 0}, 4}), EINVAL);
  EXPECT_EQ(ask(file, {"bad text", 0, word(5), 8}), EADDRINUSE);
  EXPECT_EQ(ask(file, {"bad text", 0, word(6), 8, EFAULT}), EFAULT);
  EXPECT_EQ(ask(file, {"bad text", 0, word(6), 8}), EINVAL);
  EXPECT_EQ(ask(file, {"used u32 x", 0, word(6), 8}), EADDRINUSE) << "the name has other fields";
  EXPECT_EQ(find("e1"), nullptr) << "what is refused leaves nothing";
  EXPECT_EQ(ask(file, {"e1", 0, word(63), 8}), 0);
  EXPECT_EQ(ask(file, {"e1", 0, {word().address + 4, 30}, 4}), 0);
}

TEST_F(DomainTest, WhoRunsTheDomainOrIsRootIsNoGuest) {
  domain_ = *Domain::create({.ring_bytes = 1 << 18, .owner_uid = 1000});
  EXPECT_FALSE(domain_->registrar().is_guest(1000));
  EXPECT_FALSE(domain_->registrar().is_guest(0));
  EXPECT_TRUE(domain_->registrar().is_guest(1001));
  EXPECT_TRUE(domain_->registrar().register_native("stays", kPersist, 1000));
  EXPECT_EQ(domain_->registrar().register_native("stays_too", kPersist, 1001).error().code, EPERM);
  const auto synthetic = *event::parse_declared("wakeup", "u64 lat", "synthetic");
  EXPECT_EQ(domain_->registrar().add_event("synthetic", synthetic, "", 1001).error().code, EPERM);
  EXPECT_TRUE(domain_->registrar().add_event("synthetic", synthetic, "", 1000));
}

TEST_F(DomainTest, AGuestHasSoManyWriteIndices) {
  Registrar& registrar = domain_->registrar();
  constexpr std::uint32_t kFiles = 64;
  std::vector<Event*> events;
  for (std::uint32_t i = 0; i < Registrar::kGuestIndices / kFiles; ++i) {
    events.push_back(domain_->events().register_event("e" + std::to_string(i), 0, myself().uid)->event);
  }
  FileId file;
  for (std::uint32_t i = 0; i < kFiles; ++i) {
    file = *registrar.open_file(kGuest);
    for (Event* const event : events) ASSERT_TRUE(domain_->files().add_event(file, *event));
  }
  EXPECT_TRUE(registrar.register_status_bit(file, "e0", kGuest)) << "it has one";
  EXPECT_EQ(registrar.register_status_bit(file, "more", kGuest).error().code, ENOMEM);
  EXPECT_EQ(registrar.register_plain(*registrar.open_file(kGuest), "more", kGuest).error().code, ENOMEM);
  EXPECT_EQ(find("more"), nullptr);
  EXPECT_TRUE(registrar.register_status_bit(open(), "more", kGuest)) << "a file of the domain's user";
}

TEST_F(DomainTest, AGuestOfWhomNothingIsLeftMakesRoomForAnother) {
  const auto alone = domain_->enter();
  const auto first = domain_->join(20'000);
  ASSERT_EQ(domain_->join(myself().uid), 1u);
  const std::uint32_t counter = *domain_->cells().take_counter();
  const std::uint32_t counted = *domain_->registrar().register_native("counted u32 x", 0, myself().uid);
  domain_->cells().add_writer(counter, *domain_->registrar().register_native("counted u32 x", 0, 20'000));
  domain_->events().drop_reference(counted, 20'000);
  domain_->users().all()[*first].data().cells[counter].own = 3;
  domain_->users().all()[*first].data().slotless = 7;
  for (std::uint32_t uid = 20'001; domain_->users().all().size() < plan::kMaxUsers; ++uid) {
    ASSERT_TRUE(domain_->join(uid));
    ASSERT_TRUE(domain_->descriptors().take(uid, 1));
  }
  const std::uint64_t changes = domain_->control().segment().user_changes;
  EXPECT_EQ(domain_->join(30'000), *first);
  EXPECT_EQ(domain_->users().all()[*first].uid, 30'000u);
  EXPECT_GT(domain_->control().segment().user_changes, changes);
  EXPECT_EQ(domain_->users().all()[*first].data().slotless, 0u) << "nothing of the other one is there";
  EXPECT_EQ(domain_->users().all()[*first].data().magic, plan::kDataMagic);
  EXPECT_EQ(domain_->cells().count_of(counter), 3u) << "what its programs have counted stays counted";
  EXPECT_EQ(plan::counted(domain_->users().all()[*first].data().cells[counter]), 3u);
}

TEST_F(DomainTest, WhoHasAnythingLeftStays) {
  const auto alone = domain_->enter();
  for (std::uint32_t uid = 20'000; domain_->users().all().size() < plan::kMaxUsers; ++uid) {
    ASSERT_TRUE(domain_->join(uid));
    switch (uid % 4) {
      case 0:
        ASSERT_TRUE(domain_->descriptors().take(uid, 1));
        break;
      case 1:
        ASSERT_TRUE(domain_->registrar().open_file(uid));
        break;
      case 2:
        ASSERT_TRUE(domain_->registrar().register_native("e" + std::to_string(uid), 0, uid));
        break;
      default: {
        plan::DataSegment& data = domain_->users().all().back().data();
        data.thread_high = 1;
        data.threads[0].tid = data.threads[0].pid = my_pid();
      }
    }
  }
  const auto refused = domain_->join(30'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ENOSPC);
  EXPECT_NE(refused.error().message.find("64 users"), std::string::npos);
  domain_->descriptors().give_back(20'004, 1);
  domain_->users().keep_all();
  EXPECT_FALSE(domain_->join(30'000)) << "histograms add up all";
  domain_->users().keep_no_more();
  EXPECT_EQ(domain_->join(30'000), 4u);
}

TEST_F(DomainTest, TheUserIdsOfOnePersonLeavePlacesToOthers) {
  const std::string ids = testing::TempDir() + "subuid-" + std::to_string(::getpid());
  std::ofstream(ids) << "anna:100000:65536\nbert:165536:65536\n";
  const auto domain = *Domain::create({.ring_bytes = 1 << 18, .subordinate_ids = ids});
  const auto alone = domain->enter();
  const auto come = [&](std::uint32_t uid) {
    auto user = domain->join(uid);
    if (user && !domain->descriptors().take(uid, 1)) user = fail(EMFILE);
    return user;
  };
  ASSERT_TRUE(come(20'000));
  for (std::uint32_t i = 0; i < plan::kMaxUsers / 4; ++i) ASSERT_TRUE(come(100'000 + i)) << i;
  const auto refused = domain->join(150'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ENOSPC);
  EXPECT_NE(refused.error().message.find("gives to anna are 16 of the domain's users"), std::string::npos);
  EXPECT_EQ(come(100'003), 4u) << "it is there";
  EXPECT_TRUE(come(165'536));
  EXPECT_TRUE(come(20'001));
  EXPECT_TRUE(come(0)) << "nobody's are not counted";
  // One of theirs makes room, and none of others.
  domain->descriptors().give_back(20'000, 1);
  EXPECT_FALSE(domain->join(150'000));
  domain->descriptors().give_back(100'005, 1);
  EXPECT_EQ(come(150'000), 6u);
  std::filesystem::remove(ids);
}

TEST_F(DomainTest, ThreadsThatNobodyKnowsKeepAGuestsPlaceForAWhile) {
  const auto alone = domain_->enter();
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to start another user's process";
  constexpr std::uint32_t kAlive = 20'001;
  programs::TestChild child([] { programs::become_user(kAlive); });
  for (std::uint32_t uid = 20'000; domain_->users().all().size() < plan::kMaxUsers; ++uid) {
    ASSERT_TRUE(domain_->join(uid));
    plan::DataSegment& data = domain_->users().all().back().data();
    data.thread_high = 1;
    data.threads[0].tid = uid == kAlive ? child.pid() : 1;
    data.threads[0].pid = uid == kAlive ? child.pid() : uid % 2;  // 0: another namespace's; 1: not the guest's
  }
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(domain_->look_after_guests(now)) << "none of them is there";
  EXPECT_EQ(domain_->join(30'000, now + Domain::kUnknownThreadsStay / 2).error().code, ENOSPC);
  const auto later = now + Domain::kUnknownThreadsStay;
  for (std::uint32_t i = 0; i + 1 < plan::kMaxUsers; ++i) {
    EXPECT_TRUE(domain_->join(30'000 + i, later));
    ASSERT_TRUE(domain_->descriptors().take(30'000 + i, 1));
  }
  EXPECT_EQ(domain_->join(40'000, later).error().code, ENOSPC) << "one has a thread that lives";
  child.end();
  EXPECT_EQ(domain_->join(40'000, later), 1u);
}

// What it says of them it may have made up, and each costs a look.
TEST_F(DomainTest, OfAGuestWhoHasLeftSoManyProcessesAreLookedAt) {
  const auto alone = domain_->enter();
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to start another user's process";
  constexpr std::uint32_t kNone = 1u << 31;  // and above: no process has it
  constexpr std::uint32_t kOften = 20'001, kMany = 20'002;
  programs::TestChild often([] { programs::become_user(kOften); });
  programs::TestChild many([] { programs::become_user(kMany); });
  for (std::uint32_t uid = 20'000; domain_->users().all().size() < plan::kMaxUsers; ++uid) {
    ASSERT_TRUE(domain_->join(uid));
    if (uid != kOften && uid != kMany) {
      ASSERT_TRUE(domain_->descriptors().take(uid, 1));
    }
    plan::DataSegment& data = domain_->users().all().back().data();
    data.thread_high = 101;
    for (std::uint32_t i = 0; i < 100; ++i) {
      data.threads[i].tid = 1;
      data.threads[i].pid = uid == kOften ? kNone : kNone + i;
    }
    data.threads[100].tid = data.threads[100].pid = uid == kOften ? often.pid() : many.pid();
  }
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(domain_->join(30'000, now));
  const auto later = now + Domain::kUnknownThreadsStay;
  EXPECT_TRUE(domain_->join(30'000, later)) << "that one stands behind too many that are none";
  ASSERT_TRUE(domain_->descriptors().take(30'000, 1));
  EXPECT_FALSE(domain_->join(30'001, later)) << "one that is none is looked at once";
  often.end();
  EXPECT_TRUE(domain_->join(30'001, later));
}

TEST_F(DomainTest, AProgramForAnOlderKernelMakesEventsThatStayIfItMay) {
  const FileId mine = open(), guests = *domain_->registrar().open_file(kGuest);
  ASSERT_TRUE(domain_->registrar().register_status_bit(mine, "mine", myself().uid));
  ASSERT_TRUE(domain_->registrar().register_status_bit(guests, "guests", kGuest));
  domain_->files().close(mine), domain_->files().close(guests);
  EXPECT_NE(find("mine"), nullptr);
  EXPECT_EQ(find("guests"), nullptr);
}

TEST_F(DomainTest, NativeProducersReferToTheirEvents) {
  const std::uint32_t slot = *domain_->registrar().register_native("e1 u32 x", 0, myself().uid);
  EXPECT_EQ(domain_->registrar().attach_native(kSystem, "e1", 0), slot);
  EXPECT_EQ(find("e1")->references, 2u);
  EXPECT_EQ(domain_->registrar().attach_native(kSystem, "e2", 0).error().code, ENOENT);
  EXPECT_EQ(domain_->registrar().attach_native("other", "e1", 0).error().code, ENOENT);
  domain_->events().drop_reference(slot);
  EXPECT_NE(find("e1"), nullptr);
  domain_->events().drop_reference(slot);
  EXPECT_EQ(find("e1"), nullptr);
  EXPECT_EQ(domain_->registrar().register_native("e1", 4, myself().uid).error().code, EINVAL);
}

TEST_F(DomainTest, UsersJoinOnceAndProducersAreToldHowManyThereAre) {
  const auto& segment = domain_->control().segment();
  EXPECT_EQ(segment.user_count, 0u);
  EXPECT_EQ(domain_->join(1000), 0u);
  EXPECT_EQ(domain_->join(1001), 1u);
  EXPECT_EQ(domain_->join(1000), 0u);
  EXPECT_EQ(segment.user_count, 2u);
}

TEST_F(DomainTest, ASwitchThatOneUsersProducerThrowsReachesTheOthers) {
  for (const std::uint32_t uid : {1000u, 1001u}) ASSERT_TRUE(domain_->join(uid));
  plan::DataSegment &one = domain_->users().all()[0].data(), &other = domain_->users().all()[1].data();
  std::uint32_t cell = 0;
  {
    const Domain::Access access = domain_->enter();
    cell = *domain_->cells().take_switch(false);
    domain_->cells().add_writer(cell, *domain_->registrar().register_native("throws u32 x", 0, 1000));
  }
  plan::throw_now(one.cells[cell], true, arch::read_raw_clock(arch::best_raw_clock()));
  __atomic_fetch_add(&one.attention, 1, __ATOMIC_RELEASE);
  ::syscall(SYS_futex, &one.attention, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  while (!plan::is_thrown(other.cells[cell])) std::this_thread::yield();
}

TEST_F(DomainTest, WhoServesItIsWokenForWhatIsLeftToDo) {
  const ToldServingThread serving(*domain_);
  { const Domain::Access access = domain_->enter(); }
  EXPECT_EQ(serving.wakes, 0);
  bool freed = false;
  {
    const Domain::Access access = domain_->enter();
    const Domain::Access nested = domain_->enter();
    domain_->grace().after_readers([&] { freed = true; });
  }
  EXPECT_EQ(serving.wakes, 2) << "once for each that ends";
  EXPECT_FALSE(domain_->maintain());
  EXPECT_TRUE(freed);
  { const Domain::Access access = domain_->enter(); }
  EXPECT_EQ(serving.wakes, 2);
}

TEST_F(DomainTest, ItsShapeIsInTheSegment) {
  const auto& segment = domain_->control().segment();
  EXPECT_EQ(segment.abi, abi::Version::k6_12);
  EXPECT_EQ(segment.cpus, static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_CONF)));
  EXPECT_GE(segment.claimed, 8u) << "threads without restartable sequences need rings of their own";
  EXPECT_GE(segment.claimed, segment.cpus);
  EXPECT_GE(segment.data_bytes, 1ull << 30);
  EXPECT_EQ(domain_->top().place.geometry.stride(), ring::Geometry::holding(1 << 18).stride());
  EXPECT_TRUE(domain_->top().place.overwrite);
  const auto large = *Domain::create({.ring_bytes = 64 << 20, .abi = abi::Version::k6_1});
  EXPECT_EQ(large->abi(), abi::Version::k6_1);
  const std::uint64_t set = large->top().place.geometry.stride() * large->instances().rings_per_set();
  EXPECT_GE(large->control().segment().data_bytes, sizeof(plan::DataSegment) + 8 * set) << "room for some instances";
}

class DomainJournalTest : public DomainTest {
 protected:
  ~DomainJournalTest() override {
    for (const char* const end : {"", ".bits", ".bytes"}) std::filesystem::remove(path_ + end);
  }
  const std::string path_ = testing::TempDir() + "domain_test-" + std::to_string(::getpid()) + ".state";
};

TEST_F(DomainJournalTest, WhereNoJournalCanBeWrittenTheDomainGoesOnWithout) {
  EXPECT_EQ(domain_->succession().keep_journal(testing::TempDir() + "no/such/folder/x").error().code, ENOENT);
  EXPECT_TRUE(domain_->registrar().register_native("e1", kPersist, myself().uid));
  EXPECT_TRUE(domain_->registrar().open_file(myself().uid, my_pid()));
  EXPECT_EQ(ask(open(), {"e2", 0, word(), 4}), 0);
  domain_->shut_down();
}

TEST_F(DomainJournalTest, RestoredEventsAreHeldForAWhile) {
  ASSERT_TRUE(domain_->succession().keep_journal(path_));
  EXPECT_FALSE(domain_->succession().next_deadline());
  const std::uint32_t slot = *domain_->registrar().register_native("e1 u32 x", 0, myself().uid);
  EXPECT_EQ(slot, plan::kFirstEventSlot);
  domain_ = *Domain::create({.ring_bytes = 1 << 18});
  const auto before = std::chrono::steady_clock::now();
  ASSERT_TRUE(domain_->succession().keep_journal(path_));
  ASSERT_NE(find("e1"), nullptr) << "its program will register it again";
  EXPECT_EQ(find("e1")->references, 1u);
  ASSERT_TRUE(domain_->succession().next_deadline());
  EXPECT_GE(*domain_->succession().next_deadline(), before + Succession::kRestoredWait);
  EXPECT_FALSE(domain_->maintain());
  EXPECT_NE(find("e1"), nullptr);
}

TEST_F(DomainJournalTest, PersistentEventsAreReasonEnoughToLeaveAJournal) {
  ASSERT_TRUE(domain_->succession().keep_journal(path_, Successor::kMayCome));
  ASSERT_TRUE(domain_->registrar().register_native("e1", 0, myself().uid));
  const std::uint32_t stays = *domain_->registrar().register_native("e2", kPersist, myself().uid);
  domain_->events().drop_reference(stays);
  domain_->shut_down();
  EXPECT_TRUE(std::filesystem::exists(path_));
  domain_ = *Domain::create({.ring_bytes = 1 << 18});
  ASSERT_TRUE(domain_->succession().keep_journal(path_, Successor::kMayCome));
  ASSERT_TRUE(domain_->registrar().remove_event("e2", 0).error().code == EBUSY) << "it is held";
}

}  // namespace
}  // namespace landtrace::domain
