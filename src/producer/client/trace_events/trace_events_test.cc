// The trace event API against an owner that answers what the test says.
#include <landtrace/trace_events.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "client/fake_owner.hpp"
#include "client/trace_events/arrays.hpp"
#include "client/trace_events/domain_files.hpp"
#include "client/trace_events/event_file.hpp"

namespace landtrace::client {
namespace {

using ipc::Operation;
using Kind = FakeAnswer::Kind;

constexpr std::uint32_t kInstance = 2;

class TraceEventApiTest : public ClientTest {
 protected:
  // With an owner, and without the helper, so that nobody else asks it.
  void with_owner(const std::function<void(FakeOwner&)>& body) const {
    in_child([&] {
      ::setenv("LANDTRACE_HELPER", "0", 1);
      FakeOwner owner(path());
      owner.answer(Operation::kTreeWrite, [](const Asked& asked) { return FakeAnswer::number(asked.text.size()); });
      body(owner);
    });
  }
  // What was written, and where.
  static std::string written(const FakeOwner& owner) {
    const auto opened = owner.asked(Operation::kTreeOpen);
    const auto wrote = owner.asked(Operation::kTreeWrite);
    return opened.empty() || wrote.empty() ? "nothing" : opened.back().text + ": " + wrote.back().text;
  }
};

// -- instances --------------------------------------------------------------------------------------------------------
using ArrayTest = TraceEventApiTest;

TEST_F(ArrayTest, TheTopInstanceNeedsNobodyToHoldIt) {
  with_owner([](FakeOwner& owner) {
    trace_array* const top = get_array(nullptr, IfMissing::kFail);
    ASSERT_FALSE(landtrace_is_err(top));
    EXPECT_EQ(get_array("", IfMissing::kFail), top);
    EXPECT_TRUE(owner.asked().empty());
    EXPECT_EQ(trace_array_destroy(top), -EINVAL);
    EXPECT_EQ(trace_array_get_by_name(nullptr), nullptr);
    EXPECT_EQ(trace_array_get_by_name(""), nullptr);
  });
}

TEST_F(ArrayTest, AnInstanceIsHeldByAnOpenFileUntilItIsPutAsOftenAsItWasGot) {
  with_owner([](FakeOwner& owner) {
    trace_array* const mine = get_array("mine", IfMissing::kFail);
    ASSERT_FALSE(landtrace_is_err(mine));
    const auto opened = owner.asked(Operation::kTreeOpen);
    ASSERT_EQ(opened.size(), 1u);
    EXPECT_EQ(opened[0].text, "instances/mine/tracing_on");
    EXPECT_EQ(get_array("mine", IfMissing::kFail), mine);
    EXPECT_EQ(owner.asked(Operation::kTreeOpen).size(), 1u);
    EXPECT_EQ(owner.connections(), 1);
    trace_array_put(mine);
    EXPECT_EQ(trace_array_destroy(mine), -EBUSY);
    EXPECT_EQ(owner.connections(), 1);
    trace_array_put(mine);
    EXPECT_TRUE(eventually([&] { return owner.connections() == 0; }));
    trace_array_put(mine);  // once too often
    EXPECT_EQ(trace_array_destroy(mine), 0);
    EXPECT_EQ(owner.asked(Operation::kTreeRemoveFolder).back().text, "instances/mine");
    EXPECT_EQ(trace_array_destroy(mine), -ENODEV);
  });
}

TEST_F(ArrayTest, AnInstanceThatIsMissingIsMadeOrAnError) {
  with_owner([](FakeOwner& owner) {
    bool is_there = false;
    owner.answer(Operation::kTreeOpen,
                 [&](const Asked&) { return is_there ? FakeAnswer() : FakeAnswer::error(ENOENT); });
    owner.answer(Operation::kTreeMakeFolder, [&](const Asked&) {
      is_there = true;
      return FakeAnswer::error(EEXIST);  // somebody else was faster
    });
    EXPECT_EQ(landtrace_ptr_err(get_array("mine", IfMissing::kFail)), -ENOENT);
    EXPECT_TRUE(owner.asked(Operation::kTreeMakeFolder).empty());
    EXPECT_NE(trace_array_get_by_name("mine"), nullptr);
    EXPECT_EQ(owner.asked(Operation::kTreeMakeFolder).back().text, "instances/mine");
  });
}

TEST_F(ArrayTest, AnInstanceThatCannotBeMadeIsNone) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kTreeOpen, FakeAnswer::error(ENOENT));
    owner.answer(Operation::kTreeMakeFolder, FakeAnswer::error(ENOSPC));
    EXPECT_EQ(landtrace_ptr_err(get_array("mine", IfMissing::kMake)), -ENOSPC);
    EXPECT_EQ(trace_array_get_by_name("mine"), nullptr);
    owner.answer(Operation::kTreeOpen, FakeAnswer::error(EACCES));
    EXPECT_EQ(landtrace_ptr_err(get_array("mine", IfMissing::kMake)), -EACCES);
    EXPECT_EQ(owner.asked(Operation::kTreeMakeFolder).size(), 2u);
  });
}

