// What the files answer where the transcripts say nothing. The answers are those of a kernel's tracefs.
#include "tracefs/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tracefs/test_session.hpp"

namespace landtrace::tracefs {
namespace {

using namespace std::string_literals;

class TreeTest : public testing::Test {
 protected:
  // A write that may be taken in part: the bytes taken, or -ENAME.
  std::string taken(const std::string& file, std::string_view bytes) {
    const auto node = session_.tree().find(file);
    const auto open = (*node)->file()->open(TestSession::caller(), O_WRONLY);
    if (!open) return "-" + std::string(::strerrorname_np(open.error().code));
    const auto n = (*open)->write(TestSession::caller(), bytes, 0);
    return n ? std::to_string(*n) : "-" + std::string(::strerrorname_np(n.error().code));
  }
  std::unique_ptr<OpenFile> open(const std::string& file, int flags = O_RDONLY) {
    auto opened = (*session_.tree().find(file))->file()->open(TestSession::caller(), flags);
    return opened ? std::move(*opened) : nullptr;
  }
  static std::string read(OpenFile& file, std::uint64_t offset = 0) {
    char bytes[4096];
    const auto n = file.read(TestSession::caller(), bytes, offset);
    return n ? std::string(bytes, *n) : "-" + std::string(::strerrorname_np(n.error().code));
  }
  std::string make_event(const std::string& declaration) {
    return session_.append("dynamic_events", "u:" + declaration);
  }

