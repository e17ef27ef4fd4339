// Each thing that an owner writes down, as the next owner finds it.
#include "domain/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "base/fd.hpp"

namespace landtrace::domain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(journal_.start()); }
  ~JournalTest() override { std::filesystem::remove(path_); }

  [[nodiscard]] SavedDomain saved() const { return Journal(path_).saved(); }

  const std::string path_ = testing::TempDir() + "journal_test-" + std::to_string(::getpid());
  Journal journal_{path_};
};

SavedEvent user_event(std::uint32_t slot, std::string name) {
  SavedEvent event;
  event.slot = slot;
  event.name = name;
  event.text = name + " u32 x";
  return event;
}

TEST_F(JournalTest, WhereNothingWasLeftNothingIsFound) {
  EXPECT_TRUE(saved().found) << "an empty one is one";
  EXPECT_THAT(saved().events, IsEmpty());
  std::filesystem::remove(path_);
  EXPECT_FALSE(saved().found);
}

TEST_F(JournalTest, AnEventIsFoundWithAllThatItHad) {
  SavedEvent event = user_event(0x01020304, "e.1");
  event.flags = 3;
  event.uid = 0xfffffffe;
  event.text = "e u32 x; char[4] y";
  event.status_bit = 32767;
  event.status_byte = 4095;
  journal_.event_made(event, 0x123456789a);
  const SavedDomain found = saved();
  EXPECT_EQ(found.next_multi, 0x123456789au);
  ASSERT_EQ(found.events.size(), 1u);
  const SavedEvent& again = found.events[0];
  EXPECT_EQ(again.slot, event.slot);
  EXPECT_EQ(again.flags, event.flags);
  EXPECT_EQ(again.uid, event.uid);
  EXPECT_EQ(again.name, event.name);
  EXPECT_EQ(again.text, event.text);
  EXPECT_EQ(again.flavour, event::Flavour::kUser);
  EXPECT_EQ(again.status_bit, event.status_bit);
  EXPECT_EQ(again.status_byte, event.status_byte);
}

TEST_F(JournalTest, FlavoursAreToldApart) {
  SavedEvent synthetic = user_event(1, "wakeup"), probe = user_event(2, "probe");
  synthetic.flavour = event::Flavour::kSynthetic;
  synthetic.text = "u64 lat";
  probe.flavour = event::Flavour::kEventProbe;
  probe.text = "e:probe user_events/e1 x=$x";
  journal_.event_made(synthetic, 0);
  journal_.event_made(probe, 0);
  journal_.event_made(user_event(3, "plain"), 0);
  SavedEvent entry = user_event(4, "entry"), back = user_event(5, "back");
  entry.flavour = event::Flavour::kEntryProbe;
  back.flavour = event::Flavour::kReturnProbe;
  entry.text = back.text = "up:g/e /bin/app:0x10\n";
  journal_.event_made(entry, 0);
  journal_.event_made(back, 0);
  const auto events = saved().events;
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[3].flavour, entry.flavour);
  EXPECT_EQ(events[3].text, entry.text);
  EXPECT_EQ(events[4].flavour, back.flavour);
  EXPECT_EQ(events[4].text, back.text);
  EXPECT_EQ(events[0].flavour, event::Flavour::kSynthetic);
  EXPECT_EQ(events[0].text, synthetic.text);
  EXPECT_EQ(events[1].flavour, event::Flavour::kEventProbe);
  EXPECT_EQ(events[1].text, probe.text);
  EXPECT_EQ(events[2].flavour, event::Flavour::kUser);
}

TEST_F(JournalTest, EventsComeInTheOrderOfTheirSlots) {
  for (const std::uint32_t slot : {300u, 2u, 256u, 255u, 70000u}) journal_.event_made(user_event(slot, "e"), 0);
  std::vector<std::uint32_t> slots;
  for (const SavedEvent& event : saved().events) slots.push_back(event.slot);
  EXPECT_THAT(slots, ElementsAre(2, 255, 256, 300, 70000));
}

TEST_F(JournalTest, AnEventThatGoesIsNotFoundAndItsNumberStaysGiven) {
  journal_.event_made(user_event(7, "a"), 5);
  journal_.event_made(user_event(8, "b"), 0);
  journal_.event_gone(7);
  ASSERT_EQ(saved().events.size(), 1u);
  EXPECT_EQ(saved().events[0].name, "b");
  EXPECT_EQ(saved().next_multi, 5u);
}

TEST_F(JournalTest, AFileIsFoundWithItsEventsByWriteIndex) {
  const SavedFile file{9, 0xdeadbeef, 1000, true, {4711, 0x1122334455}, {}, 0xabcdef};
  journal_.file_opened(file);
  journal_.file_event(9, 1, 21);
  journal_.file_event(9, 0, 20);
  journal_.file_event(9, 2, 20);
  journal_.file_opened({3, 1, 0, false, {}, {}});
  const auto files = saved().files;
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].slot, 3u);
  EXPECT_FALSE(files[0].plain);
  EXPECT_THAT(files[0].events, IsEmpty());
  EXPECT_EQ(files[1].slot, 9u);
  EXPECT_EQ(files[1].generation, 0xdeadbeefu);
  EXPECT_EQ(files[1].uid, 1000u);
  EXPECT_TRUE(files[1].plain);
  EXPECT_EQ(files[1].key, 0xabcdefu);
  EXPECT_EQ(files[1].opener, (ProcessId{4711, 0x1122334455}));
  EXPECT_THAT(files[1].events, ElementsAre(20, 21, 20));
}

