#include "plan/stack.hpp"

#include <dlfcn.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>

#include "plan/foreign_stack.hpp"
#include "plan/test_domain.hpp"

namespace landtrace::plan {
namespace {

// The object that the data segment has for the address.
std::optional<unwind::MappedObject> object_of(const TestDomain& domain, std::uint64_t address) {
  for (std::uint32_t i = 0; i < unwind::kObjectEntries; ++i) {
    auto object = unwind::copy_entry(domain.data().objects, i);
    if (object && object->start <= address && address < object->end) return object;
  }
  return std::nullopt;
}

class StackTest : public testing::Test {
 protected:
  TestDomain domain_;

  [[nodiscard]] std::vector<std::uint64_t> words_of_last_record() const {
    const std::string payload = domain_.records().back().payload;
    std::vector<std::uint64_t> words(payload.size() / sizeof(std::uint64_t));
    std::memcpy(words.data(), payload.data(), words.size() * sizeof words[0]);
    return words;
  }
};

TEST_F(StackTest, AStackIsAnEventWithTheProcessAndItsAddresses) {
  const Section section(domain_.data().threads[0]);
  record_stack(domain_.view(), domain_.thread(), domain_.record());
  const auto records = domain_.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].event, kUserStackSlot);
  const auto words = words_of_last_record();
  ASSERT_GE(words.size(), 1 + kKernelFrames);
  EXPECT_EQ(words[0], TestDomain::kPid);
  EXPECT_NE(words[1], 0u);
}

TEST_F(StackTest, ObjectsOnTheStackAreNotedWithTheProcess) {
  // A process remembers what it has noted in a table, by that one's address: here it is another process each time.
  static std::uint32_t pid = 30'000;
  domain_.data().threads[0].pid = ++pid;
  std::uint64_t frames[unwind::kMaxFrames] = {};
  const std::uint32_t count = capture_stack(domain_.view(), domain_.thread(), frames, unwind::kMaxFrames);
  ASSERT_GE(count, 2u);
  Dl_info here{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(frames[0]), &here), 0);
  const auto object = object_of(domain_, frames[0]);
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->pid, pid);
  EXPECT_EQ(object->bias, reinterpret_cast<std::uint64_t>(here.dli_fbase));
}

TEST_F(StackTest, NoMoreAddressesAreTakenThanThereIsRoomFor) {
  std::uint64_t frames[3] = {0, 0, 0x5eed};
  EXPECT_EQ(capture_stack(domain_.view(), domain_.thread(), frames, 2), 2u);
  EXPECT_EQ(frames[2], 0x5eedu);
}

TEST_F(StackTest, AThreadWhoseIdsMeanNothingToTheOwnerIsOfThisProcessAllTheSame) {
  domain_.data().threads[0].pid = 0;
  record_stack(domain_.view(), domain_.thread(), domain_.record());
  EXPECT_EQ(words_of_last_record()[0], static_cast<std::uint64_t>(::getpid()));
}

