#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "agent/agent.hpp"
#include "agent/raw.hpp"
#include "agent/reference_counter.hpp"
#include "agent/test_places.hpp"

namespace landtrace::agent {
namespace {

using Function = std::uint64_t (*)(std::uint64_t);

class Library {
 public:
  explicit Library(const char* path = LANDTRACE_TEST_LIBRARY) : handle_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  [[nodiscard]] Function function() const {
    return reinterpret_cast<Function>(::dlsym(handle_, "lt_library_function"));
  }

 private:
  void* handle_;
};

// Where the function is in the library's file, and its recipe.
struct LibraryPlace {
  TestPlace place;
  Wanted wanted;
};
void look_into_library(LibraryPlace& found) {
  const Library library;
  found.place = test_place(reinterpret_cast<const void*>(library.function()), Way::kOneStore, 7);
  found.wanted = wanted(found.place, 7, kWantsEntry | kWantsReturn);
}

class AgentObjectsTest : public testing::Test {
 protected:
  AgentObjectsTest() {
    use_test_handlers();
    look_into_library(found);
  }
  LibraryPlace found;
};

TEST_F(AgentObjectsTest, AnObjectThatComesIsPatchedAtTheNextLook) {
  Agent agent(Agent::OwnObject::kPatch);
  EXPECT_EQ(apply(agent, found.wanted).state, PlaceState::kWaiting);
  for (unsigned i = 1; i <= 50; ++i) {
    const Library library;
    agent.look_at_objects();
    ASSERT_EQ(agent.outcome(7).state, PlaceState::kPatched) << text_of(agent.outcome(7).reason) << ", the time " << i;
    EXPECT_EQ(library.function()(1), 10u);
    EXPECT_EQ(test_hits[7].entries, i);
  }
  agent.look_at_objects();
  EXPECT_EQ(agent.outcome(7).state, PlaceState::kWaiting);
}

TEST_F(AgentObjectsTest, WhatIsGoneIsNotWrittenTo) {
  Agent agent(Agent::OwnObject::kPatch);
  {
    const Library library;
    apply(agent, found.wanted);
  }
  // Without a look in between.
  drop(agent, {7});
  const Library again;
  EXPECT_EQ(again.function()(1), 10u);
  EXPECT_EQ(test_hits[7].entries, 0u);
}

TEST_F(AgentObjectsTest, AnObjectThatCameBackUnseenIsPatchedAnew) {
  Agent agent(Agent::OwnObject::kPatch);
  {
    const Library library;
    apply(agent, found.wanted);
  }
  const Library again;
  agent.look_at_objects();
  again.function()(1);
  EXPECT_EQ(test_hits[7].entries, 1u);
}

// No descriptor can be opened as long as it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none = {0, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

class AgentJumpsStayTest : public AgentObjectsTest {
 protected:
  // Longer than what is gone is kept.
  void expect_hits_after_a_while(const Library& library) {
    for (int i = 0; i < 2; ++i) {
      agent.look_at_objects();
      apply(agent, another);
      agent.tend();
      ASSERT_EQ(agent.outcome(7).state, PlaceState::kPatched);
      std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 1100 : 0));
    }
    EXPECT_EQ(library.function()(1), 10u);
    EXPECT_EQ(test_hits[7].entries, 1u);
    EXPECT_EQ(test_hits[7].returns, 1u);
  }
  void expect_no_hits_once_dropped(const Library& library) {
    drop(agent, {7});
    EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(library.function()), found.place.recipe.expected, kJumpSize),
              0);
  }
  TestPlace add_one = add_one_place();
  Wanted another = wanted(add_one, 8);
  Agent agent{Agent::OwnObject::kPatch};
};

TEST_F(AgentJumpsStayTest, WhereNobodyCanTellWhatIsMapped) {
  const Library library;
  ASSERT_EQ(apply(agent, found.wanted).state, PlaceState::kPatched);
  {
    const NoDescriptors none;
    ASSERT_EQ(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC), -1);
    expect_hits_after_a_while(library);
  }
  expect_no_hits_once_dropped(library);
}

TEST_F(AgentJumpsStayTest, WhereTheFileIsGoneAndHasNoBuildId) {
  std::string copy = "/tmp/landtrace-agent-XXXXXX";
  const int file = ::mkstemp(copy.data());
  ASSERT_GE(file, 0);
  ::close(file);
  ASSERT_TRUE(
      std::filesystem::copy_file(LANDTRACE_TEST_LIBRARY, copy, std::filesystem::copy_options::overwrite_existing));
  const Library library(copy.c_str());
  found.place = test_place(reinterpret_cast<const void*>(library.function()), Way::kOneStore, 7);
  ASSERT_EQ(apply(agent, wanted(found.place, 7, kWantsEntry | kWantsReturn)).state, PlaceState::kPatched);
  ASSERT_EQ(::unlink(copy.c_str()), 0);
  expect_hits_after_a_while(library);
  expect_no_hits_once_dropped(library);
}