TEST_F(JournalTest, AWriteIndexThatIsMissingEndsAFilesTable) {
  journal_.file_opened({9, 1, 0, false, {}, {}});
  for (const std::uint32_t index : {0u, 1u, 3u}) journal_.file_event(9, index, 20 + index);
  EXPECT_THAT(saved().files[0].events, ElementsAre(20, 21));
}

TEST_F(JournalTest, AFileThatIsClosedGoesWithItsEvents) {
  for (const std::uint32_t slot : {1u, 256u}) {
    journal_.file_opened({slot, 1, 0, false, {}, {}});
    journal_.file_event(slot, 0, 20);
  }
  journal_.file_closed(1);
  ASSERT_EQ(saved().files.size(), 1u);
  EXPECT_EQ(saved().files[0].slot, 256u);
  EXPECT_THAT(saved().files[0].events, ElementsAre(20));
  journal_.file_opened({1, 2, 0, false, {}, {}});
  EXPECT_THAT(saved().files[0].events, IsEmpty()) << "one that has its place later has none of them";
}

TEST_F(JournalTest, AProcessIsFoundWithItsWords) {
  journal_.process_known({{100, 5000}, {1000, 1001}, 0x8877665544332211, {}});
  journal_.word_added(100, {{0x7fff00001234, 31}, 20, 0x7fff00005678, 4999});
  journal_.word_added(100, {{0x7fff00001234, 3}, 21, 0, 5001});
  const auto processes = saved().processes;
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].id, (ProcessId{100, 5000}));
  EXPECT_EQ(processes[0].who.uid, 1000u);
  EXPECT_EQ(processes[0].who.gid, 1001u);
  EXPECT_EQ(processes[0].space, 0x8877665544332211u);
  ASSERT_EQ(processes[0].words.size(), 2u);
  EXPECT_EQ(processes[0].words[0].bit, (EnableBit{0x7fff00001234, 3}));
  EXPECT_EQ(processes[0].words[0].event, 21u);
  const SavedWord& word = processes[0].words[1];
  EXPECT_EQ(word.bit, (EnableBit{0x7fff00001234, 31}));
  EXPECT_EQ(word.event, 20u);
  EXPECT_EQ(word.claim, 0x7fff00005678u);
  EXPECT_EQ(word.since, 4999u);
}

TEST_F(JournalTest, WordsGoOneByOneOrWithTheirProcess) {
  for (const std::uint32_t pid : {100u, 101u}) {
    journal_.process_known({{pid, 1}, {}, 1, {}});
    for (const std::uint8_t bit : {std::uint8_t{0}, std::uint8_t{1}})
      journal_.word_added(pid, {{0x1000, bit}, 20, 0, 0});
  }
  journal_.word_removed(100, {0x1000, 0});
  journal_.word_removed(100, {0x1000, 7});
  journal_.process_gone(101);
  ASSERT_EQ(saved().processes.size(), 1u);
  ASSERT_EQ(saved().processes[0].words.size(), 1u);
  EXPECT_EQ(saved().processes[0].words[0].bit.bit, 1);
  journal_.process_known({{101, 2}, {}, 2, {}});
  EXPECT_THAT(saved().processes[1].words, IsEmpty()) << "its pid is another process's by now";
}

TEST_F(JournalTest, AWordOrAnEventOfNobodyIsPassedOver) {
  journal_.word_added(100, {{0x1000, 0}, 20, 0, 0});
  journal_.file_event(9, 0, 20);
  journal_.event_made(user_event(7, "a"), 0);
  const SavedDomain found = saved();
  EXPECT_THAT(found.processes, IsEmpty());
  EXPECT_THAT(found.files, IsEmpty());
  EXPECT_EQ(found.events.size(), 1u);
}

TEST_F(JournalTest, OneThatIsLeftStaysAndOneThatEndsGoes) {
  journal_.event_made(user_event(7, "a"), 0);
  journal_.leave();
  journal_.event_gone(7);
  EXPECT_EQ(saved().events.size(), 1u);
  Journal next(path_);
  ASSERT_TRUE(next.start());
  EXPECT_THAT(saved().events, IsEmpty()) << "the next owner begins its own";
  next.end();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST(ProcessIdTest, TellsAProcessFromWhoeverGetsItsPidLater) {
  const auto me = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(process_id(me), process_id(me));
  EXPECT_NE(process_id(me).start, 0u);
  EXPECT_EQ(process_id(me).pid, me);
  EXPECT_EQ(process_id(0x7fffffff), (ProcessId{0x7fffffff, 0}));
  EXPECT_NE((ProcessId{me, 1}), process_id(me));
}

TEST(ProcessIdTest, AProcessThatNobodyHasWaitedForHasEnded) {
  const pid_t child = ::fork();
  if (child == 0) ::pause();
  const auto pid = static_cast<std::uint32_t>(child);
  EXPECT_NE(process_id(pid).start, 0u);
  ::kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(process_id(pid).start, 0u);
  ::waitpid(child, nullptr, 0);
}

TEST(ProcessIdTest, AProcessLivesOnWithoutItsFirstThread) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([] {
      for (;;) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // of this thread alone
  }
  const std::string stat = "/proc/" + std::to_string(child) + "/stat";
  while (read_file(stat)->find(") Z ") == std::string::npos) std::this_thread::yield();
  EXPECT_NE(process_id(static_cast<std::uint32_t>(child)).start, 0u);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace landtrace::domain
