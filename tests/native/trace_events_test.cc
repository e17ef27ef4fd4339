// The trace event API against a domain that is served here: section 7 of the kernel's "Event Tracing".
#include <landtrace/control.hpp>
#include <landtrace/kernel_words.h>
#include <landtrace/trace_events.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "host/server.hpp"

extern "C" __attribute__((noinline, used)) int lt_do_sys_open(int dfd, const char* /*path*/) { return dfd; }

namespace landtrace {
namespace {

class TraceEventsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    path = "/tmp/landtrace-trace-events-test-" + std::to_string(::getpid()) + ".sock";
    ::setenv("LANDTRACE_SOCKET", path.c_str(), 1);
    owned_domain = *domain::Domain::create({.ring_bytes = 1 << 18});
    owned_rules = std::make_unique<rules::Rules>(*owned_domain);
    server = *host::Server::create(*owned_domain, *owned_rules, path);
    serving = std::thread([] { server->run(); });
  }
  static void TearDownTestSuite() {
    server->stop();
    serving.join();
    server.reset();
    owned_rules.reset();
    owned_domain.reset();
  }
  void SetUp() override {
    ASSERT_EQ(control.open(path), 0);
    seen = all_lines("trace").size();
  }
  void TearDown() override {
    for (trace_event_file* const file : files) trace_put_event_file(file);
    std::ignore = write("events/enable", "0");
    std::ignore = synth_event_delete("job");
  }

  static landtrace_control* raw() {
    static landtrace_control* connection = nullptr;
    if (connection == nullptr) landtrace_control_open(&connection, path.c_str());
    return connection;
  }
  static int write(const char* file, const char* text) { return landtrace_control_write(raw(), file, text); }
  static std::string read(const std::string& file) {
    std::string text(1 << 16, '\0');
    const ssize_t length = landtrace_control_read(raw(), file.c_str(), text.data(), text.size());
    text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return text;
  }
  // The lines of events in a trace file.
  static std::vector<std::string> all_lines(const std::string& file) {
    std::vector<std::string> found;
    std::istringstream text(read(file));
    for (std::string line; std::getline(text, line);) {
      if (!line.empty() && line[0] != '#') found.push_back(line);
    }
    return found;
  }
  // What the test has put there: what stands behind "job:".
  std::vector<std::string> lines(const std::string& file = "trace") {
    std::vector<std::string> found = all_lines(file);
    if (file == "trace") found.erase(found.begin(), found.begin() + static_cast<long>(seen));
    for (std::string& line : found) line.erase(0, line.find("job: ") + 5);
    return found;
  }
  trace_event_file* get(const char* event, const char* instance = nullptr) {
    trace_event_file* const file = trace_get_event_file(instance, "synthetic", event);
    EXPECT_FALSE(landtrace_is_err(file)) << landtrace_ptr_err(file);
    if (!landtrace_is_err(file)) files.push_back(file);
    return file;
  }
  void put(trace_event_file* file) {
    std::erase(files, file);
    trace_put_event_file(file);
  }

  inline static std::string path;
  inline static std::unique_ptr<domain::Domain> owned_domain;
  inline static std::unique_ptr<rules::Rules> owned_rules;
  inline static std::unique_ptr<host::Server> server;
  inline static std::thread serving;
  Control control;
  std::vector<trace_event_file*> files;
  std::size_t seen = 0;  // lines of the trace that are older than the test
};

synth_field_desc job_fields[] = {
    {"pid_t", "pid"}, {"char[16]", "name"}, {"u64", "ns"}, {"unsigned int", "cpu"}, {"s8", "priority"},
};

int make_job() { return synth_event_create("job", job_fields, ARRAY_SIZE(job_fields), THIS_MODULE); }