// As programs do that run on large pages.
TEST_F(AgentJumpsStayTest, WhereTheProgramHasCopiedItsCodeElsewhere) {
  const Library library;
  ASSERT_EQ(apply(agent, found.wanted).state, PlaceState::kPatched);
  constexpr std::uintptr_t kPage = 4096;
  void* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(library.function()) & ~(kPage - 1));
  void* const copy = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(copy, MAP_FAILED);
  std::memcpy(copy, page, kPage);
  ASSERT_EQ(::mprotect(copy, kPage, PROT_READ | PROT_EXEC), 0);
  ASSERT_EQ(::mremap(copy, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, page), page);
  expect_hits_after_a_while(library);
  expect_no_hits_once_dropped(library);
}

// The agent's thread, as programs have it.
class AgentThread {
 public:
  explicit AgentThread(const Wanted& wanted) {
    thread_ = std::thread([this, wanted] { run(wanted); });
    while (!ready_) std::this_thread::yield();
  }
  ~AgentThread() {
    over_ = true;
    thread_.join();
  }
  AgentThread(const AgentThread&) = delete;
  AgentThread& operator=(const AgentThread&) = delete;
  [[nodiscard]] bool hears() const { return hears_; }

 private:
  void run(const Wanted& wanted) {
    ignore_this_thread();
    Agent agent(Agent::OwnObject::kPatch);
    apply(agent, wanted);
    hears_ = agent.listen_to_loader();
    ready_ = true;
    while (!over_) {
      const std::uint32_t changed = __atomic_load_n(&loader_changes().changed, __ATOMIC_ACQUIRE);
      agent.look_at_objects();
      const timespec patience = {0, 5'000'000};
      raw(SYS_futex, raw_address(&loader_changes().changed), FUTEX_WAIT_PRIVATE, changed, raw_address(&patience));
    }
  }
  std::atomic<bool> ready_ = false;
  std::atomic<bool> over_ = false;
  std::atomic<bool> hears_ = false;
  std::thread thread_;
};

// The loader waits for the agent's thread, however long that has no CPU.
class PatientLoader {
 public:
  PatientLoader() { loader_changes().patience_ns = 30'000'000'000; }
  ~PatientLoader() { loader_changes().patience_ns = before_; }
  PatientLoader(const PatientLoader&) = delete;
  PatientLoader& operator=(const PatientLoader&) = delete;

 private:
  long before_ = loader_changes().patience_ns;
};

TEST_F(AgentObjectsTest, TheLoaderTellsBeforeConstructorsRun) {
  const PatientLoader patient;
  const AgentThread agent(found.wanted);
  ASSERT_TRUE(agent.hears());
  for (unsigned i = 1; i <= 200; ++i) {
    const Library library;
    EXPECT_EQ(test_hits[7].entries, 2 * i - 1) << "the constructor's call";
    EXPECT_EQ(library.function()(2), 11u);
    EXPECT_EQ(test_hits[7].entries, 2 * i);
    EXPECT_EQ(test_hits[7].returns, 2 * i);
  }
}

// As in a child that no handler of fork knows of.
TEST_F(AgentObjectsTest, WhereNobodyListensLoadsAreNotHeldUp) {
  Agent agent(Agent::OwnObject::kPatch);
  ASSERT_TRUE(agent.listen_to_loader());
  constexpr int kTurns = 20;
  constexpr std::int64_t kBound_ms = 16'000;  // with a wait for each change it is 4 of them at least
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kTurns; ++i) const Library library;
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), kBound_ms);
}