TEST_F(StackTest, AShortStackIsFilledUpToWhatTheKernelsReadersLookAt) {
  UserStack stack;
  std::memset(&stack, 0xff, sizeof stack);
  stack.tgid = 5;
  stack.padding = 0;
  stack.caller[0] = 0x1000;
  write_stack(domain_.view(), domain_.thread(), domain_.record(), stack, 1);
  EXPECT_EQ(words_of_last_record(), (std::vector<std::uint64_t>{5, 0x1000, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(StackTest, ALongStackIsAsLongAsItIs) {
  UserStack stack{};
  for (std::uint32_t i = 0; i < 10; ++i) stack.caller[i] = i + 1;
  write_stack(domain_.view(), domain_.thread(), domain_.record(), stack, 10);
  EXPECT_EQ(words_of_last_record(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  write_stack(domain_.view(), domain_.thread(), domain_.record(), stack, kKernelFrames);
  EXPECT_EQ(words_of_last_record(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(StackTest, AStoppedInstanceRecordsNoStack) {
  const std::uint32_t stop = domain_.new_cell();
  domain_.set_switch(stop, true);
  record_stack(domain_.view(), domain_.thread(), domain_.record(0, stop));
  EXPECT_TRUE(domain_.records().empty());
}

// -- a thread of another process --------------------------------------------------------------------------------------
class ForeignStackTest : public StackTest {
 protected:
  // A child that waits in a system call.
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    child_ = ::fork();
    if (child_ == 0) {
      char byte;
      ::_exit(::read(ends[0], &byte, 1) == 1 ? 0 : 1);
    }
    ::close(ends[0]);
    waiting_on_ = ends[1];
    domain_.data().tasks[child_tid() % kMaxTasks] = {child_tid(), child_tid(), "child"};
  }
  void TearDown() override { end_child(); }
  void end_child() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(waiting_on_);
    child_ = -1;
  }

  [[nodiscard]] std::uint32_t child_tid() const { return static_cast<std::uint32_t>(child_); }
  [[nodiscard]] Thread proxy() const {
    Thread thread = domain_.thread();
    thread.tid = child_tid();
    thread.is_proxy = true;
    return thread;
  }
  // Once the child waits.
  std::uint64_t address() {
    std::uint64_t frame = 0;
    while (capture_stack(domain_.view(), proxy(), &frame, 1) == 0) ::usleep(1000);
    return frame;
  }

  pid_t child_ = -1;
  int waiting_on_ = -1;
};

TEST_F(ForeignStackTest, ItsOneAddressIsWhereItCalledTheSystem) {
  const std::uint64_t frame = address();
  // A forked child has its parent's libraries where they are.
  Dl_info call{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(frame), &call), 0);
  const auto object = object_of(domain_, frame);
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->pid, child_tid());
  EXPECT_EQ(object->start, reinterpret_cast<std::uint64_t>(call.dli_fbase));
  EXPECT_EQ(object->bias, object->start);
  EXPECT_EQ(object->path.substr(object->path.rfind('/') + 1), std::string("libc.so.6"));
}

TEST_F(ForeignStackTest, ItsProcessIsTheOneInTheTaskTable) {
  address();
  domain_.data().tasks[child_tid() % kMaxTasks].pid = 61;
  record_stack(domain_.view(), proxy(), domain_.record());
  const auto words = words_of_last_record();
  ASSERT_EQ(words.size(), 1 + kKernelFrames);
  EXPECT_EQ(words[0], 61u);
  EXPECT_NE(words[1], 0u);
  EXPECT_EQ(words[2], 0u);
}

TEST_F(ForeignStackTest, OfAThreadThatRunsThereIsNone) {
  std::atomic<std::uint32_t> tid = 0;
  std::atomic<bool> is_over = false;
  std::thread running([&] {
    for (tid = static_cast<std::uint32_t>(::gettid()); !is_over;) {
    }
  });
  while (tid == 0) std::this_thread::yield();
  std::uint64_t frame = 0x5eed;
  Thread thread = proxy();
  thread.tid = tid;
  EXPECT_EQ(capture_foreign_stack(domain_.view(), thread, tid, &frame), 0u);
  EXPECT_EQ(frame, 0u);
  is_over = true;
  running.join();
}

#if defined(__x86_64__)
TEST_F(ForeignStackTest, AnAddressInNoFileIsGivenWithoutAnObject) {
  end_child();
  // mov eax, SYS_pause; syscall; ret
  constexpr unsigned char kPause[] = {0xb8, 0x22, 0, 0, 0, 0x0f, 0x05, 0xc3};
  constexpr int kProtection = PROT_READ | PROT_WRITE | PROT_EXEC;
  void* const code = ::mmap(nullptr, sizeof kPause, kProtection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(code, kPause, sizeof kPause);
  child_ = ::fork();
  if (child_ == 0) reinterpret_cast<void (*)()>(code)();
  const auto at = reinterpret_cast<std::uint64_t>(code) + 7;
  // Until then it was in the C library's fork().
  std::uint64_t frame = 0;
  while (capture_foreign_stack(domain_.view(), proxy(), child_tid(), &frame) == 0 || frame != at) ::usleep(1000);
  EXPECT_FALSE(object_of(domain_, frame).has_value());
  ::munmap(code, sizeof kPause);
}
#endif

TEST_F(ForeignStackTest, OfAThreadThatIsGoneThereIsNone) {
  const Thread gone = proxy();
  end_child();
  std::uint64_t frame = 0x5eed;
  EXPECT_EQ(capture_foreign_stack(domain_.view(), gone, gone.tid, &frame), 0u);
  EXPECT_EQ(frame, 0u);
  EXPECT_EQ(domain_.data().objects.changes, 0u);
}

}  // namespace
}  // namespace landtrace::plan
