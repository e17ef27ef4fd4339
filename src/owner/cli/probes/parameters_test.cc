#include "cli/probes/parameters.hpp"

#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

using Names = std::vector<std::string>;

// What the probe's arguments are when these are wanted.
std::string with(const std::string& text, const Names& fields, const Names& added) {
  auto probe = parse_probe("-p", text);
  EXPECT_TRUE(probe) << text;
  if (!probe) return "";
  EXPECT_EQ(add_parameters(*probe, fields), added) << text;
  return probe->arguments;
}

TEST(ParametersTest, WhatTheArgumentsDoNotNameIsOne) {
  EXPECT_EQ(with("libc.so.6:malloc", {"bytes.log2"}, {"bytes"}), "bytes");
  EXPECT_EQ(with("app:run a=$arg1", {"b", "a", "c.hex", "b"}, {"b", "c"}), "a=$arg1 b c");
  EXPECT_EQ(with("app:run%return", {"id"}, {"id"}), "id");
  EXPECT_EQ(with("app:run%return", {"retval.log2", "id"}, {"retval", "id"}), "retval=$retval id");
  EXPECT_EQ(with("app:run", {"retval"}, {"retval"}), "retval") << "there is none yet";
}

TEST(ParametersTest, WhatIsThereIsNot) {
  EXPECT_EQ(with("app:run a=$arg1 b c:s8", {"a", "b.log2=32", "c"}, {}), "a=$arg1 b c:s8");
  EXPECT_EQ(with("app:run $arg1",
                 {"arg1", "common_pid", "common_pid.execname", "stacktrace", "hitcount", "cpu", "__probe_ip.sym"}, {}),
            "$arg1");
}

TEST(ParametersTest, NorWhatCanBeNone) {
  EXPECT_EQ(with("app:run", {"1a", "", "a-b", "$arg1", "a->b"}, {}), "");
  EXPECT_EQ(with("app:run", {"arg", "argv", "arg1x"}, {"arg", "argv", "arg1x"}), "arg argv arg1x");
  EXPECT_EQ(with("app:run $params", {"a"}, {}), "$params");
  EXPECT_EQ(with("app:run_*", {"a"}, {}), "");
  EXPECT_EQ(with("usdt:app:provider:name", {"a"}, {}), "");
}

TEST(ParametersTest, TheyAreSaidToBeNoneWithWhatHelps) {
  const auto probe = parse_probe("EVENT", "libc.so.6:malloc");
  ASSERT_TRUE(probe);
  const Error owners(ENOENT, "EVENT: there are: bytes\n  text\n  ^");
  const auto error = no_such_parameters("--keys", *probe, {"size"}, owners);
  EXPECT_EQ(error.value().code, ENOENT);
  EXPECT_EQ(error.value().message,
            "--keys: 'size' is no argument of the probe, and not known as a parameter: there are: bytes; by its place "
            "it is 'libc.so.6:malloc size=$arg1', $arg2 …");
}

}  // namespace
}  // namespace landtrace::cli