TEST_F(ArrayTest, RemovingWhatIsNotThereOrNotOursToRemoveIsAnError) {
  with_owner([](FakeOwner& owner) {
    trace_array* const mine = get_array("mine", IfMissing::kFail);
    trace_array_put(mine);
    owner.answer(Operation::kTreeRemoveFolder, FakeAnswer::error(EBUSY));
    EXPECT_EQ(trace_array_destroy(mine), -EBUSY);
    owner.answer(Operation::kTreeRemoveFolder, FakeAnswer::error(ENOENT));
    EXPECT_EQ(trace_array_destroy(mine), -ENODEV);
    EXPECT_EQ(trace_array_destroy(nullptr), -EINVAL);
    EXPECT_EQ(trace_array_destroy(static_cast<trace_array*>(landtrace_err_ptr(-ENOENT))), -EINVAL);
  });
}

TEST_F(ArrayTest, EventsAreSwitchedByTheirFile) {
  with_owner([](FakeOwner& owner) {
    trace_array* const top = get_array(nullptr, IfMissing::kFail);
    trace_array* const mine = get_array("mine", IfMissing::kFail);
    EXPECT_EQ(trace_array_set_clr_event(top, "sys", "event", true), 0);
    EXPECT_EQ(written(owner), "events/sys/event/enable: 1");
    EXPECT_EQ(trace_array_set_clr_event(mine, "sys", nullptr, false), 0);
    EXPECT_EQ(written(owner), "instances/mine/events/sys/enable: 0");
    const std::size_t asked = owner.asked().size();
    EXPECT_EQ(trace_array_set_clr_event(nullptr, "sys", "event", true), -ENOENT);
    for (const char* const name : {"", ".", "..", "a/b"}) {
      EXPECT_EQ(trace_array_set_clr_event(top, name, "event", true), -EINVAL) << name;
    }
    EXPECT_EQ(trace_array_set_clr_event(top, "sys", "..", true), -EINVAL);
    EXPECT_EQ(trace_array_set_clr_event(top, nullptr, "event", true), -EINVAL);
    EXPECT_EQ(owner.asked().size(), asked);
    owner.answer(Operation::kTreeOpen, FakeAnswer::error(ENOENT));
    EXPECT_EQ(trace_array_set_clr_event(top, "sys", "nosuch", true), -EINVAL);
  });
}

// -- the shared connection --------------------------------------------------------------------------------------------
using DomainFilesTest = TraceEventApiTest;

TEST_F(DomainFilesTest, OneConnectionServesAllCallsAndIsMadeAgainOnce) {
  with_owner([&](FakeOwner& owner) {
    EXPECT_EQ(write_domain_file("a", "1"), 0);
    EXPECT_EQ(make_instance("b"), 0);
    EXPECT_EQ(remove_instance("b"), 0);
    EXPECT_EQ(owner.asked().front().connection, owner.asked().back().connection);
    int calls = 0;
    owner.answer(Operation::kTreeMakeFolder,
                 [&](const Asked&) { return calls++ == 0 ? FakeAnswer::of(Kind::kHangUp) : FakeAnswer(); });
    EXPECT_EQ(make_instance("c"), 0);
    EXPECT_EQ(calls, 2);
    owner.answer(Operation::kTreeMakeFolder, FakeAnswer::of(Kind::kHangUp));
    EXPECT_EQ(make_instance("d"), -EPIPE);
    owner.answer(Operation::kTreeMakeFolder, FakeAnswer::error(EEXIST));
    EXPECT_EQ(make_instance("d"), -EEXIST);
    owner.die();
    EXPECT_EQ(make_instance("e"), -ENOENT);
  });
}

