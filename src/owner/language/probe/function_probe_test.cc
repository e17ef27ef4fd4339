#include "language/probe/function_probe.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "event/print.hpp"

namespace landtrace::language {
namespace {

// A system with /bin/app, which has functions run (64 bytes, at 0x1000) and ns::go, and a library libm.so.6 with sin.
class TestObjects final : public ProbedObjects {
 public:
  int check_file(std::string_view path) override {
    if (path == "/secret") return EACCES;
    if (path == "/bin") return EINVAL;
    return path == "/bin/app" || path == "./app" ? 0 : ENOENT;
  }
  bool has_function(std::string_view path, std::string_view symbol, std::int64_t offset) override {
    if (path == "libm.so.6") return symbol == "sin" && offset < 64;
    return path == "/bin/app" && (symbol == "run" || symbol == "ns::go") && offset < 64;
  }
  int find_usdt(std::string_view path, std::string_view provider, std::string_view name,
                std::vector<UsdtPlace>& places) override {
    if (path == "/secret") return EACCES;
    if (path != "/bin/app" || provider != "app") return ENOENT;
    if (name == "one") places = {{0x10, 0, parse_usdt_operands("-4@%edi 8@-24(%rbp) 8f@%xmm0 2@$7")}};
    if (name == "two")
      places = {{0x20, 8, parse_usdt_operands("-4@%edi")}, {0x30, 4, parse_usdt_operands("8@%rax 1@%al")}};
    return places.empty() ? ENOENT : 0;
  }
  Answer look_up(std::string_view module, std::string_view symbol) override {
    if (module != "libm") return Answer::kNoModule;
    return symbol == "sin" ? Answer::kFunction : Answer::kNoFunction;
  }
};

// The line that is shown, or the errno and what is logged.
std::string probe_line(ProbeFamily family, const std::string& line) {
  TestObjects objects;
  const auto probe = FunctionProbeCommand(family, line).parse(objects);
  if (probe) return function_probe_text(*probe);
  std::string text = std::to_string(probe.error().code);
  for (const CommandRefusal& each : probe.error().logged) {
    text += " " + std::string(each.what) + " @" + std::to_string(each.position);
  }
  return text;
}
std::string uprobe(const std::string& line) { return probe_line(ProbeFamily::kUprobe, line); }
std::string kprobe(const std::string& line) { return probe_line(ProbeFamily::kKprobe, line); }

FunctionProbe parsed_probe(ProbeFamily family, const std::string& line) {
  TestObjects objects;
  const auto probe = FunctionProbeCommand(family, line).parse(objects);
  EXPECT_TRUE(probe) << line;
  return probe ? *probe : FunctionProbe();
}
Fetch fetch_of(const std::string& argument, ProbeFamily family = ProbeFamily::kUprobe, const char* kind = "p") {
  const std::string place = family == ProbeFamily::kUprobe ? "/bin/app:0x10" : "m:f";
  return parsed_probe(family, std::string(kind) + ":g/e " + place + " a=" + argument).arguments[0].fetch;
}

constexpr const char* kOffset10 = "/bin/app:0x0000000000000010";

TEST(FunctionProbe, NamesAndWhatTheyAreWithoutOne) {
  EXPECT_EQ(uprobe("p:g/e /bin/app:0x10"), std::string("p:g/e ") + kOffset10);
  EXPECT_EQ(uprobe("p:g.e /bin/app:16"), std::string("p:g/e ") + kOffset10);
  EXPECT_EQ(uprobe("p:e /bin/app:020"), std::string("p:uprobes/e ") + kOffset10);
  EXPECT_EQ(uprobe("r /bin/app:0x10"), std::string("r:uprobes/p_app_0x10 ") + kOffset10);
  EXPECT_EQ(uprobe("p10:g/e /bin/app:0x10"), std::string("p:uprobes/p_app_0x10 ") + kOffset10);
  EXPECT_EQ(uprobe("p:g/ /bin/app:0x10"), std::string("p:g/p_app_0x10 ") + kOffset10);
  EXPECT_EQ(kprobe("p m.x:f.g+8"), "p:kprobes/p_m_x_f_g_8 m.x:f.g+8");
  EXPECT_EQ(kprobe("p:g/ m:f%return"), "r:g/r_m_f_0 m:f");
  EXPECT_EQ(uprobe("p:/e /bin/app:0x10"), "22 Group name is not specified @2");
  EXPECT_EQ(uprobe("p:g/e-x /bin/app:0x10"), "22 Event name must follow the same rules as C identifiers @4");
  EXPECT_EQ(kprobe("r8:/e m:f"), "22 Group name is not specified @3");
}

TEST(FunctionProbe, APlaceIsAnOffsetInAFile) {
  EXPECT_EQ(uprobe("p:e /bin/app:0x10(0x20)"), std::string("p:uprobes/e ") + kOffset10 + "(0x20)");
  EXPECT_EQ(uprobe("p:e /bin/app:0x10%return(0x20)"), std::string("r:uprobes/e ") + kOffset10 + "(0x20)");
  EXPECT_EQ(uprobe("p:e /bin/app:0x10(0x20)%return"), "22 Reference counter has wrong suffix @23");
  EXPECT_EQ(uprobe("p:e /bin/app:0x10("), "22 Reference counter brace is not closed @18");
  EXPECT_EQ(uprobe("p:e /bin/app:0x10()"), "22 Invalid reference counter offset @18");
  EXPECT_EQ(uprobe("p:e /bin/app:0x10%retur"), "22 Invalid probed address suffix @17");
  EXPECT_EQ(uprobe("p:e /bin/app:08"), "22 Invalid uprobe offset @13");
  EXPECT_EQ(uprobe("p:e /bin/app:0x10000000000000000"), "34 Invalid uprobe offset @13");
  EXPECT_EQ(uprobe("p:e /none:0x10"), "2 Failed to find the given file @4");
  EXPECT_EQ(uprobe("p:e /secret:0x10"), "13 Failed to find the given file @4");
  EXPECT_EQ(uprobe("p:e /bin:0x10"), "22 Not a regular file @4");
  // The file comes before the name.
  EXPECT_EQ(uprobe("p:1 /none:0x10"), "2 Failed to find the given file @4");
}

TEST(FunctionProbe, WhatIsNoneOfTheFamilysIsRefusedWithoutAWord) {
  for (const char* const line : {"p", "p:e", "q:e /bin/app:0x10", "e:e /bin/app:0x10", "p:e /bin/app", "p:e app:0x10",
                                 "p:e /bin/app:-1", "p:e /bin/app:", "p:e /bin/app:nosuch", "p:e /bin/app:run+64",
                                 "p:e /bin/app:(0x10", "p:e /bin/app:=", "p:e /bin/app:)(1",
                                 "p:e /bin/app:%return", "p:e /bin/app:0x10%di:s32"}) {
    EXPECT_EQ(uprobe(line), "125") << line;
  }
  for (const char* const line : {"p", "q:e m:f", "p:e /bin/app:0x10", "r:e /m:f"})
    EXPECT_EQ(kprobe(line), "125") << line;
}

TEST(FunctionProbe, APlaceCanBeNamedByItsFunction) {
  EXPECT_EQ(uprobe("p:e /bin/app:run"), "p:uprobes/e /bin/app:run");
  EXPECT_EQ(uprobe("r /bin/app:run+0x10(0x8)"), "r:uprobes/r_app_run_16 /bin/app:run+16(0x8)");
  EXPECT_EQ(uprobe("p /bin/app:ns::go"), "p:uprobes/p_app_ns__go /bin/app:ns::go");
  EXPECT_EQ(uprobe("p libm.so.6:sin%return"), "r:uprobes/r_libm_sin libm.so.6:sin");
}

TEST(FunctionProbe, TheArgumentsOfAFunctionAreKnownAtItsBeginning) {
  EXPECT_EQ(uprobe("p:e /bin/app:run a=$arg1 $arg2"), "p:uprobes/e /bin/app:run a=$arg1 arg2=$arg2");
  const std::string elsewhere = "22 $arg* can be used only on function entry or exit @";
  EXPECT_EQ(uprobe("p:e /bin/app:0x10 a=$arg1"), elsewhere + "20");
  EXPECT_EQ(uprobe("p:e /bin/app:run+4 a=$arg1"), elsewhere + "21");
  EXPECT_EQ(kprobe("p:e libm:sin a=$arg1"), "p:kprobes/e libm:sin a=$arg1");
  EXPECT_EQ(kprobe("p:e m:f a=$arg1"), elsewhere + "10");
  EXPECT_EQ(kprobe("p:e m:f %di $arg1"), elsewhere + "12");
  EXPECT_EQ(kprobe("r:e m:f a=$arg1"), "r:kprobes/e m:f a=$arg1");
  const Fetch seventh = parsed_probe(ProbeFamily::kUprobe, "p:e /bin/app:run a=$arg7").arguments[0].fetch;
  EXPECT_EQ(seventh.source, Fetch::Source::kArgument);
  EXPECT_EQ(seventh.number, 6u);
}

TEST(FunctionProbe, AReturnKnowsHowLongItsCallTook) {
  EXPECT_EQ(uprobe("r:e /bin/app:run ns=$elapsed:u64"), "r:uprobes/e /bin/app:run ns=$elapsed:u64");
  EXPECT_EQ(parsed_probe(ProbeFamily::kUprobe, "r:e /bin/app:run $elapsed").arguments[0].fetch.source,
            Fetch::Source::kElapsed);
  EXPECT_EQ(uprobe("p:e /bin/app:run ns=$elapsed"), uprobe("p:e /bin/app:run ns=$nothing"));
  EXPECT_EQ(uprobe("r:e /bin/app:run ns=$elapsedd"), uprobe("r:e /bin/app:run ns=$nothinggg"));
}

TEST(FunctionProbe, AModuleThatIsNotThereIsWaitedForAndAnotherIsLookedInto) {
  EXPECT_EQ(kprobe("p:e m:f"), "p:kprobes/e m:f");
  EXPECT_EQ(kprobe("p:e m:"), "p:kprobes/e m:");
  EXPECT_EQ(kprobe("p:e :f"), "p:kprobes/e :f");
  EXPECT_EQ(kprobe("p:e libm:sin"), "p:kprobes/e libm:sin");
  EXPECT_EQ(kprobe("p:e libm:nosuch"), "22 Invalid probed address or symbol @4");
  EXPECT_EQ(kprobe("p:e nosuch"), "22 Invalid probed address or symbol @4");
  EXPECT_EQ(kprobe("p:e m:f-1"), "22 Invalid probed address or symbol @4");
  EXPECT_EQ(kprobe("p:e m:f%x"), "22 Invalid probed address suffix @7");
  EXPECT_EQ(kprobe("r:e libm:sin+4"), "22 Return probe must be a function entry @4");
  EXPECT_EQ(kprobe("r:e m:f+4"), "r:kprobes/e m:f+4");
}

TEST(FunctionProbe, HowManyReturnsMayBePending) {
  EXPECT_EQ(kprobe("r10:e m:f"), "r10:kprobes/e m:f");
  EXPECT_EQ(kprobe("r4096 m:f"), "r4096:kprobes/r_m_f_0 m:f");
  EXPECT_EQ(kprobe("r4097:e m:f"), "22 Maxactive is too big @1");
  EXPECT_EQ(kprobe("r0:e m:f"), "22 Invalid maxactive number @1");
  EXPECT_EQ(kprobe("r1x:e m:f"), "22 Invalid maxactive number @1");
  EXPECT_EQ(kprobe("p1:e m:f"), "22 Maxactive is only for function exit @1");
  EXPECT_EQ(kprobe("r1:e /bin/app:0x10"), "125");
}

TEST(FunctionProbe, WhereValuesComeFrom) {
  EXPECT_EQ(fetch_of("%r15").reg, agent::kR15);
  EXPECT_EQ(fetch_of("%di").reg, agent::kRdi);
  EXPECT_EQ(fetch_of("%flags").reg, agent::kRflags);
  EXPECT_EQ(fetch_of("%cs").source, Fetch::Source::kNumber);
  EXPECT_EQ(fetch_of("$stack").reg, agent::kRsp);
  EXPECT_EQ(fetch_of("$stack010").source, Fetch::Source::kStackWord);
  EXPECT_EQ(fetch_of("$stack010").number, 10u);
  EXPECT_EQ(fetch_of("$retval", ProbeFamily::kUprobe, "r").reg, agent::kRax);
  const Fetch file = fetch_of("@+0x20:u32");
  EXPECT_EQ(file.source, Fetch::Source::kFileOffset);
  EXPECT_EQ(file.number, 0x20u);
  EXPECT_EQ(file.store, Fetch::Store::kMemory);
  const Fetch symbol = fetch_of("@counter+8:string", ProbeFamily::kKprobe);
  EXPECT_EQ(symbol.source, Fetch::Source::kSymbol);
  EXPECT_EQ(symbol.text, "counter+8");
  EXPECT_EQ(symbol.store, Fetch::Store::kText);
  const Fetch deep = fetch_of("+8(-0x10(%sp)):b4@2/16");
  EXPECT_EQ(deep.reg, agent::kRsp);
  EXPECT_EQ(deep.steps, std::vector<std::int64_t>{-16});
  EXPECT_EQ(deep.store_offset, 8);
  EXPECT_EQ(deep.bits, 4);
  EXPECT_EQ(deep.first_bit, 2);
}

// With positions that count from the argument.
std::string refused_argument(const std::string& argument, ProbeFamily family = ProbeFamily::kUprobe) {
  const std::string front = family == ProbeFamily::kUprobe ? "p:e /bin/app:0x10 " : "p:e m:f ";
  const std::string text = probe_line(family, front + argument);
  const auto at = text.find('@');
  if (at == std::string::npos) return text.starts_with('p') ? "taken" : text;
  return text.substr(0, at + 1) + std::to_string(std::stoul(text.substr(at + 1)) - front.size());
}

TEST(FunctionProbe, ArgumentsThatAKindOfProbeCannotHave) {
  constexpr auto kKprobe = ProbeFamily::kKprobe;
  EXPECT_EQ(refused_argument("a=%rdi"), "22 Invalid register name @2");
  EXPECT_EQ(refused_argument("a=@sym"), "22 Symbol is not available with uprobe @2");
  EXPECT_EQ(refused_argument("a=@+8", kKprobe), "22 File offset is not available with kprobe @2");
  EXPECT_EQ(refused_argument("a=@+x"), "22 Invalid file offset value @2");
  EXPECT_EQ(refused_argument("a=$stack2049"), "taken");
  EXPECT_EQ(refused_argument("a=$stack2049", kKprobe), "22 Invalid stack number @2");
  EXPECT_EQ(refused_argument("a=$arg2049"), "22 Invalid argument number @2");
  EXPECT_EQ(refused_argument("a=$retval"), "22 $retval is not available on probe @2");
  EXPECT_EQ(refused_argument("a=%di:symbol"), "22 Unknown type is specified @6");
  EXPECT_EQ(refused_argument("a=%di:symbol", kKprobe), "taken");
  EXPECT_EQ(refused_argument("a=%di:symstr", kKprobe), "taken");
  EXPECT_EQ(refused_argument("a=$stack:symstr", kKprobe), "22 Symbol String doesn't accept data/userdata @9");
  EXPECT_EQ(refused_argument("a=+u0(%di):symstr", kKprobe), "22 Symbol String doesn't accept data/userdata @14");
  EXPECT_EQ(refused_argument("a=$comm:u8"), "22 $comm and immediate-string only accepts string type @8");
  EXPECT_EQ(refused_argument("a=$comm:string[2]"), "22 $comm and immediate-string only accepts string type @8");
  EXPECT_EQ(refused_argument("a=\\\"t\":ustring"), "22 $comm and immediate-string only accepts string type @7");
  EXPECT_EQ(refused_argument("a=+0($comm)"), "22 $comm can not be dereferenced @5");
  EXPECT_EQ(refused_argument("a=+0(%di):u32[2]"), "taken");
  EXPECT_EQ(refused_argument("a=+u0(%di):u32[2]"), "22 String accepts only memory argument @14");
  EXPECT_EQ(refused_argument("a=+u0(%di):string[2]"), "taken");
  EXPECT_EQ(refused_argument("di"), "22 BTF is not available or not supported @0");
}

TEST(FunctionProbe, TheKernelsLimits) {
  std::string many = "p:e /bin/app:0x10";
  for (int i = 0; i < 128; ++i) many += " a" + std::to_string(i) + "=%di";
  EXPECT_TRUE(uprobe(many).starts_with("p:uprobes/e "));
  EXPECT_EQ(uprobe(many + " b=%di"), "7");
  // Six of 512 bytes are 3072.
  std::string large = "p:e /bin/app:0x10";
  for (int i = 0; i < 6; ++i) large += " a" + std::to_string(i) + "=+0(%di):u64[64]";
  EXPECT_TRUE(uprobe(large).starts_with("p:uprobes/e "));
  EXPECT_EQ(uprobe(large + " b=%di:u8"), "7 Event too big (too many fields?) @" + std::to_string(large.size() + 3));
  const std::string longest(60, '0');
  EXPECT_EQ(refused_argument("a=\\0" + longest + "1"), "taken");
  EXPECT_EQ(refused_argument("a=\\00" + longest + "1"), "7 Argument expression is too long @2");
  // 14 steps are too many: they and the register are 15.
  std::string deep = "%di";
  for (int i = 0; i < 13; ++i) deep = "+0(" + deep + ")";
  EXPECT_EQ(refused_argument("a=" + deep), "taken");
  EXPECT_EQ(refused_argument("a=+0(" + deep.substr(0, deep.size()) + ")").substr(0, 2), "ta");
}

TEST(FunctionProbe, AnotherPlaceNeedsTheSameFieldsAndMayFetchThemOtherwise) {
  const auto a = parsed_probe(ProbeFamily::kUprobe, "p:e /bin/app:1 a=%di b=%si:u8");
  const auto same = parsed_probe(ProbeFamily::kUprobe, "p:e /bin/app:2 a=%dx:x64 b=%r8:u8").arguments;
  EXPECT_FALSE(first_difference(a.arguments, same));
  EXPECT_FALSE(are_fetched_alike(a.arguments, same));
  EXPECT_TRUE(are_fetched_alike(a.arguments, a.arguments));
  const auto difference = [&](const std::string& arguments) {
    return first_difference(a.arguments, parsed_probe(ProbeFamily::kUprobe, "p:e /bin/app:2 " + arguments).arguments);
  };
  EXPECT_EQ(difference("a=%di c=%si:u8"), 1u);
  EXPECT_EQ(difference("a=%di:u64 b=%si:u8"), 0u);
  EXPECT_EQ(difference("a=%di"), 1u);
  EXPECT_EQ(difference("a=%di b=%si:u8 c=%di"), 2u);
}

std::string probe_format_of(const std::string& line) {
  return event::print_format(declare_function_probe(parsed_probe(ProbeFamily::kUprobe, line)));
}

TEST(FunctionProbe, ItsEventBeginsWithWhereItHappened) {
  EXPECT_EQ(probe_format_of("p:e /bin/app:1"), "\"(%lx)\", REC->__probe_ip");
  EXPECT_EQ(probe_format_of("r:e /bin/app:1 r=$retval:s32"),
            "\"(%lx <- %lx) r=%d\", REC->__probe_func, REC->__probe_ret_ip, REC->r");
  const event::Declaration declared =
      declare_function_probe(parsed_probe(ProbeFamily::kUprobe, "r:e /bin/app:1 r=$retval:s32"));
  EXPECT_EQ(declared.min_size, 20u);
  std::string payload(20, '\0');
  payload[0] = 0x10;
  payload[8] = 0x20;
  payload[16] = '\xfe';
  payload[17] = payload[18] = payload[19] = '\xff';
  std::string text;
  event::print_fields(text, declared, std::as_bytes(std::span(payload)));
  EXPECT_EQ(text, " (0x20 <- 0x10) r=-2");
}

// Definitions that are right by the grammar, and then broken in one place: what is taken is shown so that it is taken
// again and means the same; what is refused is refused again.
TEST(FunctionProbe, WhatIsShownMeansTheSame) {
  std::mt19937 random(12);
  const auto pick = [&](auto... options) {
    const std::vector<std::string> all{options...};
    return all[random() % all.size()];
  };
  const auto value = [&] {
    std::string text = pick("%di", "%sp", "%r15", "$stack", "$stack3", "@0x1000", "@+8", "\\-1", "\\0x7", "$comm");
    while (random() % 2 == 0) text = pick("+0(", "-8(", "+u4(", "+0x10(") + text + ")";
    return text + pick("", "", ":u8", ":x64", ":s16", ":string", ":ustring", ":char[4]", ":b3@1/8", ":u32[2]");
  };
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string line = pick("p", "r") + pick("", ":e", ":g/e", ":g/", "5:e") + " /bin/app:" + pick("0x10", "7", "run") +
                       pick("", "", "%return", "(0x8)");
    for (auto arguments = random() % 3; arguments > 0; --arguments) line += pick(" a=", " b=", " ") + value();
    if (random() % 2 == 0) line[random() % line.size()] = "p:/.%+-()$@=[]\\x08 "[random() % 19];
    const std::string shown = uprobe(line);
    if (!shown.starts_with("p:") && !shown.starts_with("r:")) continue;
    ++taken;
    ASSERT_EQ(uprobe(shown), shown) << line;
  }
  EXPECT_GT(taken, 2'000);
}

TEST(FunctionProbe, UsdtPlacesAreShownAsTheyWereNamed) {
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:one a=$arg1"), "p:g/e /bin/app:usdt:app:one a=$arg1");
  EXPECT_EQ(uprobe("p /bin/app:usdt:app:one"), "p:uprobes/p_app_usdt_app_one /bin/app:usdt:app:one");
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:one $arg2 $arg1"), "p:g/e /bin/app:usdt:app:one arg2=$arg2 arg1=$arg1");
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:one $arg* x=%di"),
            "p:g/e /bin/app:usdt:app:one arg1=$arg1 arg2=$arg2 arg4=$arg4 x=%di");
}

TEST(FunctionProbe, MistakesInUsdtPlaces) {
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app"), "22 Want usdt:PROVIDER:NAME @15");
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:"), "22 Want usdt:PROVIDER:NAME @15");
  EXPECT_EQ(uprobe("r:g/e /bin/app:usdt:app:one"), "22 A USDT place has no return @15");
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:none"), "2 The file has no USDT place of that name @20");
  EXPECT_EQ(uprobe("p:g/e /secret:usdt:app:one"), "13 Failed to find the given file @6");
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:one $arg5"), "22 Invalid argument number @28");
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:one $arg0"), "22 Invalid argument number @28");
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:one a=$arg3"),
            "22 This argument is in a vector register, which probes do not read @30");
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt:app:one $argx"), "22 Invalid $-valiable specified @28");
  EXPECT_EQ(uprobe("p:g/e /bin/app:0x10 $arg*"), "22 Invalid $-valiable specified @20");
  // A symbol of C++.
  EXPECT_EQ(uprobe("p:g/e /bin/app:usdt::run"), std::to_string(FunctionProbeCommand::kOther));
}

