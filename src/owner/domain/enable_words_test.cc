// Words in other processes' memory: whose they may be, and what happens where the memory is gone.
#include "domain/enable_words.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "domain/domain.hpp"
#include "domain/test_serving.hpp"
#include "programs/test_child.hpp"
#include "programs/test_client.hpp"
#include "programs/test_hung_file.hpp"
#include "programs/test_silent_page.hpp"

namespace landtrace::domain {
namespace {

constexpr std::size_t kPage = 4096;

Identity myself() { return {::geteuid(), ::getegid()}; }
std::uint32_t my_pid() { return static_cast<std::uint32_t>(::getpid()); }
EnableBit bit_at(const void* at, std::uint8_t bit = 0) { return {reinterpret_cast<std::uint64_t>(at), bit}; }

class WordsTest : public testing::Test {
 protected:
  Result<std::uint32_t> register_word(const void* at, const char* text = "e1", std::uint8_t bit = 0,
                                      std::uint8_t size = 4) {
    const auto file = domain_->registrar().open_file(myself().uid);
    return domain_->registrar().register_for_file(*file, my_pid(), myself(), {text, 0, bit_at(at, bit), size});
  }
  // A word of another program. The file is closed at once: the word alone keeps the event.
  Result<std::uint32_t> register_for(programs::TestClient& client, const char* text) {
    const auto file = domain_->registrar().open_file(myself().uid);
    auto index =
        domain_->registrar().register_for_file(*file, client.pid(), myself(), {text, 0, {client.ask("at"), 0}, 4});
    domain_->files().close(*file);
    return index;
  }
  void listen(std::string_view name, bool on) {
    ASSERT_TRUE(domain_->listening().set(domain_->top(), {&event(name)}, on));
  }
  Event& event(std::string_view name) { return *domain_->events().find(kSystem, name); }
  EnableWords& words() { return domain_->enable_words(); }
  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
};

TEST_F(WordsTest, UnregisteringAWordThatIsGoneSaysSoAndUnregisters) {
  void* const page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(register_word(page));
  ::munmap(page, kPage);
  EXPECT_EQ(domain_->enable_words().remove(my_pid(), myself(), bit_at(page)).error().code, EFAULT);
  EXPECT_EQ(domain_->enable_words().remove(my_pid(), myself(), bit_at(page)).error().code, ENOENT);
}

TEST_F(WordsTest, AnAddressOfTheKernelsIsRefusedBeforeThereIsAnEvent) {
  const auto* const of_the_kernel = reinterpret_cast<const void*>(0xffffffffff600000);
  for (const char* const text : {"e1 u32 a", "e1 nosuchtype a", ""}) {
    const auto registered = register_word(of_the_kernel, text);
    ASSERT_FALSE(registered) << text;
    EXPECT_EQ(registered.error().code, EFAULT) << text;
  }
  EXPECT_EQ(register_word(of_the_kernel, "e1", 32).error().code, EINVAL) << "what is wrong by itself comes first";
  EXPECT_THAT(domain_->events().all(), testing::IsEmpty());
}

TEST_F(WordsTest, OnlyTheSameUserForksAProcess) {
  std::uint32_t word = 0;
  ASSERT_TRUE(register_word(&word));
  const Identity other{myself().uid + 1, myself().gid};
  EXPECT_EQ(domain_->enable_words().duplicate(my_pid(), 1, other).error().code, EPERM);
  EXPECT_EQ(words().expect_child(my_pid(), other).error().code, EPERM);
  EXPECT_TRUE(words().expect_child(my_pid(), myself()));
}

TEST_F(WordsTest, ABitIsRegisteredOnce) {
  std::uint64_t word = 0;
  ASSERT_TRUE(register_word(&word));
  EXPECT_EQ(words().check_unused(my_pid(), myself(), bit_at(&word)).error().code, EADDRINUSE);
  EXPECT_TRUE(words().check_unused(my_pid(), myself(), bit_at(&word, 1)));
  EXPECT_TRUE(words().check_unused(my_pid(), myself(), bit_at(&word + 1)));
  EXPECT_EQ(register_word(&word, "e2").error().code, EADDRINUSE);
  ASSERT_TRUE(domain_->enable_words().remove(my_pid(), myself(), bit_at(&word)));
  EXPECT_TRUE(register_word(&word, "e2"));
}

TEST_F(WordsTest, ForTheSameClaimItMayBeAskedAgain) {
  std::uint64_t word = 0;
  const std::uint64_t claim = 0x1000;
  const auto ask = [&](std::uint64_t claim_of_it) {
    const auto file = domain_->registrar().open_file(myself().uid);
    const auto index =
        domain_->registrar().register_for_file(*file, my_pid(), myself(), {"e1", 0, bit_at(&word), 4, 0, claim_of_it});
    return index ? 0 : index.error().code;
  };
  EXPECT_EQ(ask(claim), 0);
  EXPECT_EQ(ask(claim), 0) << "the owner died before the answer";
  EXPECT_EQ(ask(claim + 16), EADDRINUSE);
  EXPECT_EQ(ask(0), EADDRINUSE);
  EXPECT_EQ(event("e1").references, 3u) << "two files and one word";
}

TEST_F(WordsTest, EachBitShowsItsOwnEvent) {
  std::uint64_t word = 0;
  ASSERT_TRUE(register_word(&word, "e1", 0));
  ASSERT_TRUE(register_word(&word, "e2", 9));
  ASSERT_TRUE(register_word(&word, "e2", 63, 8));
  listen("e2", true);
  EXPECT_EQ(word, 1ull << 9 | 1ull << 63);
  listen("e1", true);
  EXPECT_EQ(word, 1ull | 1ull << 9 | 1ull << 63);
  listen("e2", false);
  EXPECT_EQ(word, 1ull);
  ASSERT_TRUE(register_word(&word, "e1", 1));
  EXPECT_EQ(word, 3ull) << "one that comes later is set at once";
}

TEST_F(WordsTest, AWordThatCannotBeWrittenIsNotRegisteredAndItsFileKeepsTheEvent) {
  void* const page = ::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EQ(register_word(page).error().code, ENOMEM);
  EXPECT_FALSE(words().has_words());
  EXPECT_EQ(event("e1").references, 1u);
  ::munmap(page, kPage);
}

TEST_F(WordsTest, WordsGoWithTheirProgram) {
  programs::TestClient client;
  ASSERT_TRUE(register_for(client, "e1"));
  EXPECT_TRUE(words().has_words());
  EXPECT_TRUE(words().has_process(client.pid()));
  EXPECT_THAT(words().processes(), testing::ElementsAre(client.pid()));
  EXPECT_FALSE(words().sweep());
  EXPECT_TRUE(words().has_words());
  client.become("exec");
  EXPECT_FALSE(words().sweep());
  EXPECT_FALSE(words().has_words());
  EXPECT_EQ(domain_->events().find(kSystem, "e1"), nullptr);
}

TEST_F(WordsTest, ANameIsFreeAgainWhenTheProgramThatHadItHasEnded) {
  {
    programs::TestClient client;
    ASSERT_TRUE(register_for(client, "e1 u32 x"));
    EXPECT_EQ(domain_->registrar().register_native("e1 u64 x", 0, myself().uid).error().code, EADDRINUSE);
  }
  EXPECT_TRUE(domain_->registrar().register_native("e1 u64 x", 0, myself().uid)) << "although nobody has looked since";
}

TEST_F(WordsTest, AParentThatEndsWaitsForItsChildToComeForward) {
  auto parent = std::make_unique<programs::TestClient>();
  programs::TestClient child;
  ASSERT_TRUE(register_for(*parent, "e1"));
  const std::uint32_t pid = parent->pid();
  ASSERT_TRUE(words().expect_child(pid, myself()));
  parent.reset();
  EXPECT_TRUE(words().sweep()) << "call again soon";
  EXPECT_TRUE(words().has_words());
  ASSERT_TRUE(words().duplicate(pid, child.pid(), myself()));
  EXPECT_FALSE(words().sweep());
  EXPECT_FALSE(words().has_process(pid));
  EXPECT_TRUE(words().has_process(child.pid()));
  EXPECT_EQ(event("e1").references, 1u) << "of the child's word";
}

TEST_F(WordsTest, ACopyIsBroughtUpToDate) {
  std::uint32_t* const word =
      static_cast<std::uint32_t*>(::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const programs::TestChild child;
  ASSERT_TRUE(register_word(word));
  listen("e1", true);
  *word = 0;  // as if the child's copy were from before
  ASSERT_TRUE(domain_->enable_words().duplicate(my_pid(), child.pid(), myself()));
  EXPECT_EQ(*word, 1u);
  EXPECT_EQ(event("e1").references, 3u);
  ASSERT_TRUE(domain_->enable_words().duplicate(my_pid(), child.pid(), myself()));
  EXPECT_EQ(event("e1").references, 3u) << "it has them already";
  EXPECT_TRUE(domain_->enable_words().duplicate(0x3fffff, child.pid(), myself()))
      << "a parent without words has nothing to give";
  ::munmap(word, kPage);
}

TEST_F(WordsTest, WhoeverServesTheDomainIsToldOfEachProcess) {
  programs::TestClient client;
  std::uint32_t word = 0;
  ASSERT_TRUE(register_word(&word));
  const ToldServingThread serving(*domain_);
  ASSERT_TRUE(register_for(client, "e1"));
  EXPECT_THAT(serving.watched, testing::ElementsAre(client.pid()));
  std::uint32_t more = 0;
  ASSERT_TRUE(register_word(&more));
  EXPECT_EQ(serving.watched.size(), 1u) << "it is watched once";
}

TEST_F(WordsTest, AnotherUsersProcessIsNotTouched) {
  std::uint32_t word = 0;
  ASSERT_TRUE(register_word(&word));
  const Identity other{myself().uid + 1, myself().gid};
  EXPECT_EQ(words().check_unused(my_pid(), other, bit_at(&word)).error().code, EPERM);
  EXPECT_EQ(words().remove(my_pid(), other, bit_at(&word)).error().code, EPERM);
  EXPECT_EQ(words().known_space(my_pid(), other).error().code, EPERM);
  const auto known = words().known_space(my_pid(), myself());
  ASSERT_TRUE(known && *known);
  EXPECT_EQ((*known)->pid, my_pid());
  EXPECT_EQ(words().know(*known, other).error().code, EPERM);
  EXPECT_FALSE(*words().known_space(1, other)) << "of that nothing is known";
}

TEST_F(WordsTest, AMemoryThatIsKnownBeforehandIsNotOpenedAgain) {
  const auto space = *programs::AddressSpace::open(my_pid(), myself());
  ASSERT_TRUE(words().know(space, myself()));
  std::uint32_t word = 0;
  ASSERT_TRUE(register_word(&word));
  EXPECT_EQ(*words().known_space(my_pid(), myself()), space);
  programs::TestChild child;
  const auto ended = *programs::AddressSpace::open(child.pid(), myself());
  child.end();
  ASSERT_TRUE(words().know(ended, myself()));
  EXPECT_FALSE(words().has_process(child.pid())) << "one that has ended is nobody's";
}

TEST_F(WordsTest, ADaemonMayGoOnAsSomebodyElse) {
  if (myself().uid != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  constexpr Identity kDaemon{65534, 65534};
  int go[2];
  ASSERT_EQ(::pipe2(go, O_CLOEXEC), 0);
  auto* const word =
      static_cast<std::uint32_t*>(::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = ::fork();
  if (child == 0) {
    char byte;
    if (::read(go[0], &byte, 1) != 1) ::_exit(1);
    programs::become_user(kDaemon.uid);
    for (;;) ::pause();
  }
  const auto pid = static_cast<std::uint32_t>(child);
  const auto file = *domain_->registrar().open_file(0);
  ASSERT_TRUE(domain_->registrar().register_for_file(file, pid, myself(), {"e1", 0, bit_at(word), 4}));
  EXPECT_EQ(words().check_unused(pid, kDaemon, bit_at(word, 1)).error().code, EPERM);
  ASSERT_EQ(::write(go[1], "x", 1), 1);
  while (!words().check_unused(pid, kDaemon, bit_at(word, 1))) ::usleep(100);
  EXPECT_EQ(words().check_unused(pid, {65533, 65533}, bit_at(word, 1)).error().code, EPERM);
  EXPECT_TRUE(domain_->enable_words().remove(pid, kDaemon, bit_at(word)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(go[0]), ::close(go[1]);
  ::munmap(word, kPage);
}

TEST_F(WordsTest, AProgramWhoseMemoryDidNotAnswerIsMadeUpForWhatItHasMissed) {
  const programs::SilentPage silent;
  if (!silent.is_there()) GTEST_SKIP() << "SKIPPED: no userfaultfd here";
  ToldServingThread told(*domain_);
  std::uint32_t word = 0;
  ASSERT_TRUE(register_word(&word));
  EXPECT_EQ(register_word(silent.data(), "e2").error().code, ENOMEM);
  const auto space = *words().known_space(my_pid(), myself());
  words().make_up();
  told.wakes = 0;
  listen("e1", true);
  EXPECT_EQ(word, 0u);
  EXPECT_GT(told.wakes, 0);
  words().make_up();
  EXPECT_TRUE(words().any_unfinished()) << "it does not answer yet";
  const std::uint32_t answer = 0;
  silent.answer_with(&answer, sizeof answer);
  while (space->is_silent) ::usleep(1000);
  words().make_up();
  EXPECT_EQ(word, 1u);
  EXPECT_FALSE(words().any_unfinished());
  EXPECT_TRUE(register_word(silent.data(), "e2"));
}

TEST_F(WordsTest, AProgramThatDoesNotAnswerWhenNobodyWaitsForItIsLeftBehind) {
  programs::HungFile hung;
  if (!hung.is_there()) GTEST_SKIP() << "SKIPPED: mounts are not allowed here";
  std::vector<std::uint32_t> memory(1 << 15, 0);
  const auto file = domain_->registrar().open_file(myself().uid);
  for (const auto& word : memory) {
    ASSERT_TRUE(domain_->registrar().register_for_file(*file, my_pid(), myself(), {"e1", 0, bit_at(&word), 4}));
  }
  programs::TestClient client;
  ASSERT_TRUE(register_for(client, "e1"));
  const auto well = *words().known_space(my_pid(), myself()), space = *words().known_space(client.pid(), myself());
  well->uid = space->uid = myself().uid + 1;  // as if they were a guest's, who is not waited for long
  hung.put_in_place_of(space->mem);
  ToldServingThread told(*domain_);
  listen("e1", true);
  EXPECT_TRUE(words().any_unfinished());
  EXPECT_GT(told.wakes, 0);
  for (int i = 0; i < 10'000 && !space->is_silent; ++i, ::usleep(10'000)) words().make_up();
  EXPECT_TRUE(space->is_silent);
  hung.answer_with('\0');
  for (int i = 0; i < 10'000 && words().any_unfinished(); ++i, ::usleep(10'000)) words().make_up();
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 1u), memory.size());
  EXPECT_GT(hung.writes(), 0) << "it is made up for";
  space->mem.reset();  // the file goes before the domain does
}

TEST_F(WordsTest, NoMoreWordsAreRestoredThanAUserMayHave) {
  constexpr std::size_t kTooMany = WordProcesses::kMaxWordsOfUser + 10;
  std::vector<std::uint32_t> memory(kTooMany, 0);
  Event& e1 = *domain_->events().register_event("e1", 0, myself().uid)->event;
  const Events::Hold hold(domain_->events(), e1);
  SavedProcess saved{process_id(my_pid()), myself(), words().program_of(my_pid(), myself()), {}};
  for (const auto& word : memory) saved.words.push_back({bit_at(&word), e1.slot, 0, 0});
  ASSERT_TRUE(words().restore(saved, std::vector<Event*>(kTooMany, &e1)));
  EXPECT_EQ(words().words_of(myself().uid), WordProcesses::kMaxWordsOfUser);
}

TEST_F(WordsTest, AtTheEndEveryWordIsCleared) {
  std::uint64_t word = 1ull << 40;
  ASSERT_TRUE(register_word(&word, "e1", 0));
  ASSERT_TRUE(register_word(&word, "e2", 9));
  listen("e1", true), listen("e2", true);
  words().clear_all();
  EXPECT_EQ(word, 1ull << 40);
}

}  // namespace
}  // namespace landtrace::domain
