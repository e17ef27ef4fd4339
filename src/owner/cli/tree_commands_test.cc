// cat, write, ls, mkdir and rmdir, against a domain.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "cli/test_domain.hpp"

namespace landtrace::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Standard input is a file with this text for as long as it lives.
class Input {
 public:
  Input(const std::string& path, const std::string& text) : before_(::dup(STDIN_FILENO)) {
    output::write_text(path, text);
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ::dup2(file.get(), STDIN_FILENO);
  }
  ~Input() { ::dup2(before_.get(), STDIN_FILENO); }

 private:
  Fd before_;
};

class TreeCommandsTest : public DomainTest {
 protected:
  std::string contents(const char* path) { return run(add_cat, {"cat", path}).out; }
};

TEST_F(TreeCommandsTest, CatPrintsFilesOneBehindTheOther) {
  make_event("job u32 n");
  const Outcome cat = run(add_cat, {"cat", "available_events", "events/user_events/job/enable"});
  EXPECT_EQ(cat.status, 0);
  EXPECT_EQ(cat.err, "");
  EXPECT_THAT(cat.out, StartsWith("user_events:job\n"));
  EXPECT_THAT(cat.out, testing::EndsWith("0\n"));
}

TEST_F(TreeCommandsTest, CatOfALongFileIsComplete) {
  for (int i = 0; i < 3000; ++i) make_event("an_event_with_quite_a_long_name_" + std::to_string(i));
  const std::string text = contents("available_events");
  EXPECT_GT(text.size(), std::size_t{ipc::kMaxText});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3000);
}

TEST_F(TreeCommandsTest, WhatCatCannotReadIsNamedAfterWhatItCould) {
  make_event("job u32 n");
  const Outcome cat = run(add_cat, {"cat", "available_events", "nosuch", "README"});
  EXPECT_EQ(cat.status, 1);
  EXPECT_EQ(cat.out, "user_events:job\n");
  EXPECT_THAT(cat.err, StartsWith("landtrace: nosuch: No such file or directory"));
  EXPECT_THAT(cat.err, Not(HasSubstr("did you mean")));
}

TEST_F(TreeCommandsTest, WithoutADomainItSaysHowToStartOne) {
  const Outcome cat = run(add_cat, {"cat", "--socket", "/nowhere/d.sock", "README"});
  EXPECT_EQ(cat.status, 1);
  EXPECT_EQ(cat.err,
            "landtrace: no domain runs at /nowhere/d.sock; "
            "`landtraced`, or `landtrace record` without a command, starts one\n");
}

TEST_F(TreeCommandsTest, WriteSaysItsWordsAsEchoDoes) {
  make_event("a u32 n");
  make_event("b u32 n");
  EXPECT_EQ(run(add_write, {"write", "set_event", "user_events:a", "user_events:b"}).status, 0);
  EXPECT_THAT(contents("set_event"), HasSubstr("user_events:a\n"));
  EXPECT_THAT(contents("set_event"), HasSubstr("user_events:b\n"));
}

TEST_F(TreeCommandsTest, WriteBeginsTheFileAnewUnlessItAppends) {
  make_event("a u32 n");
  make_event("b u32 n");
  ASSERT_EQ(run(add_write, {"write", "set_event", "user_events:a"}).status, 0);
  ASSERT_EQ(run(add_write, {"write", "set_event", "user_events:b"}).status, 0);
  EXPECT_EQ(contents("set_event"), "user_events:b\n");
  ASSERT_EQ(run(add_write, {"write", "-a", "set_event", "user_events:a"}).status, 0);
  EXPECT_THAT(contents("set_event"), HasSubstr("user_events:a\n"));
  EXPECT_THAT(contents("set_event"), HasSubstr("user_events:b\n"));
}

TEST_F(TreeCommandsTest, WriteEndsWithANewlineUnlessItIsToldOtherwise) {
  EXPECT_EQ(run(add_write, {"write", "-n", "trace_marker_raw", "abcdX"}).status, 0);
  EXPECT_EQ(run(add_write, {"write", "trace_marker_raw", "abcdX"}).status, 0);
  EXPECT_THAT(contents("trace"), HasSubstr(": # 64636261 buf: 58 00 00 00\n"))
      << "four bytes are a number, the others are shown, up to the end of the word";
  EXPECT_THAT(contents("trace"), HasSubstr(": # 64636261 buf: 58 0a 00 00\n"));
}