// What comes of these calls of the calling thread.
void answer_calls(unsigned call, std::uint32_t answer) {
  sock_filter code[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
                        {BPF_RET | BPF_K, 0, 0, answer},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter = {static_cast<unsigned short>(std::size(code)), code};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST_F(AgentObjectsTest, AThreadThatMayNotWaitGoesOn) {
  constexpr unsigned kForEver_s = 30;
  Agent agent(Agent::OwnObject::kPatch);
  ASSERT_TRUE(agent.listen_to_loader());
  agent.look_at_objects();
  ::alarm(kForEver_s);
  std::thread([this] {
    answer_calls(SYS_futex, SECCOMP_RET_ERRNO | EPERM);
    EXPECT_EQ(Library().function()(1), 10u);
  }).join();
  ::alarm(0);
}

std::atomic<unsigned> calls_trapped = 0;

TEST_F(AgentObjectsTest, WhereNobodyNeedWaitNobodyAsksForTheTime) {
  Agent agent(Agent::OwnObject::kPatch);
  ASSERT_TRUE(agent.listen_to_loader());
  { const Library in_vain; }
  struct sigaction counting {};
  struct sigaction before {};
  counting.sa_handler = [](int) { ++calls_trapped; };
  ASSERT_EQ(::sigaction(SIGSYS, &counting, &before), 0);
  std::thread([] {
    answer_calls(SYS_clock_gettime, SECCOMP_RET_TRAP);
    EXPECT_EQ(Library().function()(1), 10u);
    EXPECT_EQ(calls_trapped, 0u);
    timespec now{};
    raw(SYS_clock_gettime, CLOCK_MONOTONIC, raw_address(&now));
    EXPECT_EQ(calls_trapped, 1u) << "else nothing was counted";
  }).join();
  ASSERT_EQ(::sigaction(SIGSYS, &before, nullptr), 0);
}

TEST_F(AgentObjectsTest, WhatIsNotThereIsNotReadWhereTheKernelMayNotReadIt) {
  constexpr std::size_t kPage = 4096;
  auto* const pages = static_cast<char*>(::mmap(nullptr, 2 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
  ASSERT_EQ(::munmap(pages + kPage, kPage), 0);
  const auto end = reinterpret_cast<std::uint64_t>(pages) + kPage;
  std::thread([end] {
    answer_calls(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM);
    std::uint8_t bytes[kJumpSize] = {1};
    EXPECT_TRUE(read_memory(end - sizeof bytes, bytes, sizeof bytes));
    EXPECT_EQ(bytes[0], 0);
    EXPECT_FALSE(read_memory(end - sizeof bytes + 1, bytes, sizeof bytes));
    EXPECT_FALSE(read_memory(end, bytes, sizeof bytes));
  }).join();
  ::munmap(pages, kPage);
}

TEST_F(AgentObjectsTest, ManyThreadsLoadAndUnload) {
  const AgentThread agent(found.wanted);
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong = 0;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&wrong] {
      for (unsigned k = 0; k < 100; ++k) {
        const Library library;
        if (library.function()(3) != 12) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GE(test_hits[7].entries, 400u);
}

// While it was read, the second of three has grown down to the first, and then over it.
TEST(Maps, AscendAlsoWhereMemoryIsMappedWhileTheyAreRead) {
  const auto maps = parse_maps(
      "7f0000010000-7f0000020000 r-xp 00003000 fe:00 7 /lib/a\n"
      "7f0000018000-7f0000030000 r-xp 0000b000 fe:00 7 /lib/a\n"
      "7f0000008000-7f0000028000 rw-p 00000000 00:00 0 \n"
      "7f0000040000-7f0000050000 rw-p 00000000 00:00 0");
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[1].begin, 0x7f0000020000u);
  EXPECT_EQ(maps[1].end, 0x7f0000030000u);
  EXPECT_EQ(maps[1].offset, 0x13000u);
  EXPECT_EQ(maps[1].path, "/lib/a");
  EXPECT_EQ(find(maps, 0x7f000001ffff), &maps[0]);
  EXPECT_EQ(find(maps, 0x7f0000020000), &maps[1]);
  EXPECT_EQ(find(maps, 0x7f0000030000), nullptr);
  EXPECT_EQ(find(maps, 0x7f0000040000), &maps[2]);
}

TEST(ReferenceCounter, CountsWhereItCanBeWrittenAndNeverBelow0) {
  alignas(2) static std::uint16_t counter = 0;
  static const std::uint16_t fixed = 0;
  const auto at = [](const std::uint16_t& one) { return reinterpret_cast<std::uint64_t>(&one); };
  const auto maps = read_maps();
  EXPECT_TRUE(raise_counter(maps, at(counter)));
  EXPECT_TRUE(raise_counter(maps, at(counter)));
  EXPECT_EQ(counter, 2);
  lower_counter(at(counter));
  lower_counter(at(counter));
  lower_counter(at(counter));
  EXPECT_EQ(counter, 0);
  EXPECT_FALSE(raise_counter(maps, at(fixed)));
  EXPECT_FALSE(raise_counter(maps, at(counter) + 1));
  EXPECT_FALSE(raise_counter(maps, 16));
  EXPECT_FALSE(raise_counter(maps, 0));
  counter = 0xffff;
  EXPECT_FALSE(raise_counter(maps, at(counter)));
  EXPECT_EQ(counter, 0xffff);
  lower_counter(0);
  lower_counter(16);
}

}  // namespace
}  // namespace landtrace::agent