TEST_F(TraceEventsTest, AnEventIsMadeInOneStep) {
  ASSERT_EQ(make_job(), 0);
  EXPECT_EQ(read("synthetic_events"), "job\tpid_t pid; char[16] name; u64 ns; unsigned int cpu; s8 priority\n");
  EXPECT_EQ(make_job(), -EEXIST);
  EXPECT_EQ(synth_event_delete("job"), 0);
  EXPECT_EQ(synth_event_delete("job"), -ENOENT);
  EXPECT_EQ(read("synthetic_events"), "");
}

TEST_F(TraceEventsTest, WhatIsNoEventIsRefused) {
  synth_field_desc nameless[] = {{"u64", nullptr}};
  EXPECT_EQ(synth_event_create("job", nameless, 1, THIS_MODULE), -EINVAL);
  synth_field_desc typeless[] = {{nullptr, "a"}};
  EXPECT_EQ(synth_event_create("job", typeless, 1, THIS_MODULE), -EINVAL);
  synth_field_desc unknown[] = {{"nosuch", "a"}};
  EXPECT_EQ(synth_event_create("job", unknown, 1, THIS_MODULE), -EINVAL);
  EXPECT_EQ(synth_event_create("job", nullptr, 0, THIS_MODULE), -EINVAL);
  std::vector<synth_field_desc> many(SYNTH_FIELDS_MAX + 1, {"u64", "a"});
  EXPECT_EQ(synth_event_create("job", many.data(), SYNTH_FIELDS_MAX + 1, THIS_MODULE), -EINVAL);
  const std::string name(100, 'n');
  std::vector<synth_field_desc> wide(30, {"u64", name.c_str()});
  EXPECT_EQ(synth_event_create("job", wide.data(), 30, THIS_MODULE), -E2BIG);
}

TEST_F(TraceEventsTest, AnEventIsMadeStepByStep) {
  char buffer[MAX_DYNEVENT_CMD_LEN];
  dynevent_cmd cmd;
  synth_event_cmd_init(&cmd, buffer, sizeof buffer);
  EXPECT_EQ(synth_event_gen_cmd_start(&cmd, "job", THIS_MODULE, "pid_t", "pid", "u64", "ns"), 0);
  EXPECT_EQ(synth_event_add_field(&cmd, "int", "number"), 0);
  EXPECT_EQ(synth_event_add_field(&cmd, "int", nullptr), -EINVAL);
  EXPECT_EQ(synth_event_add_field_str(&cmd, "char name[8]"), 0);
  EXPECT_EQ(synth_event_add_fields(&cmd, job_fields + 3, 2), 0);
  EXPECT_EQ(cmd.n_fields, 6u);
  EXPECT_EQ(synth_event_gen_cmd_end(&cmd), 0);
  EXPECT_EQ(read("synthetic_events"),
            "job\tpid_t pid; u64 ns; int number; char[8] name; unsigned int cpu; s8 priority\n");
}

TEST_F(TraceEventsTest, AnEventIsBegunWithAnArray) {
  char buffer[MAX_DYNEVENT_CMD_LEN];
  dynevent_cmd cmd;
  synth_event_cmd_init(&cmd, buffer, sizeof buffer);
  EXPECT_EQ(synth_event_gen_cmd_array_start(&cmd, "job", THIS_MODULE, job_fields, 2), 0);
  EXPECT_EQ(synth_event_add_field(&cmd, "u64", "more"), 0);
  EXPECT_EQ(synth_event_gen_cmd_end(&cmd), 0);
  EXPECT_EQ(read("synthetic_events"), "job\tpid_t pid; char[16] name; u64 more\n");
}

TEST_F(TraceEventsTest, ACommandOfAnotherTypeIsNoSyntheticEvent) {
  char buffer[64];
  dynevent_cmd cmd;
  dynevent_cmd_init(&cmd, buffer, sizeof buffer, DYNEVENT_TYPE_NONE, nullptr);
  EXPECT_EQ(synth_event_gen_cmd_start(&cmd, "job", THIS_MODULE, "u64", "a"), -EINVAL);
  EXPECT_EQ(synth_event_add_field(&cmd, "u64", "a"), -EINVAL);
  EXPECT_EQ(synth_event_gen_cmd_end(&cmd), -EINVAL);
}