// -- commands ---------------------------------------------------------------------------------------------------------
using CommandTest = TraceEventApiTest;

TEST_F(CommandTest, ASyntheticEventIsMadeByItsDefinition) {
  with_owner([](FakeOwner& owner) {
    synth_field_desc fields[] = {{"u64", "ns"}, {"char[16]", "name"}};
    EXPECT_EQ(synth_event_create("latency", fields, 2, nullptr), 0);
    EXPECT_EQ(written(owner), "synthetic_events:  latency  u64 ns; char[16] name;");
    EXPECT_EQ(synth_event_delete("latency"), 0);
    EXPECT_EQ(written(owner), "synthetic_events: !latency");
    const std::size_t asked = owner.asked().size();
    EXPECT_EQ(synth_event_delete(""), -ENOENT);
    EXPECT_EQ(synth_event_delete(nullptr), -ENOENT);
    EXPECT_EQ(synth_event_create(nullptr, fields, 2, nullptr), -EINVAL);
    EXPECT_EQ(owner.asked().size(), asked);
    owner.answer(Operation::kTreeWrite, FakeAnswer::error(EEXIST));
    EXPECT_EQ(synth_event_create("latency", fields, 2, nullptr), -EEXIST);
  });
}

TEST_F(CommandTest, AnEventHasAsManyFieldsAsThereCanBe) {
  char buffer[8192];
  dynevent_cmd command;
  synth_event_cmd_init(&command, buffer, sizeof buffer);
  std::vector<synth_field_desc> fields(SYNTH_FIELDS_MAX, {"u8", "a"});
  EXPECT_EQ(synth_event_gen_cmd_array_start(&command, "wide", nullptr, fields.data(), SYNTH_FIELDS_MAX), 0);
  EXPECT_EQ(command.n_fields, unsigned{SYNTH_FIELDS_MAX});
  EXPECT_EQ(synth_event_add_field(&command, "u8", "b"), -EINVAL);
  EXPECT_EQ(synth_event_add_field_str(&command, "u8 b"), -EINVAL);
  EXPECT_EQ(synth_event_add_field_str(&command, nullptr), -EINVAL);
  synth_event_cmd_init(&command, buffer, sizeof buffer);
  EXPECT_EQ(synth_event_gen_cmd_array_start(&command, "wide", nullptr, fields.data(), SYNTH_FIELDS_MAX + 1), -EINVAL);
  EXPECT_EQ(command.length, 0);
}

TEST_F(CommandTest, AListOfFieldsEndsWithItsTypes) {
  char buffer[256];
  dynevent_cmd command;
  synth_event_cmd_init(&command, buffer, sizeof buffer);
  EXPECT_EQ(landtrace_synth_event_gen_cmd_start(&command, "e", nullptr, "u8", "a", "u16", "b", nullptr), 0);
  EXPECT_STREQ(buffer, " e  u8 a; u16 b;");
  EXPECT_STREQ(command.event_name, "e");
  synth_event_cmd_init(&command, buffer, sizeof buffer);
  EXPECT_EQ(landtrace_synth_event_gen_cmd_start(&command, "e", nullptr, "u8", nullptr), -EINVAL);
}

TEST_F(CommandTest, ACommandWithoutRoomTakesNothing) {
  char buffer[] = "unchanged";
  dynevent_cmd command;
  dynevent_cmd_init(&command, buffer, -5, DYNEVENT_TYPE_NONE, nullptr);
  EXPECT_EQ(command.maxlen, 0);
  EXPECT_STREQ(buffer, "unchanged");
  EXPECT_EQ(dynevent_str_add(&command, ""), -E2BIG);
  EXPECT_EQ(dynevent_str_add(&command, nullptr), -EINVAL);
  EXPECT_EQ(dynevent_create(&command), -EINVAL);
  dynevent_arg arg;
  dynevent_arg_init(&arg, nullptr, 0);
  EXPECT_EQ(dynevent_arg_add(&command, &arg), -EINVAL);
  dynevent_arg_pair pair;
  dynevent_arg_pair_init(&pair, nullptr, 0, 0);
  pair.rhs = "right";
  EXPECT_EQ(dynevent_arg_pair_add(&command, &pair), -EINVAL);
  pair.lhs = "left";
  pair.rhs = nullptr;
  EXPECT_EQ(dynevent_arg_pair_add(&command, &pair), -EINVAL);
}

