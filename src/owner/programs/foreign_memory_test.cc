#include "programs/foreign_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "ipc/claim.hpp"
#include "programs/test_child.hpp"
#include "programs/test_client.hpp"
#include "programs/test_hung_file.hpp"
#include "programs/test_silent_page.hpp"
#include "programs/test_self.hpp"

namespace landtrace::programs {
namespace {

using Words = std::vector<ForeignMemory::KnownWord>;
using Taken = std::vector<bool>;

std::uint32_t my_pid() { return static_cast<std::uint32_t>(::getpid()); }
EnableBit bit_at(const void* at, std::uint8_t bit = 0) { return {address_of(at), bit}; }

// Each test looks into its own process, as if that were another one.
class ForeignMemoryTest : public testing::Test {
 protected:
  std::shared_ptr<AddressSpace> open_myself() { return *memory_.open(my_pid(), myself()); }
  // The job that was left behind holds the memory until it has ended. A test that waited for ever could not even be
  // killed where the thread that serves the file ends before the one that reads it.
  static void wait_until_alone(const std::shared_ptr<AddressSpace>& space) {
    EXPECT_TRUE(comes([&] { return space.use_count() == 1; }));
  }
  template <typename Condition>
  static bool comes(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return condition();
  }
  ForeignMemory memory_;
};

TEST_F(ForeignMemoryTest, ARootOwnerTouchesForAClientOnlyWhatThatClientMay) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to act as another user";
  EXPECT_FALSE(memory_.open(my_pid(), kNobody));
  EXPECT_TRUE(memory_.open(my_pid(), myself())) << "the thread has root's rights again";
  const TestChild nobodys([] { become_user(kNobody.uid); });
  EXPECT_TRUE(memory_.open(nobodys.pid(), kNobody));
  EXPECT_FALSE(memory_.open(nobodys.pid(), {65533, 65533}));
}

TEST_F(ForeignMemoryTest, AWordIsWrittenWhereTheProcessCouldWriteIt) {
  std::uint32_t word = 0;
  const auto space = open_myself();
  EXPECT_TRUE(memory_.check_and_set(space, bit_at(&word, 4), true));
  EXPECT_EQ(word, 1u << 4);
  EXPECT_TRUE(memory_.check_and_set(space, bit_at(&word, 4), false));
  EXPECT_EQ(word, 0u);
  void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EQ(memory_.check_and_set(space, bit_at(page), true).error().code, EFAULT);
  ::munmap(page, 4096);
  EXPECT_EQ(memory_.check_and_set(space, bit_at(page), true).error().code, EFAULT);
  EXPECT_FALSE(space->is_silent) << "it did answer";
}

TEST_F(ForeignMemoryTest, TheMemoryOfAProgramThatHasCalledExecIsGone) {
  TestClient client;
  const std::uint64_t word = client.ask("at");
  const auto space = *memory_.open(client.pid(), myself());
  EXPECT_TRUE(memory_.check_and_set(space, {word, 0}, true));
  EXPECT_EQ(client.ask("word"), 1u);
  client.become("exec");
  memory_.set_all({{space, {client.ask("at"), 0}, true}});
  EXPECT_EQ(client.ask("word"), 0u) << "the new program's memory is not the old one's";
}

// The kernel closes files within the lock that whoever compares two memories waits for.
TEST_F(ForeignMemoryTest, AProcessThatHangsInExecSharesNoMemory) {
  HungFile file(FUSE_FLUSH);
  if (!file.is_there()) GTEST_SKIP() << "SKIPPED: mounts are not allowed here";
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  while (file.closes() == 0) std::this_thread::yield();
  EXPECT_FALSE(memory_.share_memory(my_pid(), static_cast<std::uint32_t>(child), myself().uid));
  file.answer_with();
  ::waitpid(child, nullptr, 0);
}

TEST_F(ForeignMemoryTest, ThreadsShareTheirMemory) {
  std::thread([&] {
    EXPECT_TRUE(memory_.share_memory(my_pid(), static_cast<std::uint32_t>(::gettid()), myself().uid));
  }).join();
}

TEST_F(ForeignMemoryTest, APageThatDoesNotAnswerIsTouchedOnce) {
  const SilentPage silent;
  if (!silent.is_there()) GTEST_SKIP() << "SKIPPED: no userfaultfd here";
  const auto hung = open_myself(), well = open_myself();
  EXPECT_EQ(memory_.check_and_set(hung, bit_at(silent.data()), true).error().code, EFAULT);
  EXPECT_TRUE(hung->is_silent);
  silent.wait_until_touched();
  std::uint32_t word = 0;
  EXPECT_EQ(memory_.check_and_set(hung, bit_at(&word), true).error().code, EFAULT);
  memory_.set_all({{hung, bit_at(&word, 1), true}, {well, bit_at(&word, 2), true}});
  EXPECT_EQ(memory_.take_over(hung, {{bit_at(&word, 3), 0, true, ~0ull}}), Taken{false});
  EXPECT_EQ(word, 1u << 2) << "other memory is served on";
  EXPECT_FALSE(silent.is_touched());

  const std::uint32_t answer = 0x10;
  silent.answer_with(&answer, sizeof answer);
  wait_until_alone(hung);
  EXPECT_EQ(*static_cast<const std::uint32_t*>(silent.data()), answer) << "nobody knows of the bit any more";
}

TEST_F(ForeignMemoryTest, WordsThatCannotBeWrittenArePassedOver) {
  std::uint32_t words[3] = {0, 1, 0};
  const auto space = open_myself();
  TestChild child;
  const auto ended = *memory_.open(child.pid(), myself());
  child.end();
  memory_.set_all({{space, bit_at(&words[0]), true},
                   {ended, bit_at(&words[0], 1), true},
                   {space, bit_at(&words[1]), false},
                   {space, {0, 0}, true},
                   {space, bit_at(&words[2], 31), true}});
  EXPECT_THAT(words, testing::ElementsAre(1u, 0u, 1u << 31));
  EXPECT_FALSE(space->is_silent || ended->is_silent);
}

TEST_F(ForeignMemoryTest, AMemoryThatDoesNotAnswerHoldsUpNoOther) {
  HungFile file;
  if (!file.is_there()) GTEST_SKIP() << "SKIPPED: mounts are not allowed here";
  std::uint32_t words[4] = {};
  const auto one = open_myself(), two = open_myself(), well = open_myself();
  file.put_in_place_of(one->mem), file.put_in_place_of(two->mem);
  memory_.set_all({{well, bit_at(&words[0]), true},
                   {one, bit_at(&words[3], 1), true},
                   {well, bit_at(&words[1]), true},
                   {one, bit_at(&words[3], 2), true},
                   {two, bit_at(&words[3], 3), true},
                   {well, bit_at(&words[2]), true}});
  EXPECT_THAT(words, testing::ElementsAre(1u, 1u, 1u, 0u));
  EXPECT_TRUE(one->is_silent && two->is_silent);
  EXPECT_FALSE(well->is_silent);

  words[1] = words[2] = 0;
  file.answer_with('\0');
  wait_until_alone(one), wait_until_alone(two);
  EXPECT_EQ(file.reads(), 2) << "each was touched once";
  EXPECT_EQ(file.writes(), 0) << "the bits may be other events' by now";
  EXPECT_THAT(words, testing::ElementsAre(1u, 0u, 0u, 0u)) << "what was left behind goes no further";
}

TEST_F(ForeignMemoryTest, AMemoryThatAnswersAfterAllIsTouchedAgain) {
  const SilentPage silent;
  if (!silent.is_there()) GTEST_SKIP() << "SKIPPED: no userfaultfd here";
  const auto space = open_myself();
  EXPECT_FALSE(memory_.check_and_set(space, bit_at(silent.data()), true));
  EXPECT_TRUE(space->is_silent);
  EXPECT_FALSE(memory_.answers(*space));
  std::uint32_t word = 0;
  std::ignore = memory_.take_any_missed();
  memory_.set_all({{space, bit_at(&word), true}});
  EXPECT_TRUE(space->has_missed);
  EXPECT_TRUE(memory_.take_any_missed());
  EXPECT_FALSE(memory_.any_missed());
  const std::uint32_t answer = 0;
  silent.answer_with(&answer, sizeof answer);
  while (space->is_silent) std::this_thread::yield();
  EXPECT_EQ(word, 0u) << "whoever knows all of its bits makes up for it";
  EXPECT_TRUE(memory_.answers(*space));
  EXPECT_TRUE(memory_.check_and_set(space, bit_at(silent.data()), true));
  memory_.set_all({{space, bit_at(&word), true}});
  EXPECT_EQ(*static_cast<const std::uint32_t*>(silent.data()), 1u);
  EXPECT_EQ(word, 1u);
}

class GuestsMemoryTest : public ForeignMemoryTest {
 protected:
  GuestsMemoryTest() { memory_.set_owner(0); }
  std::shared_ptr<AddressSpace> open_guests() {
    auto space = open_myself();
    space->uid = 65533;
    return space;
  }
};

// It is waited for 20 ms; so many words had 5 s once. A machine may stand still for some seconds, but not each time.
TEST_F(GuestsMemoryTest, APageThatDoesNotAnswerCostsAGuestWithManyWordsNoMore) {
  bool is_soon = false;
  for (int i = 0; i < 3 && !is_soon; ++i) {
    HungFile file;
    if (!file.is_there()) GTEST_SKIP() << "SKIPPED: mounts are not allowed here";
    ForeignMemory memory;
    memory.set_owner(0);
    const auto hung = open_guests(), well = open_guests();
    file.put_in_place_of(hung->mem);
    std::vector<std::uint32_t> words(1 << 18, 0);
    std::vector<ForeignMemory::Change> changes{{hung, bit_at(&words[0], 1), true}};
    for (const auto& word : words) changes.push_back({well, bit_at(&word), true});
    const auto start = std::chrono::steady_clock::now();
    memory.set_all(std::move(changes));
    is_soon = std::chrono::steady_clock::now() - start < std::chrono::seconds(4);
    // A thread that has had no CPU for a second is not waited for.
    EXPECT_TRUE(comes([&] {
      memory.look_after();
      return well.use_count() == 1;
    }));
    EXPECT_TRUE(hung->is_silent && hung->has_missed);
    EXPECT_FALSE(well->is_silent || well->has_missed);
    EXPECT_EQ(std::count(words.begin(), words.end(), 1u), words.size()) << "they are changed all the same";
    file.answer_with('\0');
    wait_until_alone(hung);
    EXPECT_EQ(file.writes(), 0);
  }
  EXPECT_TRUE(is_soon);
}

// It does not answer when nobody waits for it any more.
TEST_F(GuestsMemoryTest, WhatGoesOnAloneDoesNotStayBehindAMemoryThatDoesNotAnswer) {
  HungFile file;
  if (!file.is_there()) GTEST_SKIP() << "SKIPPED: mounts are not allowed here";
  const auto well = open_guests(), hung = open_guests(), behind = open_guests();
  file.put_in_place_of(hung->mem);
  std::vector<std::uint32_t> words(1 << 18, 0);
  std::uint32_t last = 0;
  std::vector<ForeignMemory::Change> changes;
  for (const auto& word : words) changes.push_back({well, bit_at(&word), true});
  changes.push_back({hung, bit_at(&last, 1), true});
  changes.push_back({behind, bit_at(&last, 2), true});
  memory_.set_all(std::move(changes));
  EXPECT_TRUE(memory_.is_at_work());
  EXPECT_TRUE(comes([&] { return file.reads() > 0; }));
  EXPECT_TRUE(comes([&] {
    memory_.look_after(std::chrono::milliseconds(20));
    return behind.use_count() == 1;
  }));
  EXPECT_EQ(last, 1u << 2);
  EXPECT_EQ(std::count(words.begin(), words.end(), 1u), words.size());
  EXPECT_TRUE(hung->is_silent && hung->has_missed);
  EXPECT_FALSE(behind->is_silent || behind->has_missed);
  EXPECT_TRUE(comes([&] {
    memory_.look_after();
    return !memory_.is_at_work();
  })) << "who was left behind is not looked after";
  file.answer_with('\0');
  wait_until_alone(hung);
}

TEST_F(GuestsMemoryTest, NoMoreThreadsAreLeftBehindByLookingThanAGuestMayKeep) {
  HungFile file;
  if (!file.is_there()) GTEST_SKIP() << "SKIPPED: mounts are not allowed here";
  std::vector<std::shared_ptr<AddressSpace>> hung(12);
  std::uint32_t word = 0;
  std::vector<ForeignMemory::Change> changes;
  for (auto& space : hung) {
    space = open_guests();
    file.put_in_place_of(space->mem);
    changes.push_back({space, bit_at(&word), true});
  }
  memory_.set_all(std::move(changes));
  const auto left_behind = [&] {
    return std::count_if(hung.begin(), hung.end(), [](const auto& space) { return bool{space->is_silent}; });
  };
  EXPECT_TRUE(comes([&] {
    memory_.look_after(std::chrono::milliseconds(1));
    return left_behind() == 8;
  }));
  for (int i = 0; i < 100; ++i) {
    memory_.look_after(std::chrono::milliseconds(1));
    ::usleep(1000);
  }
  EXPECT_EQ(left_behind(), 8) << "the ninth stays";
  EXPECT_TRUE(memory_.is_at_work());
  file.answer_with('\0');
  for (const auto& space : hung) wait_until_alone(space);
}

TEST_F(GuestsMemoryTest, ChangesThatGoOnAloneAreMadeInTheirOrder) {
  const auto space = open_guests();
  std::vector<std::uint32_t> words(100'000, 0);
  for (const bool on : {true, false, true, false}) {
    std::vector<ForeignMemory::Change> changes;
    for (const auto& word : words) changes.push_back({space, bit_at(&word), on});
    memory_.set_all(std::move(changes));
  }
  wait_until_alone(space);
  EXPECT_EQ(std::count(words.begin(), words.end(), 0u), words.size());
  EXPECT_FALSE(space->is_silent || space->has_missed) << "it has answered all the time";
}

// Each change that waits holds its memory.
TEST_F(GuestsMemoryTest, WhatWaitsIsLimitedAndTheRestMissed) {
  const auto space = open_guests();
  std::vector<std::uint32_t> words(1 << 18, 0);
  const auto set = [&](bool on) {
    std::vector<ForeignMemory::Change> changes;
    for (const auto& word : words) changes.push_back({space, bit_at(&word), on});
    memory_.set_all(std::move(changes));
  };
  for (int i = 0; i < 5; ++i) {
    set(i % 2 == 0);
    EXPECT_LE(space.use_count(), ForeignMemory::kMaxWaiting + 3) << "with ours, and with the one that is being made";
  }
  wait_until_alone(space);
  EXPECT_EQ(memory_.take_any_missed(), space->has_missed);
  if (space->has_missed) set(true);  // whoever knows all of its words makes up for it
  wait_until_alone(space);
  EXPECT_EQ(std::count(words.begin(), words.end(), 1u), words.size());
  EXPECT_FALSE(memory_.any_missed());
}

TEST_F(GuestsMemoryTest, OneWordDoesNotWaitForManyChanges) {
  const auto space = open_guests(), other = open_guests();
  std::vector<std::uint32_t> words(1 << 18, 0);
  std::vector<ForeignMemory::Change> changes;
  for (const auto& word : words) changes.push_back({space, bit_at(&word), true});
  memory_.set_all(std::move(changes));
  std::uint32_t word = 0;
  const auto opened = memory_.open(my_pid(), {65533, 65533});  // another of its programs: whether it may is known
  EXPECT_TRUE(opened || opened.error().code != ETIMEDOUT);
  EXPECT_TRUE(memory_.check_and_set(other, bit_at(&word), true));
  EXPECT_EQ(word, 1u);
  // One that is given up: what it was to become does not matter any more.
  EXPECT_TRUE(memory_.check_and_set(space, bit_at(&words.back()), false));
  wait_until_alone(space);
  EXPECT_EQ(words.back(), 0u);
  EXPECT_EQ(std::count(words.begin(), words.end(), 1u), words.size() - 1) << "and then the changes go on";
}

// Other memory of the user has not answered twice, and so none is waited for.
TEST_F(GuestsMemoryTest, AWordThatIsNotWaitedForHasItsChangeOrHasMissedIt) {
  HungFile file;
  if (!file.is_there()) GTEST_SKIP() << "SKIPPED: mounts are not allowed here";
  const auto one = open_guests(), two = open_guests(), well = open_guests();
  file.put_in_place_of(one->mem), file.put_in_place_of(two->mem);
  std::vector<std::uint32_t> words(1 << 18, 0);
  std::vector<ForeignMemory::Change> changes{{one, bit_at(&words[0], 1), true}, {two, bit_at(&words[0], 2), true}};
  for (const auto& word : words) changes.push_back({well, bit_at(&word), true});
  memory_.set_all(std::move(changes));
  EXPECT_FALSE(well->has_missed);
  const bool is_set = memory_.check_and_set(well, bit_at(&words.back()), true).has_value();
  file.answer_with('\0');
  wait_until_alone(one), wait_until_alone(two), wait_until_alone(well);
  EXPECT_TRUE(words.back() == 1 || well->has_missed);
  EXPECT_TRUE(words.back() == 1 || !is_set);
}

TEST_F(GuestsMemoryTest, AtTheEndChangesDoNotGoOnAlone) {
  const auto space = open_guests();
  std::vector<std::uint32_t> words(100'000, 1);
  std::vector<ForeignMemory::Change> changes;
  for (const auto& word : words) changes.push_back({space, bit_at(&word), false});
  memory_.set_all(std::move(changes), ForeignMemory::Wait::kToTheEnd);
  EXPECT_EQ(std::count(words.begin(), words.end(), 0u), words.size());
}

TEST_F(GuestsMemoryTest, TheLastChangesWaitForNoneThatTheyReplace) {
  const auto space = open_guests();
  std::vector<std::uint32_t> words(1 << 18, 0);
  for (const bool on : {true, false, true}) {
    std::vector<ForeignMemory::Change> changes;
    for (const auto& word : words) changes.push_back({space, bit_at(&word), on});
    memory_.set_all(std::move(changes));
  }
  std::vector<ForeignMemory::Change> last;
  for (const auto& word : words) last.push_back({space, bit_at(&word), false});
  memory_.set_all(std::move(last), ForeignMemory::Wait::kToTheEnd);
  EXPECT_EQ(std::count(words.begin(), words.end(), 0u), words.size()) << "also where no more could wait";
}

TEST_F(GuestsMemoryTest, ManyWordsAreTakenOverWhereTheMapHasToBeAsked) {
  const auto space = open_guests();
  space->maps = Fd(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  // Behind many lines, which the system makes anew for each look.
  std::vector<void*> pages;
  for (int i = 0; i < 500; ++i) {
    pages.push_back(::mmap(nullptr, 4096, i % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  std::uint32_t words[1000] = {};
  Words known;
  for (const auto& word : words) known.push_back({bit_at(&word), 0, true, 1});
  EXPECT_EQ(memory_.take_over(space, known), Taken(std::size(words), true));
  EXPECT_EQ(std::count(std::begin(words), std::end(words), 1u), std::size(words));
  for (void* const page : pages) ::munmap(page, 4096);
}

TEST_F(ForeignMemoryTest, AWordThatIsClaimedIsTakenOver) {
  std::uint64_t words[6] = {0, 1, 1, 1, 1, 1};
  ipc::Claim claims[6];
  for (int i = 0; i < 6; ++i) claims[i] = {address_of(&words[i]), 0, ipc::Claim::kMagic};
  claims[2].magic = 0;
  claims[3].bit = 1;
  claims[4].address = address_of(&words[0]);
  Words known;
  for (int i = 0; i < 6; ++i) known.push_back({bit_at(&words[i]), address_of(&claims[i]), i == 0});
  known[5].claim = 8;  // nothing is there
  EXPECT_EQ(memory_.take_over(open_myself(), known), (Taken{true, true, false, false, false, false}));
  EXPECT_EQ(words[0], 1u);
  EXPECT_EQ(words[1], 0u);
  for (int i = 2; i < 6; ++i) EXPECT_EQ(words[i], 1u) << i << " is not ours any more";
}

TEST_F(ForeignMemoryTest, AWordWithoutAClaimIsTakenOverIfNoOtherBitIsSet) {
  std::uint64_t registered = 0b100, other = 0b101, above = 1ull << 40 | 1ull << 41, behind = 0;
  std::uint32_t pair[2] = {0b100, 0xffff};
  EXPECT_EQ(memory_.take_over(open_myself(), {{bit_at(&registered, 2), 0, false, 0b100},
                                              {bit_at(&other, 2), 0, false, 0b100},
                                              {bit_at(&above, 40), 0, false, 1ull << 40},
                                              {bit_at(&behind, 40), 0, true, 1ull << 40},
                                              {bit_at(&pair[0], 2), 0, false, 0b100}}),
            (Taken{true, false, false, true, true}));
  EXPECT_EQ(registered, 0u);
  EXPECT_EQ(other, 0b101u);
  EXPECT_EQ(above, 1ull << 40 | 1ull << 41);
  EXPECT_EQ(behind, 1ull << 40);
  EXPECT_EQ(pair[0], 0u) << "a word of 4 bytes does not end where another begins";
  EXPECT_EQ(pair[1], 0xffffu);
}

TEST_F(ForeignMemoryTest, WordsAreTakenOverAsFarAsTheMemoryAnswers) {
  const SilentPage silent;
  if (!silent.is_there()) GTEST_SKIP() << "SKIPPED: no userfaultfd here";
  constexpr std::size_t kMany = 2500;
  std::vector<std::uint32_t> words(kMany, 0);
  Words known;
  for (const auto& word : words) known.push_back({bit_at(&word), 0, true, 1});
  const auto space = open_myself();
  EXPECT_EQ(memory_.take_over(space, known), Taken(kMany, true));
  EXPECT_EQ(std::count(words.begin(), words.end(), 1u), kMany);
  known[1500].bit = bit_at(silent.data());
  for (auto& word : known) word.on = false;
  const Taken taken = memory_.take_over(space, known);
  EXPECT_TRUE(taken[0] && taken[999] && taken[1499]) << "those that had been done by then";
  EXPECT_FALSE(taken[1500] || taken[1501] || taken[2400]);
  EXPECT_EQ(words[2400], 1u);
  const std::uint32_t answer = 1;
  silent.answer_with(&answer, sizeof answer);
  wait_until_alone(space);
  EXPECT_EQ(*static_cast<const std::uint32_t*>(silent.data()), 1u);
  EXPECT_EQ(words[1501], 1u) << "what was left behind goes no further";
}

}  // namespace
}  // namespace landtrace::programs