// The document's example, whose function is one of this program.
TEST_F(TraceEventsTest, AProbeIsMadeFromPieces) {
  char buffer[MAX_DYNEVENT_CMD_LEN];
  dynevent_cmd cmd;
  kprobe_event_cmd_init(&cmd, buffer, sizeof buffer);
  EXPECT_EQ(kprobe_event_gen_cmd_start(&cmd, "gen_kprobe_test", "lt_do_sys_open", "dfd=%ax", "filename=%dx"), 0);
  EXPECT_EQ(kprobe_event_add_fields(&cmd, "flags=%cx", "mode=+4($stack)"), 0);
  EXPECT_STREQ(buffer, "p:kprobes/gen_kprobe_test lt_do_sys_open  dfd=%ax  filename=%dx  flags=%cx  mode=+4($stack) ");
  EXPECT_EQ(kprobe_event_gen_cmd_end(&cmd), 0);
  kprobe_event_cmd_init(&cmd, buffer, sizeof buffer);
  EXPECT_EQ(kretprobe_event_gen_cmd_start(&cmd, "gen_kretprobe_test", "lt_do_sys_open", "$retval"), 0);
  EXPECT_STREQ(buffer, "r:kprobes/gen_kretprobe_test lt_do_sys_open  $retval ");
  EXPECT_EQ(kretprobe_event_gen_cmd_end(&cmd), 0);
  EXPECT_EQ(read("kprobe_events"),
            "p:kprobes/gen_kprobe_test lt_do_sys_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)\n"
            "r:kprobes/gen_kretprobe_test lt_do_sys_open arg1=$retval\n");
  EXPECT_EQ(kprobe_event_delete("gen_kprobe_test"), 0);
  EXPECT_EQ(kprobe_event_delete("gen_kretprobe_test"), 0);
  EXPECT_EQ(kprobe_event_delete("gen_kprobe_test"), -ENOENT);
  EXPECT_EQ(read("kprobe_events"), "");
}

TEST_F(TraceEventsTest, AProbeThatCannotBeIsRefusedAtTheEnd) {
  EXPECT_EQ(make_probe("gone", "lt_no_such_function", {}), -EINVAL);
  EXPECT_EQ(make_probe("odd", "lt_do_sys_open", {"a=%zz"}), -EINVAL);
  EXPECT_EQ(make_return_probe("middle", "lt_do_sys_open+4", {}), -EINVAL);
  EXPECT_NE(read("error_log").find("Invalid register name"), std::string::npos);
  ASSERT_EQ(make_probe("twice", "lt_do_sys_open", {"a=%di"}), 0);
  EXPECT_EQ(make_probe("twice", "lt_do_sys_open", {"a=%di"}), -EEXIST);
  EXPECT_EQ(make_probe("twice", "libc:getppid", {"b=%di"}), -EEXIST);
  EXPECT_EQ(make_probe("twice", "libc:getppid", {"a=%di"}), 0) << "one more place of the event";
  EXPECT_EQ(make_probe("waits", "lt_no_such_library:f", {}), 0);
  EXPECT_EQ(remove_probe("waits"), 0);
  EXPECT_EQ(remove_probe("twice"), 0);
  EXPECT_EQ(read("kprobe_events"), "");
  char buffer[64];
  dynevent_cmd cmd;
  synth_event_cmd_init(&cmd, buffer, sizeof buffer);
  EXPECT_EQ(kprobe_event_add_fields(&cmd, "a=%ax"), -EINVAL);
  EXPECT_EQ(make_probe("long", "lt_do_sys_open", {std::string(3000, 'x').c_str()}), -E2BIG);
}