// "TYPE:NAME" of each argument.
std::string usdt_types_of(const std::string& arguments, const char* name = "one") {
  std::string text;
  for (const auto& argument :
       parsed_probe(ProbeFamily::kUprobe, fmt::format("p:g/e /bin/app:usdt:app:{} {}", name, arguments)).arguments)
    text += fmt::format(" {}:{}", argument.name, argument.type->name);
  return text;
}

TEST(FunctionProbe, UsdtArgumentsHaveTypesBySizeAndSign) {
  EXPECT_EQ(usdt_types_of("$arg1 $arg2 $arg4"), " arg1:s32 arg2:u64 arg4:u16");
  EXPECT_EQ(usdt_types_of("$arg1:x8 n=$arg2:s16 s=$arg2:string t=+8($arg2):string p=+0($arg1)"),
            " arg1:x8 n:s16 s:string t:string p:x64");
  EXPECT_EQ(usdt_types_of("$arg*", "two"), " arg1:u64 arg2:u8");  // the widest of all places
}

TEST(FunctionProbe, AUsdtArgumentIsFetchedAsItsPlaceHasIt) {
  const FunctionProbe probe =
      parsed_probe(ProbeFamily::kUprobe, "p:g/e /bin/app:usdt:app:two $arg1 s=$arg2:string d=+4($arg1)");
  ASSERT_EQ(probe.usdt.size(), 2u);
  EXPECT_EQ(probe.usdt[1].offset, 0x30u);
  const auto first = arguments_at(probe.usdt[0], probe.arguments),
             second = arguments_at(probe.usdt[1], probe.arguments);
  EXPECT_EQ(first[0].fetch.source, Fetch::Source::kOperand);
  EXPECT_EQ(first[0].fetch.operand.base, arch::kRdi);
  EXPECT_EQ(first[0].fetch.operand.size, 4);
  EXPECT_EQ(second[0].fetch.operand.base, arch::kRax);
  // What the first place does not have is 0 there.
  EXPECT_EQ(first[1].fetch.operand.kind, UsdtOperand::Kind::kNumber);
  EXPECT_EQ(first[1].fetch.operand.number, 0);
  EXPECT_EQ(second[1].fetch.operand.base, arch::kRax);
  EXPECT_EQ(second[1].fetch.operand.size, 1);
  // What it points to, without more being written.
  EXPECT_EQ(second[1].fetch.store, Fetch::Store::kText);
  EXPECT_TRUE(second[1].fetch.steps.empty());
  EXPECT_EQ(second[2].fetch.store, Fetch::Store::kMemory);
  EXPECT_EQ(second[2].fetch.store_offset, 4);
}

}  // namespace
}  // namespace landtrace::language
