#include "attach/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace landtrace::attach {
namespace {

using testing::HasSubstr;

Facts app(std::uint32_t uid) {
  Facts facts;
  facts.pid = 1234;
  facts.name = "app";
  facts.state = 'S';
  facts.real_uid = facts.effective_uid = uid;
  return facts;
}
Image glibc() { return {true, true, true, "/lib64/ld-linux-x86-64.so.2"}; }

std::string refusal(const Facts& facts, const Image& image) {
  const auto checked = check(facts, image);
  return checked ? "" : checked.error().message;
}

TEST(Facts, OfThisProcess) {
  const auto facts = facts_of(static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(facts->effective_uid, ::geteuid());
  EXPECT_EQ(facts->state, 'R');
  EXPECT_FALSE(facts->is_kernel_thread);
  EXPECT_FALSE(facts->name.empty());
  EXPECT_TRUE(image_of(facts->pid).is_elf64);
  EXPECT_FALSE(image_of(facts->pid).interpreter.empty());
  EXPECT_THAT(refusal(*facts, glibc()), HasSubstr("this command itself"));
}

TEST(Facts, OfAProcessThatIsNotThere) {
  const auto facts = facts_of(999'999'999);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ESRCH);
  EXPECT_EQ(facts.error().message, "there is no process 999999999");
}

TEST(Facts, OfAProcessThatHasEnded) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const auto pid = static_cast<std::uint32_t>(child);
  const auto facts = facts_of(pid);
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->is_kernel_thread);
  EXPECT_EQ(facts->state, 'Z');
  EXPECT_EQ(state_of_thread(pid, pid), 'Z');
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(state_of_thread(pid, pid), 'X');
  const auto self = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(state_of_thread(self, self), 'R');
}

TEST(Facts, OfAThreadOfTheKernel) {
  const auto facts = facts_of(2);
  if (!facts || facts->name != "kthreadd") GTEST_SKIP() << "SKIPPED: there are none of them here";
  EXPECT_TRUE(facts->is_kernel_thread);
}

TEST(Facts, SayWhatIsInTheWay) {
  EXPECT_EQ(refusal(app(1000), glibc()), "");
  // What cannot be read is found out by trying.
  EXPECT_EQ(refusal(app(1000), {}), "");
  const auto with = [](auto change) {
    Facts facts = app(1000);
    change(facts);
    return refusal(facts, glibc());
  };
  EXPECT_THAT(with([](Facts& facts) { facts.is_kernel_thread = true; }), HasSubstr("thread of the kernel"));
  EXPECT_THAT(with([](Facts& facts) { facts.state = 'Z'; }), HasSubstr("it has ended"));
  EXPECT_THAT(with([](Facts& facts) { facts.state = 'X'; }), HasSubstr("it has ended"));
  EXPECT_THAT(with([](Facts& facts) { facts.state = 'T'; }), HasSubstr("kill -CONT 1234"));
  EXPECT_THAT(with([](Facts& facts) { facts.tracer = 7; }), HasSubstr("process 7 "));
  const auto of = [](auto change) {
    Image image = glibc();
    change(image);
    return refusal(app(1000), image);
  };
  EXPECT_THAT(of([](Image& image) { image.is_elf64 = false; }), HasSubstr("32-bit"));
  EXPECT_THAT(of([](Image& image) { image.is_of_this_machine = false; }), HasSubstr("this machine"));
  EXPECT_THAT(of([](Image& image) { image.interpreter = ""; }), HasSubstr("linked statically"));
  EXPECT_THAT(of([](Image& image) { image.interpreter = "/lib/ld-musl-x86_64.so.1"; }), HasSubstr("musl"));
}

TEST(Facts, SayWhoMayInstead) {
  EXPECT_THAT(why_not_permitted(app(1000), {0, -1, false}), HasSubstr("CAP_SYS_PTRACE"));
  EXPECT_THAT(why_not_permitted(app(0), {1000, -1, false}), HasSubstr("another user's (uid 0); root may"));
  EXPECT_THAT(why_not_permitted(app(0), {1000, 1, false}), HasSubstr("another user's"));
  EXPECT_THAT(why_not_permitted(app(1000), {1000, 1, false}), HasSubstr("`sysctl kernel.yama.ptrace_scope=0`"));
  EXPECT_THAT(why_not_permitted(app(1000), {1000, 1, false}), HasSubstr("`landtrace run`"));
  EXPECT_THAT(why_not_permitted(app(1000), {1000, 1, true}), HasSubstr("rights of its own"));
  EXPECT_THAT(why_not_permitted(app(1000), {1000, 2, true}), HasSubstr("ptrace_scope is 2, so only root may"));
  EXPECT_THAT(why_not_permitted(app(1000), {1000, 3, false}), HasSubstr("ptrace_scope is 3"));
  EXPECT_THAT(why_not_permitted(app(1000), {1000, 0, false}), HasSubstr("rights of its own"));
  Facts setuid = app(1000);
  setuid.effective_uid = 0;
  EXPECT_THAT(why_not_permitted(setuid, {1000, 1, false}), HasSubstr("another user (uid 0, setuid)"));
}

}  // namespace
}  // namespace landtrace::attach