TEST_F(TraceEventsTest, AProbeStaysWhileItIsInUse) {
  ASSERT_EQ(make_probe("opened", "lt_do_sys_open", {"path=+0(%si):string"}), 0);
  EXPECT_EQ(ProbeEvent("closed").error(), -EINVAL);
  {
    ProbeEvent opened("opened");
    ASSERT_EQ(opened.error(), 0);
    EXPECT_EQ(remove_probe("opened"), -EBUSY);
    EXPECT_EQ(opened.enable(), 0);
    EXPECT_EQ(read("events/kprobes/opened/enable"), "1\n");
  }
  EXPECT_EQ(remove_probe("opened"), -EBUSY) << "enabled";
  ASSERT_EQ(write("events/kprobes/opened/enable", "0"), 0);
  EXPECT_EQ(remove_probe("opened"), 0);
}

TEST_F(TraceEventsTest, AllValuesAtOnce) {
  ASSERT_EQ(make_job(), 0);
  trace_event_file* const file = get("job");
  EXPECT_EQ(synth_event_trace(file, 5, 1, (u64) "unheard", 2, 3, 4), 0) << "nobody listens: no error";
  ASSERT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "job", true), 0);
  EXPECT_EQ(synth_event_trace(file, 5, 444, (u64) "clackers", 1000000, smp_processor_id() & 0, 3), 0);
  u64 vals[] = {777, (u64) "a name of more than 16", ~0ull, 1, 127};
  EXPECT_EQ(synth_event_trace_array(file, vals, std::size(vals)), 0);
  EXPECT_EQ(lines(), (std::vector<std::string>{
                         "pid=444 name=clackers ns=1000000 cpu=0 priority=3",
                         "pid=777 name=a name of more  ns=18446744073709551615 cpu=1 priority=127",
                     }));
}

TEST_F(TraceEventsTest, AWrongNumberOfValuesOrNoTextIsRefused) {
  ASSERT_EQ(make_job(), 0);
  trace_event_file* const file = get("job");
  ASSERT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "job", true), 0);
  EXPECT_EQ(synth_event_trace(file, 4, 1, (u64) "x", 2, 3), -EINVAL);
  EXPECT_EQ(synth_event_trace(file, 5, 1, (u64) "x", 2, 3), -EINVAL);
  EXPECT_EQ(synth_event_trace(file, 5, 1, 0, 2, 3, 4), -EINVAL);
  EXPECT_EQ(synth_event_trace(nullptr, 0), -EINVAL);
  EXPECT_TRUE(lines().empty());
}

TEST_F(TraceEventsTest, PieceByPieceInOrder) {
  ASSERT_EQ(make_job(), 0);
  trace_event_file* const file = get("job");
  ASSERT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "job", true), 0);
  synth_event_trace_state state;
  ASSERT_EQ(synth_event_trace_start(file, &state), 0);
  EXPECT_EQ(synth_event_add_next_val(777, &state), 0);
  EXPECT_EQ(synth_event_add_next_val((u64) "slinky", &state), 0);
  EXPECT_EQ(synth_event_add_next_val(1000000, &state), 0);
  EXPECT_EQ(synth_event_add_val("cpu", 1, &state), -EINVAL) << "not both ways in one event";
  EXPECT_EQ(synth_event_add_next_val(1, &state), 0);
  EXPECT_EQ(synth_event_add_next_val(5, &state), 0);
  EXPECT_EQ(synth_event_add_next_val(6, &state), -EINVAL) << "there are five fields";
  EXPECT_EQ(synth_event_trace_end(&state), 0);
  EXPECT_EQ(synth_event_trace_end(&state), -EINVAL);
  EXPECT_EQ(synth_event_add_next_val(1, &state), -EINVAL);
  EXPECT_EQ(lines(), std::vector<std::string>{"pid=777 name=slinky ns=1000000 cpu=1 priority=5"});
}