TEST_F(CommandTest, AKernelProbeIsMadeByItsCommand) {
  with_owner([](FakeOwner& owner) {
    char buffer[MAX_DYNEVENT_CMD_LEN];
    dynevent_cmd command;
    kprobe_event_cmd_init(&command, buffer, sizeof buffer);
    EXPECT_EQ(kprobe_event_gen_cmd_start(&command, "probe", "do_sys_open", "dfd=%ax"), 0);
    EXPECT_STREQ(command.event_name, "probe");
    EXPECT_EQ(kprobe_event_gen_cmd_end(&command), 0);
    EXPECT_EQ(written(owner), "dynamic_events: p:kprobes/probe do_sys_open  dfd=%ax ");
    EXPECT_EQ(kprobe_event_delete("probe"), 0);
    EXPECT_EQ(written(owner), "dynamic_events: -:kprobes/probe");
    EXPECT_EQ(kprobe_event_delete(nullptr), -ENOENT);
    EXPECT_EQ(landtrace_kprobe_event_gen_cmd_start(&command, false, nullptr, "do_sys_open", nullptr), -EINVAL);
    EXPECT_EQ(landtrace_kprobe_event_gen_cmd_start(&command, false, "probe", nullptr, nullptr), -EINVAL);
  });
}

TEST_F(CommandTest, AKernelProbeHasAHundredAndTwentyEightFieldsAtMost) {
  char buffer[MAX_DYNEVENT_CMD_LEN];
  dynevent_cmd command;
  kprobe_event_cmd_init(&command, buffer, sizeof buffer);
  ASSERT_EQ(landtrace_kprobe_event_gen_cmd_start(&command, true, "p", "f", nullptr), 0);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(kprobe_event_add_field(&command, "%ax"), 0) << i;
  EXPECT_EQ(kprobe_event_add_field(&command, "%ax"), -EINVAL);
  EXPECT_EQ(command.n_fields, 128u);
  command.type = DYNEVENT_TYPE_SYNTH;
  EXPECT_EQ(landtrace_kprobe_event_gen_cmd_start(&command, true, "p", "f", nullptr), -EINVAL);
}

// -- an event in an instance ------------------------------------------------------------------------------------------
class EventFileTest : public TraceEventApiTest {
 protected:
  // kEventLayout: the lines, each ended by a NUL.
  static void answer_layout(FakeOwner& owner, const std::vector<std::string>& lines, bool is_synthetic = true) {
    FakeAnswer answer = FakeAnswer::number(is_synthetic ? 1 : 0, kInstance);
    for (const std::string& line : lines) answer.text += line + '\0';
    owner.answer(Operation::kEventLayout, answer);
  }
  static trace_event_file* get() { return trace_get_event_file("mine", "synthetic", "job"); }
  static long error() {
    trace_event_file* const file = get();
    if (landtrace_is_err(file)) return landtrace_ptr_err(file);
    trace_put_event_file(file);
    return 0;
  }
  // Listened to in the file's instance alone.
  static void listen(FakeOwner& owner) {
    owner.domain().publish(kSlot, {owner.domain().record(0), owner.domain().record(kInstance)});
  }
  static std::vector<std::string> payloads(FakeOwner& owner) {
    EXPECT_TRUE(owner.domain().records(0).empty());
    std::vector<std::string> all;
    for (const plan::TestRecord& record : owner.domain().records(kInstance)) all.push_back(record.payload);
    return all;
  }
  static landtrace_u64 text(const char* at) { return reinterpret_cast<landtrace_u64>(at); }
};

