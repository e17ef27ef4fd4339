// The trigger `stacktrace`, from the event to the lines.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>

#include "arch/rseq.hpp"
#include "buffer/test_domain.hpp"
#include "plan/stack.hpp"
#include "plan/test_emit.hpp"
#include "plan/thread_slots.hpp"
#include "rules/triggers.hpp"

namespace landtrace::buffer {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class StackTest : public ::testing::Test {
 protected:
  StackTest() { EXPECT_TRUE(domain_.rules().triggers().apply(domain_->top(), domain_.event(), "stacktrace")); }
  std::string text(const TextStyle& style = {}) {
    printer_.prepare(true);
    Reading reading(contents_, kAllCpus);
    Lines lines({});
    std::string out;
    while (lines.append_next(out, reading.merge, printer_, style)) {
    }
    return out;
  }

  TestDomain domain_;
  std::shared_ptr<Contents> contents_ = domain_.contents();
  TraceClock clock_{domain_->clock_line()};
  Printer printer_{domain_->control(), domain_->users(), domain_->events(), clock_};
};

[[gnu::noinline]] void emit_in_a_function(const plan::View& view, const plan::Thread& thread, std::uint32_t event) {
  const std::uint32_t number = 7;
  const plan::Segment segment{&number, sizeof number};
  plan::emit(view, thread, event, &segment, 1, sizeof number);
  asm volatile("");
}

TEST_F(StackTest, OfTheThreadThatEmits) {
  const std::uint32_t user = *domain_->join(::getuid());
  plan::DataSegment& data = domain_->users().all()[user].data();
  const plan::ControlSegment& control = domain_->control().segment();
  const auto pid = static_cast<std::uint32_t>(::getpid());
  plan::ThreadSlot* const slot = plan::claim_thread_slot(data, pid, this_thread());
  const plan::Thread thread{
      slot, {nullptr, static_cast<arch::RawClock>(control.raw_clock)}, this_thread(), this_thread()};
  emit_in_a_function(plan::make_view(&control, &data, user), thread, domain_.event().slot);
  const std::string names = text();
  EXPECT_THAT(names, MatchesRegex("[^\n]*: job: number=0x7 \\(7\\)\n[^\n]*: <user stack trace>\n( => [^\n]+\n)+"));
  EXPECT_THAT(names, HasSubstr("emit_in_a_function"));
  EXPECT_THAT(names, HasSubstr("OfTheThreadThatEmits"));
  TextStyle style;
  style.stack = {.functions = false, .addresses = true};
  EXPECT_THAT(text(style), Not(HasSubstr("emit_in_a_function")));
  EXPECT_THAT(text(style), HasSubstr("buffer_test[+0x"));
}

// Its program waits in a system call, as one does that writes to a file of a mount.
TEST_F(StackTest, OfAnotherProcessWhereItCallsTheSystem) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  std::string words;
  for (int i = 0; i < 60'000 && (words.empty() || words.starts_with("running")); ++i) {
    ::usleep(1000);
    words = read_file("/proc/" + std::to_string(child) + "/syscall", 4096).value_or("");
  }
  domain::Proxy proxy(*domain_);
  domain_.write(proxy, static_cast<std::uint32_t>(child), 7);
  const std::string lines = text();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (words.empty()) GTEST_SKIP() << "no /proc/PID/syscall here";
  EXPECT_THAT(
      lines,
      MatchesRegex(
          "[^\n]*: job: number=0x7 \\(7\\)\n[^\n]*: <user stack trace>\n => [^\n]*libc[^\n]*\\[\\+0x[0-9a-f]+\\]\n"));
}

}  // namespace
}  // namespace landtrace::buffer