TEST_F(TraceEventsTest, PieceByPieceByName) {
  ASSERT_EQ(make_job(), 0);
  trace_event_file* const file = get("job");
  ASSERT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "job", true), 0);
  synth_event_trace_state state;
  ASSERT_EQ(synth_event_trace_start(file, &state), 0);
  EXPECT_EQ(synth_event_add_val("priority", 9, &state), 0);
  EXPECT_EQ(synth_event_add_val("nosuch", 9, &state), -EINVAL);
  EXPECT_EQ(synth_event_add_next_val(9, &state), -EINVAL);
  EXPECT_EQ(synth_event_add_val("name", (u64) "silly putty", &state), 0);
  EXPECT_TRUE(lines().empty()) << "it happens at its end";
  EXPECT_EQ(synth_event_trace_end(&state), 0);
  EXPECT_EQ(lines(), std::vector<std::string>{"pid=0 name=silly putty ns=0 cpu=0 priority=9"});
}

TEST_F(TraceEventsTest, ADynamicTextIsTracedAtOnceAndNotPieceByPiece) {
  synth_field_desc fields[] = {{"u64", "id"}, {"char[]", "text"}, {"char", "more[]"}};
  ASSERT_EQ(synth_event_create("job", fields, 3, THIS_MODULE), 0);
  trace_event_file* const file = get("job");
  ASSERT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "job", true), 0);
  EXPECT_EQ(synth_event_trace(file, 3, 7, (u64) "as long as it is", (u64) ""), 0);
  synth_event_trace_state state;
  EXPECT_EQ(synth_event_trace_start(file, &state), -EINVAL);
  EXPECT_EQ(synth_event_trace_end(&state), -EINVAL);
  const std::string huge(70000, 'x');
  EXPECT_EQ(synth_event_trace(file, 3, 7, (u64)huge.c_str(), (u64) ""), -E2BIG);
  EXPECT_EQ(lines(), std::vector<std::string>{"id=7 text=as long as it is more="});
}

TEST_F(TraceEventsTest, AnEventInUseIsNotDeleted) {
  ASSERT_EQ(make_job(), 0);
  trace_event_file* const file = get("job");
  EXPECT_EQ(synth_event_delete("job"), -EBUSY);
  EXPECT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "job", true), 0);
  trace_array* const top = file->tr;
  put(file);
  EXPECT_EQ(synth_event_delete("job"), -EBUSY);
  EXPECT_EQ(trace_array_set_clr_event(top, "synthetic", "job", false), 0);
  EXPECT_EQ(synth_event_delete("job"), 0);
}

TEST_F(TraceEventsTest, WhatIsNotThereIsNoFile) {
  EXPECT_EQ(landtrace_ptr_err(trace_get_event_file(nullptr, "synthetic", "nosuch")), -EINVAL);
  EXPECT_EQ(landtrace_ptr_err(trace_get_event_file("noinstance", "synthetic", "nosuch")), -ENOENT);
  EXPECT_EQ(landtrace_ptr_err(trace_get_event_file(nullptr, nullptr, "nosuch")), -EINVAL);
  EXPECT_EQ(trace_array_set_clr_event(nullptr, "synthetic", "job", true), -ENOENT);
}

TEST_F(TraceEventsTest, AnInstanceIsMadeHeldAndDestroyed) {
  trace_array* const tr = trace_array_get_by_name("mine");
  ASSERT_NE(tr, nullptr);
  EXPECT_EQ(trace_array_get_by_name("mine"), tr);
  EXPECT_EQ(control.remove_instance("mine"), -EBUSY);
  trace_array_put(tr);
  EXPECT_EQ(trace_array_destroy(tr), -EBUSY);
  trace_array_put(tr);
  EXPECT_EQ(trace_array_destroy(tr), 0);
  EXPECT_EQ(trace_array_destroy(tr), -ENODEV);
  EXPECT_EQ(control.remove_instance("mine"), -ENOENT);
}