TEST_F(EventFileTest, TheEventIsHeldInItsInstanceUntilItIsPut) {
  with_owner([](FakeOwner& owner) {
    answer_layout(owner, {"0 8 n id"});
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    EXPECT_EQ(owner.asked(Operation::kEventLayout).back().text, std::string("synthetic\0job\0mine\0", 19));
    EXPECT_EQ(owner.asked(Operation::kHoldEvent).back().text, std::string("synthetic\0job\0", 14));
    EXPECT_EQ(file->tr->name, "mine");
    trace_array* const mine = file->tr;
    EXPECT_EQ(trace_array_destroy(mine), -EBUSY);
    trace_put_event_file(file);
    EXPECT_EQ(owner.asked(Operation::kReleaseNative).back().request.a, kSlot);
    EXPECT_EQ(trace_array_destroy(mine), 0);
    trace_put_event_file(nullptr);
    trace_put_event_file(static_cast<trace_event_file*>(landtrace_err_ptr(-EINVAL)));
  });
}

TEST_F(EventFileTest, WhatIsNotThereIsAnErrorAndHoldsNothing) {
  with_owner([](FakeOwner& owner) {
    EXPECT_EQ(landtrace_ptr_err(trace_get_event_file(nullptr, nullptr, "job")), -EINVAL);
    EXPECT_EQ(landtrace_ptr_err(trace_get_event_file(nullptr, "synthetic", nullptr)), -EINVAL);
    owner.answer(Operation::kEventLayout, FakeAnswer::error(ENOENT));
    EXPECT_EQ(error(), -EINVAL);
    owner.answer(Operation::kEventLayout, FakeAnswer::error(EPERM));
    EXPECT_EQ(error(), -EPERM);
    answer_layout(owner, {"0 8 n id"});
    owner.answer(Operation::kHoldEvent, FakeAnswer::error(ENOSPC));
    EXPECT_EQ(error(), -ENOSPC);
    trace_array* const mine = get_array("mine", IfMissing::kFail);
    trace_array_put(mine);
    EXPECT_EQ(trace_array_destroy(mine), 0);
    owner.answer(Operation::kTreeOpen, FakeAnswer::error(ENOENT));
    EXPECT_EQ(error(), -ENOENT);
  });
}

TEST_F(EventFileTest, ALayoutThatIsNoneIsABrokenAnswer) {
  with_owner([](FakeOwner& owner) {
    for (const char* const bad : {"", "0", "0 8", "0 8 n", "0 8 n ", "x 8 n id", "0 x n id", "0 8 nn id", "-1 8 n id",
                                  "0 65537 n id", "65537 8 n id", "99999999999 8 n id"}) {
      answer_layout(owner, {"0 8 n first", bad});
      EXPECT_EQ(error(), -EPROTO) << bad;
    }
    answer_layout(owner, {"0 65536 t text"});
    EXPECT_EQ(error(), 0);
    answer_layout(owner, {});
    EXPECT_EQ(error(), 0);
  });
}

TEST_F(EventFileTest, AnEventOfAProgramsOwnCannotBeTraced) {
  with_owner([](FakeOwner& owner) {
    answer_layout(owner, {"0 8 n id"}, /*is_synthetic=*/false);
    listen(owner);
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    const landtrace_u64 value = 1;
    EXPECT_EQ(synth_event_trace_array(file, &value, 1), -EINVAL);
    synth_event_trace_state state;
    EXPECT_EQ(synth_event_trace_start(file, &state), -EINVAL);
    EXPECT_EQ(synth_event_add_next_val(1, &state), -EINVAL);
    EXPECT_EQ(synth_event_add_val("id", 1, &state), -EINVAL);
    EXPECT_EQ(synth_event_trace_end(&state), -EINVAL);
    EXPECT_EQ(synth_event_trace_array(nullptr, &value, 1), -EINVAL);
  });
}

