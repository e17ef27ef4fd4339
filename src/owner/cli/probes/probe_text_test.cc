#include "cli/probes/probe_text.hpp"

#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

ProbeText parsed(const std::string& text) {
  const auto probe = parse_probe("-p", text);
  EXPECT_TRUE(probe) << text;
  return probe ? *probe : ProbeText();
}

TEST(ProbeText, HasAnObjectAFunctionAndArguments) {
  const ProbeText probe = parsed("  libc.so.6:malloc   size=$arg1\tcaller=+0(%sp) ");
  EXPECT_EQ(probe.object, "libc.so.6");
  EXPECT_EQ(probe.function, "malloc");
  EXPECT_EQ(probe.arguments, "size=$arg1 caller=+0(%sp)");
  EXPECT_EQ(probe.place, "libc.so.6:malloc");
  EXPECT_EQ(probe.event_name(), "malloc");
  EXPECT_FALSE(probe.is_return);
}

TEST(ProbeText, OfAReturnSaysSoInItsName) {
  const ProbeText probe = parsed("/usr/bin/app:run%return rc=$retval");
  EXPECT_TRUE(probe.is_return);
  EXPECT_EQ(probe.function, "run");
  EXPECT_EQ(probe.event_name(), "run_ret");
}

TEST(ProbeText, LeavesTheColonsOfCppNamesAlone) {
  EXPECT_EQ(parsed("app:Server::run").object, "app");
  EXPECT_EQ(parsed("app:Server::run").function, "Server::run");
  EXPECT_EQ(parsed("Server::run").object, "");
  EXPECT_EQ(parsed("Server::run").function, "Server::run");
  EXPECT_EQ(parsed("./a:b/app:Server::run").object, "./a:b/app");
  EXPECT_EQ(parsed("app:Server::~Server").event_name(), "Server_Server");
}

TEST(ProbeText, MayHaveANameOfItsOwn) {
  EXPECT_EQ(parsed("slow=app:run").event_name(), "slow");
  EXPECT_EQ(parsed("slow=app:run").function, "run");
}

TEST(ProbeText, OfAnOffsetIsCalledLikeTheFile) {
  EXPECT_EQ(parsed("./app:0x1136").event_name(), "app_0x1136");
  EXPECT_EQ(parsed("app:run+0x10").event_name(), "run_0x10");
}

TEST(ProbeText, MayBeASourceLine) {
  EXPECT_EQ(parsed("app:main.c:12").object, "app");
  EXPECT_EQ(parsed("app:main.c:12").function, "main.c:12");
  EXPECT_EQ(parsed("/usr/bin/app:net/main.c:12 x").object, "/usr/bin/app");
  EXPECT_EQ(parsed("/usr/bin/app:net/main.c:12 x").function, "net/main.c:12");
  EXPECT_EQ(parsed("/usr/bin/app:net/main.c:12").event_name(), "main_c_12");
}

TEST(ProbeText, OfASourceFileAloneIsOfTheCommandsProgram) {
  for (const char* const text : {"main.c:12", "net/main.cc:12", "./main.rs:12"}) {
    EXPECT_EQ(parsed(text).object, "") << text;
    EXPECT_EQ(parsed(text).function, text);
  }
  EXPECT_EQ(parsed("libc.so.6:12").object, "libc.so.6");
  EXPECT_EQ(parsed("./app:12").object, "./app");
}

TEST(ProbeText, OfALongNameStaysWithinTheKernelsLimit) {
  EXPECT_LT(parsed("app:" + std::string(500, 'x') + "%return").event_name().size(), 60u);
}

TEST(ProbeText, IsRefusedWithASentence) {
  for (const char* const text : {"", " ", "app:", "./app", "app:run%entry", "app:%return"}) {
    const auto probe = parse_probe("-p", text);
    ASSERT_FALSE(probe) << text;
    EXPECT_EQ(probe.error().message.rfind("-p: ", 0), 0u) << probe.error().message;
  }
}

}  // namespace
}  // namespace landtrace::cli