TEST_F(TraceEventsTest, AnEventHappensInTheInstanceOfItsFile) {
  ASSERT_EQ(make_job(), 0);
  trace_array* const tr = trace_array_get_by_name("mine");
  trace_event_file* const mine = get("job", "mine");
  trace_event_file* const top = get("job");
  EXPECT_EQ(mine->tr, tr);
  ASSERT_EQ(trace_array_set_clr_event(tr, "synthetic", "job", true), 0);
  EXPECT_EQ(synth_event_trace(top, 5, 1, (u64) "nowhere", 0, 0, 0), 0);
  ASSERT_EQ(trace_array_set_clr_event(top->tr, "synthetic", nullptr, true), 0);
  EXPECT_EQ(synth_event_trace(mine, 5, 2, (u64) "here", 0, 0, 0), 0);
  EXPECT_EQ(synth_event_trace(top, 5, 3, (u64) "there", 0, 0, 0), 0);
  EXPECT_EQ(lines("instances/mine/trace"), std::vector<std::string>{"pid=2 name=here ns=0 cpu=0 priority=0"});
  EXPECT_EQ(lines(), std::vector<std::string>{"pid=3 name=there ns=0 cpu=0 priority=0"});
  put(mine);
  trace_array_put(tr);
  EXPECT_EQ(trace_array_destroy(tr), 0);
}

// Whose stack begins with whoever calls the API.
[[gnu::noinline]] int trace_from_here(trace_event_file* file) {
  const u64 vals[] = {1, (u64) "stack", 0, 0, 0};
  const int result = synth_event_trace_array(file, vals, std::size(vals));
  asm volatile("");
  return result;
}

TEST_F(TraceEventsTest, AStackBeginsWithWhoTraces) {
  ASSERT_EQ(make_job(), 0);
  trace_event_file* const file = get("job");
  ASSERT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "job", true), 0);
  ASSERT_EQ(write("events/synthetic/job/trigger", "stacktrace"), 0);
  EXPECT_EQ(trace_from_here(file), 0);
  synth_event_trace_state state;
  ASSERT_EQ(synth_event_trace_start(file, &state), 0);
  EXPECT_EQ(synth_event_trace_end(&state), 0);
  ASSERT_EQ(write("events/synthetic/job/trigger", "!stacktrace"), 0);
  const std::string text = read("trace");
  constexpr std::string_view kBegin = "<user stack trace>\n";
  const std::size_t first = text.find(kBegin);
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(text.substr(first, 120).find(" => landtrace::(anonymous namespace)::trace_from_here"), std::string::npos)
      << text;
  const std::size_t second = text.find(kBegin, first + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_NE(text.substr(second, 120).find("AStackBeginsWithWhoTraces"), std::string::npos) << text;
}