TEST_F(EventFileTest, ValuesStandWhereTheLayoutSays) {
  with_owner([](FakeOwner& owner) {
    answer_layout(owner, {"0 8 n id", "8 4 n small", "16 6 t name"});
    listen(owner);
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    const landtrace_u64 values[] = {0x1111, 0x2222'3333'4444'5555, text("a long name")};
    EXPECT_EQ(synth_event_trace_array(file, values, 3), 0);
    const std::string expected = plan::bytes_of(std::uint64_t{0x1111}, 0x4444'5555, 0) + std::string("a lon\0\0\0", 8);
    EXPECT_EQ(payloads(owner), std::vector<std::string>{expected});
    EXPECT_EQ(synth_event_trace_array(file, values, 2), -EINVAL);
    EXPECT_EQ(landtrace_synth_event_trace(file, 3, values, 2), -EINVAL);
    EXPECT_EQ(landtrace_synth_event_trace(file, 3, values, 3), 0);
    const landtrace_u64 no_text[] = {1, 2, 0};
    EXPECT_EQ(synth_event_trace_array(file, no_text, 3), -EINVAL);
    EXPECT_EQ(payloads(owner).size(), 2u);
  });
}

TEST_F(EventFileTest, DynamicFieldsFollowWhatHasAFixedPlace) {
  with_owner([](FakeOwner& owner) {
    answer_layout(owner, {"0 4 d text", "4 4 s stack"});
    listen(owner);
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    const landtrace_u64 words[] = {0x10, 0x20, 0};
    const landtrace_u64 values[] = {text("abc"), reinterpret_cast<landtrace_u64>(words)};
    EXPECT_EQ(synth_event_trace_array(file, values, 2), 0);
    const std::uint32_t text_at = 4u << 16 | (8 + 8);
    const std::uint32_t stack_at = 16u << 16 | (8 + 8 + 4);
    EXPECT_EQ(payloads(owner), std::vector<std::string>{plan::bytes_of(text_at, stack_at) + std::string("abc\0", 4) +
                                                        plan::bytes_of(words[0], words[1])});
    const landtrace_u64 nothing[] = {0, reinterpret_cast<landtrace_u64>(words)};
    EXPECT_EQ(synth_event_trace_array(file, nothing, 2), -EINVAL);
    const landtrace_u64 no_stack[] = {text("abc"), 0};
    EXPECT_EQ(synth_event_trace_array(file, no_stack, 2), -EINVAL);
    synth_event_trace_state state;
    EXPECT_EQ(synth_event_trace_start(file, &state), -EINVAL);
  });
}

TEST_F(EventFileTest, AStackHasSixteenWordsAtMost) {
  with_owner([](FakeOwner& owner) {
    answer_layout(owner, {"0 4 s stack"});
    listen(owner);
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    const std::vector<landtrace_u64> words(20, 7);
    const landtrace_u64 value = reinterpret_cast<landtrace_u64>(words.data());
    EXPECT_EQ(synth_event_trace_array(file, &value, 1), 0);
    EXPECT_EQ(payloads(owner)[0].size(), 8u + 16 * 8);
  });
}

TEST_F(EventFileTest, AnEntryHasAsManyDynamicFieldsAndBytesAsItCan) {
  with_owner([](FakeOwner& owner) {
    std::vector<std::string> lines;
    for (int i = 0; i < 64; ++i) lines.push_back(std::to_string(4 * i) + " 4 d text");
    answer_layout(owner, lines);
    listen(owner);
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    std::vector<landtrace_u64> values(64, text("x"));
    EXPECT_EQ(synth_event_trace_array(file, values.data(), 64), -E2BIG);
    lines.pop_back();
    answer_layout(owner, lines);
    trace_event_file* const fewer = get();
    EXPECT_EQ(synth_event_trace_array(fewer, values.data(), 63), 0);
    // 63 locations, 62 texts of one character, and the common header.
    const std::size_t room = 0xffff - 8 - 256 - 62 * 2;
    const std::string longest(room - 1, 'y');
    values[62] = text(longest.c_str());
    EXPECT_EQ(synth_event_trace_array(fewer, values.data(), 63), 0);
    const std::string too_long(room, 'y');
    values[62] = text(too_long.c_str());
    EXPECT_EQ(synth_event_trace_array(fewer, values.data(), 63), -E2BIG);
    EXPECT_EQ(payloads(owner).size(), 2u);
  });
}

TEST_F(EventFileTest, PiecesArePutTogetherInOrderOrByName) {
  with_owner([](FakeOwner& owner) {
    answer_layout(owner, {"0 8 n id", "8 8 t name"});
    listen(owner);
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    synth_event_trace_state state;
    ASSERT_EQ(synth_event_trace_start(file, &state), 0);
    EXPECT_EQ(synth_event_add_val(nullptr, 1, &state), -EINVAL);
    EXPECT_EQ(synth_event_add_next_val(5, &state), 0);
    EXPECT_EQ(synth_event_add_next_val(0, &state), -EINVAL);  // no text
    EXPECT_EQ(synth_event_add_next_val(1, &state), -EINVAL);
    EXPECT_EQ(synth_event_add_val("name", text("late"), &state), -EINVAL);
    EXPECT_EQ(synth_event_trace_end(&state), 0);
    ASSERT_EQ(synth_event_trace_start(file, &state), 0);
    EXPECT_EQ(synth_event_add_val("name", text("text"), &state), 0);
    EXPECT_EQ(synth_event_add_val("nosuch", 1, &state), -EINVAL);
    EXPECT_EQ(synth_event_add_next_val(1, &state), -EINVAL);
    EXPECT_EQ(synth_event_trace_end(&state), 0);
    EXPECT_EQ(payloads(owner), (std::vector<std::string>{plan::bytes_of(std::uint64_t{5}) + std::string(8, '\0'),
                                                         std::string(8, '\0') + std::string("text\0\0\0\0", 8)}));
  });
}

TEST_F(EventFileTest, ALargeEntryHasMemoryOfItsOwn) {
  with_owner([](FakeOwner& owner) {
    const std::string size = std::to_string(LANDTRACE_SYNTH_ROOM + 8);
    answer_layout(owner, {"0 " + size + " t text"});
    listen(owner);
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    const std::string content(LANDTRACE_SYNTH_ROOM, 'z');
    synth_event_trace_state state;
    ASSERT_EQ(synth_event_trace_start(file, &state), 0);
    EXPECT_NE(state.entry, reinterpret_cast<unsigned char*>(state.room));
    EXPECT_EQ(synth_event_add_next_val(text(content.c_str()), &state), 0);
    EXPECT_EQ(synth_event_trace_end(&state), 0);
    const landtrace_u64 value = text(content.c_str());
    EXPECT_EQ(synth_event_trace_array(file, &value, 1), 0);
    EXPECT_EQ(payloads(owner), std::vector<std::string>(2, content + std::string(8, '\0')));
    answer_layout(owner, {"0 " + std::to_string(SYNTH_FIELDS_MAX * 256 + 8) + " t text"});
    EXPECT_EQ(synth_event_trace_array(get(), &value, 1), -E2BIG);
  });
}

TEST_F(EventFileTest, WhatNobodyListensToIsNoError) {
  with_owner([&](FakeOwner& owner) {
    answer_layout(owner, {"0 8 n id", "8 8 t name"});
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    const landtrace_u64 unheard[] = {1, 0};
    EXPECT_EQ(synth_event_trace_array(file, unheard, 2), 0);  // not looked at
    EXPECT_EQ(synth_event_trace_array(file, unheard, 1), -EINVAL);
    synth_event_trace_state state;
    ASSERT_EQ(synth_event_trace_start(file, &state), 0);
    listen(owner);
    EXPECT_EQ(synth_event_add_next_val(1, &state), 0);
    EXPECT_EQ(synth_event_add_next_val(0, &state), 0);
    EXPECT_EQ(synth_event_trace_end(&state), 0);  // it was decided at its start
    EXPECT_TRUE(payloads(owner).empty());
    ASSERT_EQ(synth_event_trace_start(file, &state), 0);
    owner.domain().control().events[kSlot].plan = 0;
    EXPECT_EQ(synth_event_trace_end(&state), 0);  // switched off meanwhile
  });
}

// An index of an instance means something to the owner that gave it alone.
TEST_F(EventFileTest, AnotherOwnersInstanceIsNotTheFiles) {
  in_child([&] {
    ::setenv("LANDTRACE_HELPER", "0", 1);
    std::optional<FakeOwner> first(path());
    answer_layout(*first, {"0 8 n id"});
    trace_event_file* const file = get();
    ASSERT_FALSE(landtrace_is_err(file));
    first->die();
    FakeOwner second(path());
    listen(second);
    EXPECT_EQ(landtrace_attach(), 1);
    const landtrace_u64 value = 1;
    EXPECT_EQ(synth_event_trace_array(file, &value, 1), 0);
    EXPECT_TRUE(payloads(second).empty());
  });
}

TEST_F(EventFileTest, TheCpuIsOneOfTheMachines) {
  EXPECT_LT(landtrace_this_cpu(), static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_CONF)));
}

}  // namespace
}  // namespace landtrace::client