  TestSession session_;
};

TEST_F(TreeTest, PathsAreWalkedAsAnyOther) {
  EXPECT_TRUE(session_.tree().find(""));
  EXPECT_TRUE(session_.tree().find("/events//enable"));
  EXPECT_TRUE(session_.tree().find("./events/"));
  EXPECT_EQ(session_.tree().find("nosuch/x").error().code, ENOENT);
  EXPECT_EQ(session_.tree().find("README/x").error().code, ENOTDIR);
}

TEST_F(TreeTest, ListsExactlyWhatItFinds) {
  make_event("e1 u32 n");
  session_("mkdir instances/foo");
  for (const char* const path : {"", "events", "events/ftrace", "events/ftrace/print", "events/user_events",
                                 "events/user_events/e1", "instances", "instances/foo", "instances/foo/events"}) {
    const auto folder = *session_.tree().find(path);
    const auto entries = *folder->folder()->list();
    for (const auto& entry : entries) {
      const auto node = folder->folder()->find(entry.name);
      ASSERT_TRUE(node) << path << '/' << entry.name;
      EXPECT_EQ((*node)->folder() != nullptr, entry.is_folder) << path << '/' << entry.name;
    }
  }
}

TEST_F(TreeTest, ModesAreThoseOfTracefs) {
  make_event("e1 u32 n");
  for (const auto& [path, mode] : std::map<std::string, std::string>{{"events", "40755"},
                                                                     {"events/user_events", "40755"},
                                                                     {"events/user_events/e1", "40755"},
                                                                     {"events/ftrace/print", "40755"},
                                                                     {"instances", "40750"},
                                                                     {"README", "100440"},
                                                                     {"available_events", "100440"},
                                                                     {"events/header_page", "100440"},
                                                                     {"events/enable", "100640"},
                                                                     {"events/user_events/filter", "100640"},
                                                                     {"events/user_events/e1/inject", "100200"},
                                                                     {"events/user_events/e1/trigger", "100640"},
                                                                     {"error_log", "100640"}}) {
    EXPECT_EQ(session_("mode " + path), mode) << path;
  }
}

TEST_F(TreeTest, TheReadmeHasWhatToolsLookFor) {
  const std::string text = session_.cat("README");
  for (const char* const needle : {"set_event_pid",
                                   "synthetic events",
                                   "hist trigger",
                                   "user_events",
                                   "dynamic_events",
                                   "s:[synthetic/]",
                                   "e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>]",
                                   "' >> synthetic_events",
                                   "long[] stack' >> synthetic_events",
                                   "Create/append/",
                                   "[gid=<gid>]",
                                   "x8/16/32/64",
                                   " <type>\\[<array-size>\\]",
                                   "imm-value",
                                   "imm-string",
                                   "trace(<synthetic_event>",
                                   "snapshot()",
                                   "<var1>=<field|var_ref|numeric_literal>",
                                   "onchange(var)",
                                   "can be any field, or the special string 'common_stacktrace'"}) {
    EXPECT_NE(text.find(needle), std::string::npos) << needle;
  }
}

TEST_F(TreeTest, SetEventTakesOneWordAWrite) {
  make_event("e1");
  make_event("e2");
  EXPECT_EQ(taken("set_event", "user_events:e1 user_events:e2\n"), "15");
  EXPECT_EQ(session_.cat("set_event"), "user_events:e1");
  EXPECT_EQ(taken("set_event", "user_events:e2\n"), "15");
  EXPECT_EQ(taken("set_event", "  \n"), "3");
  EXPECT_EQ(taken("set_event", ""), "0");
  EXPECT_EQ(taken("set_event", "!user_events:e1\0more"s), "16");
  EXPECT_EQ(session_.cat("set_event"), "user_events:e2");
  EXPECT_EQ(taken("set_event", "! user_events:e2"), "-EINVAL");
  EXPECT_EQ(taken("set_event", std::string(200, 'e')), "-EINVAL");
}

TEST_F(TreeTest, SetEventKnowsAllWildcards) {
  for (const char* const word : {"*:*", ":", "*:", ":*", "user_events", "user_events:", "user_events:*"}) {
    make_event("e1");
    make_event("e2");
    EXPECT_EQ(session_.append("set_event", word), "ok") << word;
    EXPECT_EQ(session_.cat("set_event"), "user_events:e2\nuser_events:e1") << word;
    EXPECT_EQ(session_.append("set_event", "!"s + word), "ok") << word;
    EXPECT_EQ(session_.cat("set_event"), "(empty)") << word;
  }
  for (const char* const word : {"e1", "*:e1", ":e1", "user_events:e1"}) {
    EXPECT_EQ(session_.put("set_event", word), "ok") << word;
    EXPECT_EQ(session_.cat("set_event"), "user_events:e1") << word;
  }
  for (const char* const word : {"*", "e*", "user_*:e1", "!nosuch", "!"}) {
    EXPECT_EQ(session_.append("set_event", word), "-EINVAL") << word;
  }
}

TEST_F(TreeTest, WithNoEventsAllOfThemAreAllTheSame) {
  EXPECT_EQ(session_.append("set_event", "*:*"), "ok");
  EXPECT_EQ(session_.put("events/enable", "1"), "ok");
  EXPECT_EQ(session_.cat("events/enable"), "0");
  EXPECT_EQ(session_.cat("available_events"), "(empty)");
}

TEST_F(TreeTest, EnableFilesSumUp) {
  make_event("e1");
  make_event("e2");
  EXPECT_EQ(session_.put("events/user_events/e1/enable", "1"), "ok");
  EXPECT_EQ(session_.cat("events/user_events/enable"), "X");
  EXPECT_EQ(session_.cat("events/enable"), "X");
  EXPECT_EQ(session_.put("events/enable", "1"), "ok");
  EXPECT_EQ(session_.cat("events/user_events/e2/enable"), "1");
  EXPECT_EQ(session_.cat("events/enable"), "1");
  EXPECT_EQ(session_.put("events/user_events/enable", "0"), "ok");
  EXPECT_EQ(session_.cat("events/enable"), "0");
}

TEST_F(TreeTest, EnableFilesTakeDecimalNumbers) {
  make_event("e1");
  for (const char* const file : {"events/enable", "events/user_events/enable", "events/user_events/e1/enable"}) {
    EXPECT_EQ(taken(file, "1\0"s), "2");
    EXPECT_EQ(taken(file, "+1"), "2");
    for (const char* const bad : {"", "2", "1 ", " 1", "1\n\n", "0x1", "-1", "on"}) {
      EXPECT_EQ(taken(file, bad), "-EINVAL") << file << ' ' << bad;
    }
    EXPECT_EQ(taken(file, "99999999999999999999999"), "-ERANGE");
    EXPECT_EQ(session_.cat(file), "1");
  }
}

TEST_F(TreeTest, ASystemIsThereAsLongAsItsEvents) {
  ASSERT_EQ(session_.append("synthetic_events", "made u64 n"), "ok");
  EXPECT_EQ(session_("exists events/user_events"), "no");
  make_event("e1");
  const auto folder = *session_.tree().find("events/user_events");
  const auto enable = open("events/user_events/enable");
  EXPECT_EQ(session_.append("dynamic_events", "-:user_events/e1"), "ok");
  EXPECT_EQ(session_("exists events/user_events"), "no");
  EXPECT_EQ(folder->folder()->list().error().code, ENOENT);
}

TEST_F(TreeTest, FilesOfADeletedEventSayNoDevice) {
  make_event("e1 u32 n");
  std::map<std::string, std::unique_ptr<OpenFile>> files;
  for (const char* const name : {"enable", "filter", "format", "hist", "id", "trigger"}) {
    files[name] = open("events/user_events/e1/"s + name, O_RDWR);
  }
  const auto folder = *session_.tree().find("events/user_events/e1");
  ASSERT_EQ(session_.put("dynamic_events", ""), "ok");
  make_event("e1 u64 other");
  for (const auto& [name, file] : files) EXPECT_EQ(read(*file), "-ENODEV") << name;
  EXPECT_EQ(files["enable"]->write(TestSession::caller(), "1", 0).error().code, ENODEV);
  EXPECT_EQ(folder->folder()->find("enable").error().code, ENOENT);
}

TEST_F(TreeTest, InstancesListEventsThatWereThereBeforeThemOldestFirst) {
  make_event("e1");
  make_event("e2");
  session_("mkdir instances/foo");
  make_event("e3");
  make_event("e4");
  session_.put("instances/foo/set_event", "*:*");
  EXPECT_EQ(session_.cat("instances/foo/set_event"), "user_events:e4\nuser_events:e3\nuser_events:e1\nuser_events:e2");
  EXPECT_EQ(session_.cat("available_events"), "user_events:e4\nuser_events:e3\nuser_events:e2\nuser_events:e1");
}

TEST_F(TreeTest, AnInstanceWithAnOpenFileIsBusy) {
  EXPECT_EQ(session_("mkdir instances/foo"), "ok");
  for (const char* const name : {"set_event", "events/enable", "tracing_cpumask"}) {
    auto file = open("instances/foo/"s + name);
    EXPECT_EQ(session_("rmdir instances/foo"), "-EBUSY") << name;
    file.reset();
  }
  EXPECT_EQ(session_("rmdir instances/foo"), "ok");
  EXPECT_EQ(session_("rmdir instances"), "-EPERM");
  EXPECT_EQ(session_("mkdir foo"), "-EPERM");
}

TEST_F(TreeTest, WhatIsLeftOfARemovedInstanceSaysNoDevice) {
  session_("mkdir instances/foo");
  const auto node = *session_.tree().find("instances/foo/set_event");
  session_("rmdir instances/foo");
  session_("mkdir instances/foo");
  const auto file = node->file()->open(TestSession::caller(), O_RDWR);
  EXPECT_EQ(read(**file), "-ENODEV");
}

TEST_F(TreeTest, InstancesEndWithTheirListening) {
  session_("mkdir instances/foo");
  session_("reg a e1");
  session_.put("instances/foo/events/enable", "1");
  EXPECT_EQ(session_("bits a"), "0x1");
  session_("rmdir instances/foo");
  EXPECT_EQ(session_("bits a"), "0x0");
}

TEST_F(TreeTest, PidListsAddUpOrStayAsTheyAre) {
  EXPECT_EQ(taken("set_event_pid", "0x10 010 0\n"), "11");
  EXPECT_EQ(session_.cat("set_event_pid"), "0\n8\n16");
  EXPECT_EQ(taken("set_event_pid", "4294967297"), "10");
  EXPECT_EQ(taken("set_event_pid", "1073741823"), "10");
  for (const char* const bad : {"5 x 6\n", "18446744073709551616\n"}) EXPECT_EQ(taken("set_event_pid", bad), "-EINVAL");
  EXPECT_EQ(taken("set_event_pid", "5 1073741824\n"), "-EPERM");
  EXPECT_EQ(taken("set_event_pid", "\n"), "1");
  EXPECT_EQ(taken("set_event_pid", "1\0 2\n"s), "5");
  EXPECT_EQ(session_.cat("set_event_pid"), "0\n1\n2\n8\n16\n1073741823");
  EXPECT_EQ(session_.put("set_event_notrace_pid", "3"), "ok");
  EXPECT_EQ(session_.cat("set_event_notrace_pid"), "3");
  EXPECT_EQ(session_.put("set_event_pid", ""), "ok");
  EXPECT_EQ(session_.cat("set_event_pid"), "(empty)");
  EXPECT_EQ(session_.cat("set_event_notrace_pid"), "3");
}

TEST_F(TreeTest, DynamicEventsCanBeRemovedByWhatTheyAre) {
  make_event("e1 u32 a;u64 b");
  make_event("e2");
  EXPECT_EQ(session_.append("dynamic_events", "-:e1"), "-ENOENT") << "without fields it means one without";
  EXPECT_EQ(session_.append("dynamic_events", "-:other/e1 u32 a; u64 b"), "-ENOENT");
  EXPECT_EQ(session_.append("dynamic_events", "-:user_events/e1 u32 a; u64 b;"), "ok");
  EXPECT_EQ(session_.append("dynamic_events", "!u:e2"), "ok");
  EXPECT_EQ(session_.cat("dynamic_events"), "(empty)");
  for (const char* const bad : {"-", "-:", "!", "-x:foo", "- :foo", " -:foo"}) {
    EXPECT_EQ(session_.append("dynamic_events", bad), "-EINVAL") << bad;
  }
  for (const char* const missing : {"!xyz:foo", "-:foo/", "-:/foo", "-:foo bar"}) {
    EXPECT_EQ(session_.append("dynamic_events", missing), "-ENOENT") << missing;
  }
}

TEST_F(TreeTest, DynamicEventsTakeSeveralLinesAndComments) {
  EXPECT_EQ(session_.append("dynamic_events", "# all of mine\n\nu:e1 u32 a# the first\nu:e2"), "ok");
  EXPECT_EQ(session_.cat("dynamic_events"), "u:e1 u32 a\nu:e2");
}

TEST_F(TreeTest, DynamicEventsInUseStayAll) {
  make_event("e1");
  session_("reg a e2");
  EXPECT_EQ(session_.append("dynamic_events", "-:e2"), "-EBUSY");
  EXPECT_EQ(session_.put("dynamic_events", ""), "-EBUSY");
  EXPECT_EQ(session_.cat("dynamic_events"), "u:e1\nu:e2");
}

TEST_F(TreeTest, SyntheticEventsAreDefinedByLines) {
  EXPECT_EQ(session_.append("synthetic_events", "# two\n lat u64 lat; char[] who # the first\n\ntop s32 n"), "ok");
  EXPECT_EQ(session_.cat("synthetic_events"), "lat\tu64 lat; char[] who\ntop\ts32 n");
  EXPECT_EQ(session_.cat("dynamic_events"), "s:synthetic/lat\tu64 lat; char[] who\ns:synthetic/top\ts32 n");
  EXPECT_EQ(session_.list("events/synthetic"), "enable\nfilter\nlat\ntop");
  EXPECT_EQ(session_.append("synthetic_events", "!lat and whatever follows"), "ok");
  EXPECT_EQ(session_.append("dynamic_events", "-:lat"), "-ENOENT");
  EXPECT_EQ(session_.append("dynamic_events", "!s:synthetic/top"), "ok");
  EXPECT_EQ(session_.list("events/synthetic"), "-ENOENT");
}

TEST_F(TreeTest, ASyntheticEventThatIsEnabledStays) {
  session_.append("synthetic_events", "lat u64 lat\ntop u64 n");
  session_.put("events/synthetic/lat/enable", "1");
  EXPECT_EQ(session_.append("synthetic_events", "!lat"), "-EBUSY");
  // The younger one goes, as its removal comes first.
  EXPECT_EQ(session_.put("synthetic_events", ""), "-EBUSY");
  EXPECT_EQ(session_.cat("synthetic_events"), "lat\tu64 lat");
  session_.put("events/synthetic/lat/enable", "0");
  EXPECT_EQ(session_.put("synthetic_events", ""), "ok");
  EXPECT_EQ(session_.cat("synthetic_events"), "(empty)");
}

TEST_F(TreeTest, ASyntheticEventCanBeInjectedAndFiltered) {
  session_.append("synthetic_events", "lat u64 lat; char name[8]; char who[]; s32 n");
  EXPECT_EQ(session_.put("events/synthetic/lat/filter", "lat > 5 && who ~ \"m*\""), "ok");
  EXPECT_EQ(session_.append("events/synthetic/lat/inject", "lat = 7 name = \"abc\" who = \"me\" n = -1"), "ok");
  EXPECT_EQ(session_("trace"), "lat: lat=7 name=abc who=me n=-1");
  EXPECT_EQ(session_.put("events/synthetic/lat/trigger", "traceoff if n < 0"), "ok");
}

TEST_F(TreeTest, EventProbesComeAndGoByGroupNameAndWhatTheyAreAttachedTo) {
  make_event("e1 u32 n; u64 v");
  EXPECT_EQ(session_.append("dynamic_events", "e:g/a user_events.e1 n=$n\ne:g/b user_events/e1 v=$v\ne user_events.e1"),
            "ok");
  EXPECT_EQ(session_.list("events/g"), "a\nb\nenable\nfilter");
  EXPECT_EQ(session_.append("dynamic_events", "-:e1 u32 n; u64 v"), "-EBUSY");
  EXPECT_EQ(session_.append("dynamic_events", "-:g/a user_events.e1 n=$v"), "-ENOENT");
  EXPECT_EQ(session_.append("dynamic_events", "-:g/a user_events/e1 n=$n"), "ok");
  EXPECT_EQ(session_.append("dynamic_events", "-:g/"), "ok");
  EXPECT_EQ(session_.cat("dynamic_events"), "u:e1 u32 n; u64 v\ne:eprobes/e1 user_events.e1");
  EXPECT_EQ(session_.put("dynamic_events", ""), "ok");
  EXPECT_EQ(session_.cat("dynamic_events"), "(empty)");
}

TEST_F(TreeTest, AnEventThatAnEventProbeIsMadeOfIsInSoftMode) {
  make_event("e1 u32 n");
  session_.append("dynamic_events", "e:g/p user_events.e1 n=$n:u32");
  EXPECT_EQ(session_.put("events/g/p/enable", "1"), "ok");
  EXPECT_EQ(session_.cat("events/user_events/e1/enable"), "0*");
  EXPECT_EQ(session_.append("dynamic_events", "-:g/p"), "-EBUSY");
  EXPECT_EQ(session_.put("dynamic_events", ""), "-EBUSY");
  EXPECT_EQ(session_.put("events/g/p/filter", "n > 2"), "ok");
  session_("reg a e1 u32 n");
  EXPECT_EQ(session_("app dynamic_events x"), "-EINVAL");
  session_.put("events/g/p/enable", "0");
  EXPECT_EQ(session_.cat("events/user_events/e1/enable"), "0");
}

TEST_F(TreeTest, ProgramsCannotRegisterSyntheticEvents) {
  session_.append("synthetic_events", "lat u64 lat");
  EXPECT_EQ(session_("reg a lat"), "ok index=0");  // user_events:lat
  EXPECT_EQ(session_.cat("user_events_status"), "lat\n\nActive: 1\nBusy: 0");
  EXPECT_EQ(session_("del lat"), "-EBUSY");
  EXPECT_EQ(session_.cat("synthetic_events"), "lat\tu64 lat");
}

TEST_F(TreeTest, TheOneTracer) {
  EXPECT_EQ(session_.cat("available_tracers"), "nop");
  for (const auto& good : {"nop"s, " nop \n"s, "nop\0"s})
    EXPECT_EQ(taken("current_tracer", good), std::to_string(good.size()));
  for (const char* const bad : {"", "\n", "function", "nopx"})
    EXPECT_EQ(taken("current_tracer", bad), "-EINVAL") << bad;
}

TEST_F(TreeTest, TheErrorLogIsPerInstanceAndClearedByTruncation) {
  session_("mkdir instances/foo");
  Context& context = session_.tree().context();
  context.log_error(*session_.domain().instances().find("foo"), {"place", "what", "command", 3});
  EXPECT_EQ(session_.cat("error_log"), "(empty)");
  EXPECT_EQ(session_.cat("instances/foo/error_log"), "[TS] place: error: what\n  Command: command\n              ^");
  EXPECT_EQ(session_.append("instances/foo/error_log", "x"), "ok");
  EXPECT_NE(session_.cat("instances/foo/error_log"), "(empty)");
  EXPECT_EQ(session_.put("instances/foo/error_log", ""), "ok");
  EXPECT_EQ(session_.cat("instances/foo/error_log"), "(empty)");
}

TEST_F(TreeTest, CpuMasksArePerInstance) {
  session_("mkdir instances/foo");
  const std::string all = session_.cat("tracing_cpumask");
  EXPECT_EQ(session_.put("instances/foo/tracing_cpumask", "1"), "ok");
  EXPECT_EQ(session_.cat("tracing_cpumask"), all);
  EXPECT_EQ(taken("tracing_cpumask", ""), "-EINVAL");
  EXPECT_EQ(taken("tracing_cpumask", "z"), "-EINVAL");
}

TEST_F(TreeTest, ReadersSeeOneTextToItsEnd) {
  make_event("e1");
  make_event("e2");
  const auto file = open("available_events");
  EXPECT_EQ(read(*file), "user_events:e2\nuser_events:e1\n");
  ASSERT_EQ(session_.put("dynamic_events", ""), "ok");
  EXPECT_EQ(read(*file, 12), "e2\nuser_events:e1\n");
  EXPECT_EQ(read(*file, 30), "");
  EXPECT_EQ(read(*file), "");
}

TEST_F(TreeTest, AThousandEventsAreListed) {
  for (int i = 0; i < 1000; ++i) make_event("event_" + std::to_string(i) + " u32 n");
  const auto folder = *session_.tree().find("events/user_events");
  const auto entries = *folder->folder()->list();
  EXPECT_EQ(entries.size(), 1002u);
  for (const auto& entry : entries) EXPECT_TRUE(folder->folder()->find(entry.name)) << entry.name;
  const std::string all = session_.cat("available_events");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 999);
}

TEST_F(TreeTest, ClosingAnEventFileLetsItsEventsGo) {
  session_("reg a e1");
  session_("unreg a");
  EXPECT_EQ(session_("exists events/user_events/e1"), "yes");
  session_("close f0");
  EXPECT_EQ(session_("exists events/user_events/e1"), "no");
}

TEST(TreeOf61Test, FlagsBehindANameSayNothing) {
  TestSession session({.abi = abi::Version::k6_1});
  EXPECT_EQ(session.append("dynamic_events", "u:e1:BPF_ITER,FLAG_FUTURE u32 a"), "ok");
  EXPECT_EQ(session.cat("dynamic_events"), "u:e1 u32 a");
  TestSession later;
  EXPECT_EQ(later.append("dynamic_events", "u:e1:BPF_ITER u32 a"), "-EINVAL");
}

TEST(TreeOf61Test, ANameAloneRemovesAnEventOfAnyFields) {
  TestSession session({.abi = abi::Version::k6_1});
  EXPECT_EQ(session.append("dynamic_events", "u:e1 u32 a"), "ok");
  EXPECT_EQ(session.append("dynamic_events", "!u:e1 u64 a"), "-ENOENT");
  EXPECT_EQ(session.append("dynamic_events", "!u:e1"), "ok");
  EXPECT_EQ(session.cat("dynamic_events"), "(empty)");
}

}  // namespace
}  // namespace landtrace::tracefs