TEST_F(TraceEventsTest, AChildTracesAndAsksForItself) {
  ASSERT_EQ(make_job(), 0);
  trace_event_file* const file = get("job");
  ASSERT_EQ(trace_array_set_clr_event(file->tr, "synthetic", "job", true), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool traced = synth_event_trace(file, 5, 1, (u64) "child", 0, 0, 0) == 0;
    const bool busy = synth_event_delete("job") == -EBUSY;
    ::_exit(traced && busy ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lines(), std::vector<std::string>{"pid=1 name=child ns=0 cpu=0 priority=0"});
}

TEST_F(TraceEventsTest, InCpp) {
  ASSERT_EQ(make_synthetic("job", {{"s32", "n"}, {"char[8]", "name"}, {"u8", "b"}}), 0);
  {
    SyntheticEvent job("job");
    ASSERT_EQ(job.error(), 0);
    EXPECT_EQ(job.trace(1, "unheard", true), 0);
    EXPECT_EQ(job.enable(), 0);
    const std::string name = "text";
    EXPECT_EQ(job.trace(-7, name, 'a'), 0);
    EXPECT_EQ(job.trace(1), -EINVAL);
    {
      SyntheticTrace piecewise(job);
      EXPECT_EQ(piecewise.add("name", "piece"), 0);
      EXPECT_EQ(piecewise.add_next(1), -EINVAL);
    }
    SyntheticEvent moved = std::move(job);
    EXPECT_EQ(job.error(), -EINVAL);
    EXPECT_EQ(job.trace(1, "", 2), -EINVAL);
    EXPECT_EQ(moved.enable(false), 0);
  }
  EXPECT_EQ(SyntheticEvent("nosuch").error(), -EINVAL);
  EXPECT_EQ(lines(), (std::vector<std::string>{"n=-7 name=text b=97", "n=0 name=piece b=0"}));
  EXPECT_EQ(remove_synthetic("job"), 0);
}

// -- the layer below ---------------------------------------------------------------------------------------------
int ran_with_type = 0;
std::string ran;
int run_note(dynevent_cmd* cmd) {
  ran = cmd->buffer;
  ran_with_type = cmd->type;
  return -ENOTTY;
}
int check_is_digit(void* data) {
  const char* const text = static_cast<dynevent_arg*>(data)->str;
  return text != nullptr && text[0] >= '0' && text[0] <= '9' ? 0 : -EDOM;
}
int check_both(void* data) {
  const auto* const pair = static_cast<dynevent_arg_pair*>(data);
  return pair->lhs != nullptr && pair->rhs != nullptr ? 0 : -ENOTDIR;
}

TEST(DyneventTest, ACommandGrowsByArguments) {
  char buffer[64];
  constexpr int kNote = 17;
  dynevent_cmd cmd;
  dynevent_cmd_init(&cmd, buffer, sizeof buffer, kNote, run_note);
  dynevent_arg arg;
  dynevent_arg_init(&arg, nullptr, 0);
  arg.str = "p:note";
  EXPECT_EQ(dynevent_arg_add(&cmd, &arg), 0);
  dynevent_arg_init(&arg, check_is_digit, ',');
  arg.str = "x";
  EXPECT_EQ(dynevent_arg_add(&cmd, &arg), -EDOM);
  arg.str = "42";
  EXPECT_EQ(dynevent_arg_add(&cmd, &arg), 0);
  dynevent_arg_pair pair;
  dynevent_arg_pair_init(&pair, check_both, '=', 0);
  pair.lhs = "flags";
  EXPECT_EQ(dynevent_arg_pair_add(&cmd, &pair), -ENOTDIR);
  pair.rhs = "%cx";
  EXPECT_EQ(dynevent_arg_pair_add(&cmd, &pair), 0);
  dynevent_arg_pair_init(&pair, nullptr, 0, ';');
  pair.lhs = "u64";
  pair.rhs = "ns";
  EXPECT_EQ(dynevent_arg_pair_add(&cmd, &pair), 0);
  EXPECT_EQ(dynevent_str_add(&cmd, "as it is"), 0);
  EXPECT_EQ(dynevent_create(&cmd), -ENOTTY);
  EXPECT_EQ(ran, " p:note  42, flags=%cx  u64 ns;as it is");
  EXPECT_EQ(ran_with_type, kNote);
}

TEST(DyneventTest, WhatHasNoRoomLeavesTheCommandAsItWas) {
  char buffer[8];
  dynevent_cmd cmd;
  dynevent_cmd_init(&cmd, buffer, sizeof buffer, DYNEVENT_TYPE_NONE, nullptr);
  EXPECT_EQ(dynevent_str_add(&cmd, "12345678"), -E2BIG);
  EXPECT_EQ(dynevent_str_add(&cmd, "1234567"), 0);
  EXPECT_EQ(dynevent_str_add(&cmd, "8"), -E2BIG);
  EXPECT_STREQ(buffer, "1234567");
  EXPECT_EQ(dynevent_str_add(&cmd, nullptr), -EINVAL);
  EXPECT_EQ(dynevent_create(&cmd), -EINVAL) << "there is nobody to carry it out";
}

}  // namespace
}  // namespace landtrace