TEST_F(TreeCommandsTest, TextMayBeginWithADash) {
  EXPECT_EQ(run(add_write, {"write", "trace_marker", "-n"}).status, 0);
  EXPECT_THAT(contents("trace"), HasSubstr(": tracing_mark_write: -n\n"));
}

TEST_F(TreeCommandsTest, WriteWithoutWordsTakesStandardInput) {
  {
    const Input input(dir_.file("input"), "u:e1 u32 n\nu:e2\n");
    EXPECT_EQ(run(add_write, {"write", "dynamic_events"}).status, 0);
  }
  EXPECT_EQ(contents("dynamic_events"), "u:e1 u32 n\nu:e2\n");
}

TEST_F(TreeCommandsTest, WhatAFileRefusesIsToldWithItsReason) {
  make_event("job u32 n");
  const Outcome write = run(add_write, {"write", "events/user_events/job/filter", "n", "==", "x"});
  EXPECT_EQ(write.status, 1);
  EXPECT_THAT(write.err, StartsWith("landtrace: events/user_events/job/filter: Invalid argument"));
}

TEST_F(TreeCommandsTest, LsIsSorted) {
  make_event("b");
  make_event("a");
  const Outcome ls = run(add_ls, {"ls", "events/user_events"});
  EXPECT_EQ(ls.status, 0);
  EXPECT_EQ(ls.out, "a\nb\nenable\nfilter\n");
}

TEST_F(TreeCommandsTest, LsOfAFileIsTheFile) {
  EXPECT_EQ(run(add_ls, {"ls", "README"}).out, "README\n");
  EXPECT_EQ(run(add_ls, {"ls", "-l", "README"}).out, "-r--r----- README\n");
}

TEST_F(TreeCommandsTest, LsWithoutAFolderIsOfTheRoot) {
  const std::string out = run(add_ls, {"ls", "-l"}).out;
  EXPECT_THAT(out, HasSubstr("drwxr-x--- instances\n"));
  EXPECT_THAT(out, HasSubstr("-rw-r----- set_event\n"));
}

TEST_F(TreeCommandsTest, WhatLsCannotListIsNamed) {
  const Outcome ls = run(add_ls, {"ls", "nosuch"});
  EXPECT_EQ(ls.status, 1);
  EXPECT_THAT(ls.err, StartsWith("landtrace: nosuch: No such file or directory"));
}

TEST_F(TreeCommandsTest, InstancesComeAndGo) {
  EXPECT_EQ(run(add_mkdir, {"mkdir", "instances/a", "instances/b"}).status, 0);
  EXPECT_EQ(run(add_ls, {"ls", "instances"}).out, "a\nb\n");
  EXPECT_EQ(run(add_rmdir, {"rmdir", "instances/a"}).status, 0);
  EXPECT_EQ(run(add_ls, {"ls", "instances"}).out, "b\n");
}

TEST_F(TreeCommandsTest, TheFirstFolderThatCannotBeChangedEndsIt) {
  const Outcome mkdir = run(add_mkdir, {"mkdir", "events/x", "instances/a"});
  EXPECT_EQ(mkdir.status, 1);
  EXPECT_THAT(mkdir.err, StartsWith("landtrace: events/x: Operation not permitted"));
  EXPECT_EQ(run(add_ls, {"ls", "instances"}).out, "");
  EXPECT_THAT(run(add_rmdir, {"rmdir", "instances/a"}).err, HasSubstr("instances/a: No such file or directory"));
}

TEST_F(TreeCommandsTest, WhatIsAlikeIsSaidOfAFileThatIsNotThere) {
  make_event("job u32 id");
  EXPECT_THAT(run(add_cat, {"cat", "trase"}).err, HasSubstr("; did you mean trace?\n"));
  EXPECT_THAT(run(add_cat, {"cat", "events/user_events/jbo/format"}).err,
              HasSubstr("; did you mean events/user_events/job?\n"));
  EXPECT_THAT(run(add_ls, {"ls", "event/user_events"}).err, HasSubstr("; did you mean events?\n"));
  EXPECT_THAT(run(add_write, {"write", "tracing_no", "1"}).err, HasSubstr("; did you mean tracing_on?\n"));
  EXPECT_THAT(run(add_cat, {"cat", "trace/x"}).err, Not(HasSubstr("did you mean")));
}

}  // namespace
}  // namespace landtrace::cli
