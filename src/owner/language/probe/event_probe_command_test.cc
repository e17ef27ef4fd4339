#include "language/probe/event_probe_command.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "event/print.hpp"

namespace landtrace::language {
namespace {

const event::Declaration& base() {
  static const event::Declaration declaration = *event::parse_declaration("e1 u32 n;u64 v;char[8] s");
  return declaration;
}

std::string probe_answer(std::string_view line) {
  ProbeRefusal refusal;
  if (const auto command = EventProbeCommand::split(line)) {
    const auto arguments = command->arguments(base());
    if (arguments) return event_probe_text(*command, *arguments);
    refusal = arguments.error();
  } else {
    refusal = command.error();
  }
  std::string text = refusal.code == EINVAL ? "" : std::to_string(refusal.code) + " ";
  for (const CommandRefusal& each : refusal.logged)
    text += std::string(each.what) + " @" + std::to_string(each.position) + ";";
  return text;
}
// Of one argument, with positions that count from it.
std::string argument(const std::string& text) {
  std::string all = probe_answer("e a.b " + text);
  const auto at = all.find("@");
  if (at == std::string::npos) return all;
  return all.substr(0, at + 1) + std::to_string(std::stoi(all.substr(at + 1)) - 6);
}

std::string format_of(const std::string& arguments) {
  const std::string text = "e:p user_events.e1 " + arguments;
  const auto command = EventProbeCommand::split(text);
  return event::print_format(declare_event_probe(*command, *command->arguments(base())));
}

TEST(EventProbeCommand, NamesAndWhatTheyStandFor) {
  EXPECT_EQ(probe_answer("e a.b"), "e:eprobes/b a.b");
  EXPECT_EQ(probe_answer("e:g/ a/b"), "e:g/b a.b");
  EXPECT_EQ(probe_answer("e:g.n a/b"), "e:g/n a.b");
  EXPECT_EQ(probe_answer("e:n a-c.b x=$n if n == 1"), "e:eprobes/n a-c.b x=$n");
  EXPECT_EQ(probe_answer("e: a.b"), "Event name is not specified @2;");
  EXPECT_EQ(probe_answer("e:/n a.b"), "Group name is not specified @2;");
  EXPECT_EQ(probe_answer("e:g/1 a.b"), "Event name must follow the same rules as C identifiers @4;");
  EXPECT_EQ(probe_answer("e:1/n a.b"), "Group name must follow the same rules as C identifiers @2;");
  EXPECT_EQ(probe_answer("e:n a.1"),
            "Event name must follow the same rules as C identifiers @6;"
            "This requires both group and event name to attach @4;");
  EXPECT_EQ(probe_answer("e:n b"), "This requires both group and event name to attach @4;");
  EXPECT_EQ(probe_answer("e:" + std::string(64, 'n') + " a.b"), "Event name is too long @2;");
  EXPECT_EQ(probe_answer("e:" + std::string(64, 'g') + "/n a.b"), "Group name is too long @2;");
}

TEST(EventProbeCommand, AnIfWithoutAFilterIsComplainedAboutBehindIt) {
  const auto command = EventProbeCommand::split("e:g/n a.b n=$n if");
  ASSERT_TRUE(command);
  ASSERT_TRUE(command->lacks_filter());
  EXPECT_EQ(command->no_filter().logged[0].what, "No filter rule after 'if'");
  EXPECT_EQ(command->no_filter().logged[0].position, 18u);
  EXPECT_FALSE(EventProbeCommand::split("e:g/n a.b n=$n if n == 1")->lacks_filter());
  EXPECT_FALSE(EventProbeCommand::split("e:g/n a.b n=$n")->lacks_filter());
  EXPECT_FALSE(EventProbeCommand::split("e:g/n a.b")->lacks_filter());
}

TEST(EventProbeCommand, ArgumentsThatAreRefusedSayWhere) {
  EXPECT_EQ(argument("=$n"), "Argument name is not specified @0");
  EXPECT_EQ(argument("1=$n"), "Argument name must follow the same rules as C identifiers @0");
  EXPECT_EQ(argument("common_pid=$n"), "This argument name is already used @0");
  EXPECT_EQ(argument(std::string(33, 'a') + "=$n"), "Argument name is too long @0");
  EXPECT_EQ(argument("a="), "No argument expression @2");
  EXPECT_EQ(argument("a=$x"), "Invalid $-valiable specified @2");
  EXPECT_EQ(argument("a=n"), "BTF is not available or not supported @2");
  EXPECT_EQ(argument("a=%di"), "Invalid $-valiable specified @2");
  EXPECT_EQ(argument("a=!"), "Invalid fetch argument @2");
  EXPECT_EQ(argument("a=$n:foo"), "Unknown type is specified @5");
  EXPECT_EQ(argument("a=$n:u8[4]"), "String accepts only memory argument @5");
  EXPECT_EQ(argument("a=+0($n):u8[4"), "Array is not closed @13");
  EXPECT_EQ(argument("a=+0($n):u8[4]x"), "Array has wrong suffix @14");
  EXPECT_EQ(argument("a=+0($n):u8[0]"), "Invalid array size @12");
  EXPECT_EQ(argument("a=+0($n):u8[65]"), "Array number is too big @12");
  EXPECT_EQ(argument("a=+0"), "Dereference needs a brace @2");
  EXPECT_EQ(argument("a=+x($n)"), "Invalid dereference offset @2");
  EXPECT_EQ(argument("a=+0($n"), "Dereference brace is not closed @7");
  EXPECT_EQ(argument("a=+0($comm)"), "$comm can not be dereferenced @5");
  EXPECT_EQ(argument("a=\\x"), "Invalid immediate value @3");
  EXPECT_EQ(argument("a=\\\"x"), "String is not closed with '\"' @5");
  EXPECT_EQ(argument("a=$n:b9@0/8"), "Invalid bitfield @5");
  EXPECT_EQ(argument("a=$n:b0@0/8"), "Invalid bitfield @5");
  EXPECT_EQ(argument("a=@+4"), "File offset is not available with kprobe @2");
  EXPECT_EQ(argument("a=@jiffies"), "2 ");
  EXPECT_EQ(argument("a=$" + std::string(64, 'n')), "7 Argument expression is too long @2");
  std::string deep = "$n";
  for (int i = 0; i < 14; ++i) deep = "+0(" + deep + ")";
  EXPECT_EQ(argument("a=" + deep), "e:eprobes/b a.b a=" + deep);
  EXPECT_EQ(argument("a=+0(" + deep + ")").substr(0, 30), "Dereference is too much nested");
}

TEST(EventProbeCommand, NamesOfArgumentsThatHaveNone) {
  EXPECT_EQ(probe_answer("e a.b $n +0($v):string"), "e:eprobes/b a.b arg1=$n arg2=+0($v):string");
}

TEST(EventProbeCommand, FormatsOfTypes) {
  EXPECT_EQ(format_of("n=$n"), "\" n=0x%Lx\", REC->n");
  EXPECT_EQ(format_of("a=$n:s64 b=$n:x8 c=$n:char d=$n:symbol e=$n:u64"),
            "\" a=%Ld b=0x%x c='%c' d=%pS e=%Lu\", REC->a, REC->b, REC->c, REC->d, REC->e");
  EXPECT_EQ(format_of("s=$s:string"), "\" s=\\\"%s\\\"\", __get_str(s)");
  EXPECT_EQ(format_of("s=+0($v):u8[2]"), "\" s={%u,%u}\", REC->s[0], REC->s[1]");
  EXPECT_EQ(format_of("b=$n:b3@1/32"), "\" b=%u\", REC->b");
}

TEST(EventProbeCommand, ReadsBackWhatItShows) {
  const auto command =
      EventProbeCommand::split("e:p user_events.e1 n=$n s=$s:string a=+0($v):x16[3] c=$n:char t=+0($v):string[2]");
  const event::Declaration declared = declare_event_probe(*command, *command->arguments(base()));
  const auto again = event::parse_declared("p", event::fields_text(declared), event::flavour_text(declared));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, declared);
  const auto parsed = event::parse_format(event::format_text(declared, "p", 7), "eprobes");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(event::fields_text(parsed->declaration), event::fields_text(declared));
  EXPECT_EQ(event::print_format(parsed->declaration), event::print_format(declared));
}

TEST(EventProbeCommand, PrintsAsTheKernelDoes) {
  const auto declared =
      *event::parse_declared("p", "s8 a; x32 b; char c; string s; u16[2] v; string f", "probe user_events.e1");
  std::string payload("\xff\x10\0\0\0x\0\0\0\0\1\0\2\0\0\0\0\0", 18);
  ASSERT_EQ(payload.size(), declared.min_size);
  const std::uint32_t location = 3u << 16 | static_cast<std::uint32_t>(payload.size() + abi::kEntryHeaderSize);
  std::memcpy(payload.data() + 6, &location, sizeof location);
  payload.append("hi", 3);
  std::string text;
  event::print_fields(text, declared, std::as_bytes(std::span(payload)));
  EXPECT_EQ(text, " (user_events.e1) a=-1 b=0x10 c='x' s=\"hi\" v={1,2} f=(fault)");
}

}  // namespace
}  // namespace landtrace::language
