// What is said of programs that are compiled here, by each compiler that there is, with and without optimisation.
#include "dwarf/reading/answers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "dwarf/reader.hpp"
#include "dwarf/test_program.hpp"

namespace landtrace::dwarf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kSource = R"(
struct point { int x, y; };
struct wide { long a[6]; };
struct request {
  unsigned id;
  const char *route;
  int status;
  unsigned mode : 3, kind : 5;
  char name[16];
  struct { double ratio; short s; };
  int codes[4];
  struct request *next;
};
int counter = 5;
static inline __attribute__((always_inline)) int clamp(int v) {
  int r = v > 100 ? 100 : v;
  return r * 2;
}
__attribute__((noinline)) int handle(int id, struct request *req, unsigned long size) {
  int local = id * 2 + counter;
  req->status += local;
  local = clamp(local);

  counter += size;
  return local;
}
__attribute__((noinline)) long points(struct point p, double scale, char c, short s, struct wide w, long five, long six,
                                      long seven, _Bool eight) {
  return p.x * scale + c + s + w.a[0] + five + six + seven + eight;
}
__attribute__((noinline)) struct wide make(int n) { struct wide w = {{n, 2}}; return w; }
__attribute__((noinline)) double half(double d) { return d / 2; }
__attribute__((noinline)) void nothing(int n) { counter = n; }
int main(int argc, char **argv) {
  struct request r = {argc, argv[0]};
  struct point p = {argc, 1};
  struct wide w = make(argc);
  nothing(argc);
  return handle(argc, &r, 4096) + points(p, half(1.5), 'c', 2, w, 5, 6, 7, 1) + clamp(counter);
}
)";

// Each combination of compiler, optimisation and version of DWARF.
class Values : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<std::string> say(const std::string& function, const std::vector<std::string>& expressions,
                               const char* side = "entry") {
    return program().say(program().offset_of(function), expressions, side);
  }
  static TestProgram& program() {
    static std::map<std::string, TestProgram> made;
    return made.try_emplace(GetParam(), "test.c", kSource, GetParam()).first->second;
  }
};

TEST_P(Values, OfParametersAreInTheRegistersWhereTheyAreHandedOver) {
  EXPECT_THAT(say("handle", {"id", "req"}), ElementsAre("id=%di:s32", "req=%si:x64"));
}

TEST_P(Values, OfMembersAreBehindTheirPointers) {
  EXPECT_THAT(say("handle", {"req->status", "req->route", "req->name", "req->codes[2]", "req->codes", "req->next->id",
                             "req->next->route", "req->s", "req.id"}),
              ElementsAre("status=+16(%si):s32", "route=+0(+8(%si)):string", "name=+21(%si):string",
                          "codes=+64(%si):s32", "codes=+56(%si):s32[4]", "id=+0(+72(%si)):u32",
                          "route=+0(+8(+72(%si))):string", "s=+48(%si):s16", "id=+0(%si):u32"));
}

TEST_P(Values, OfBitFieldsAreBits) {
  EXPECT_THAT(say("handle", {"req->mode", "req->kind"}), ElementsAre("mode=+20(%si):b3@0/32", "kind=+20(%si):b5@3/32"));
}

TEST_P(Values, HaveTheTypeThatTheUserWants) {
  EXPECT_THAT(say("handle", {"id:u8", "req->route:x64", "req->next:x8[4]", "req->ratio:x64", "req->next:string"}),
              ElementsAre("id=%di:u8", "route=+8(%si):x64", "next=+0(+72(%si)):x8[4]", "ratio=+40(%si):x64",
                          "next=+0(+72(%si)):string"));
}

TEST_P(Values, OfManyParametersGoOnTheStack) {
  EXPECT_THAT(say("points", {"p.x", "c", "s", "w.a", "w.a[1]", "five", "seven"}),
              ElementsAre("x=%di:s32", "c=%si:char", "s=%dx:s16", "a=+8(%sp):s64[6]", "a=+16(%sp):s64", "five=%cx:s64",
                          "seven=%r9:s64"));
}

TEST_P(Values, ThatAreForgottenSayWhereTheyMayBe) {
  const auto said = say("points", {"eight"});
  const bool is_known = said[0] == "eight=+56(%sp):u8";
  EXPECT_TRUE(is_known || said[0].ends_with("if callers hand it over all the same, it is +56(%sp):u8")) << said[0];
}

TEST_P(Values, ThatCannotBeFetchedSayWhy) {
  const auto said = say("points", {"scale", "p", "p.y", "w", "nope"});
  EXPECT_THAT(said[0], HasSubstr("scale is a floating-point number, and is in a vector register"));
  EXPECT_THAT(said[1], HasSubstr("p is a struct: name one of its members: x, y"));
  EXPECT_THAT(said[2], HasSubstr("%di:b32@32/64"));
  EXPECT_THAT(said[3], HasSubstr("name one of its members: a"));
  EXPECT_THAT(said[4], HasSubstr("nope is no parameter or variable here; there are: p, scale, c, s"));
}

TEST_P(Values, OfMistypedExpressionsSayWhere) {
  const auto said = say("handle", {"req->nope", "req->codes[", "req->", "req x", "id->x", "id[1]", "->id", "$id"});
  EXPECT_THAT(said[0], HasSubstr("req has no 'nope'; it has id, route, status"));
  EXPECT_THAT(said[1], HasSubstr("req->codes wants a number in brackets"));
  EXPECT_THAT(said[2], HasSubstr("followed by no name"));
  EXPECT_THAT(said[3], HasSubstr("req is followed by ' x'"));
  EXPECT_THAT(said[4], HasSubstr("id is no struct"));
  EXPECT_THAT(said[5], HasSubstr("id is no array or pointer"));
  EXPECT_THAT(said[6], HasSubstr("is no name"));
  EXPECT_THAT(said[7], HasSubstr("is no name"));
}

TEST_P(Values, OfAllParametersLeaveOutWhatCannotBeFetched) {
  auto said = say("points", {"$params"});
  // Clang may have forgotten it.
  if (!said.empty() && said.back() == "eight=+56(%sp):u8") said.pop_back();
  EXPECT_THAT(said, ElementsAre("c=%si:char", "s=%dx:s16", "five=%cx:s64", "six=%r8:s64", "seven=%r9:s64"));
  EXPECT_THAT(say("half", {"$params"}), IsEmpty());
}

TEST_P(Values, OfVariablesHaveNoneAtTheBeginning) {
  EXPECT_THAT(say("handle", {"local"}), ElementsAre(HasSubstr("local ")));
  EXPECT_THAT(say("handle", {"local"}), ElementsAre(Not(HasSubstr("="))));
}

TEST_P(Values, OfGlobalVariablesAreAtTheirPlace) {
  const auto said = say("handle", {"counter"});
  // The distance from the code is the same in the file's places and in memory.
  const std::uint64_t counter = program().address_of("counter");
  const std::uint64_t code = program().address_of("handle");
  EXPECT_THAT(said, ElementsAre(fmt::format("counter=@+{}:s32", counter - code + program().offset_of("handle"))));
}

TEST_P(Values, AtAReturnAreThoseOfTheCall) {
  EXPECT_THAT(say("handle", {"id", "req->status", "$retval"}, "return"),
              ElementsAre("id=$arg1:s32", "status=+16($arg2):s32", "retval=$retval:s32"));
  EXPECT_THAT(say("points", {"w.a"}, "return"), ElementsAre(HasSubstr("on the stack")));
}

TEST_P(Values, ThatAreReturnedHaveTheirType) {
  EXPECT_THAT(say("make", {"$retval", "$retval->a[1]", "n"}, "return"),
              ElementsAre("retval=$retval", "a=+8($retval):s64", "n=$arg2:s32"));
  EXPECT_THAT(say("half", {"$retval"}, "return"), ElementsAre(HasSubstr("vector register")));
  EXPECT_THAT(say("nothing", {"$retval"}, "return"), ElementsAre(HasSubstr("returns void")));
}

TEST_P(Values, OfALineAreWhereTheyAreThen) {
  const std::vector<std::uint64_t> places = program().line("test.c", 24);
  ASSERT_EQ(places.size(), 1u);
  const auto said = program().say(places[0], {"size", "counter"}, "entry");
  EXPECT_THAT(said[1], HasSubstr("counter=@+"));
  const bool is_plain = GetParam().find("-O0") != std::string::npos;
  EXPECT_THAT(said[0], HasSubstr(is_plain ? "(%bp):u64" : "size"));
}

TEST_P(Values, OfAnInlinedFunctionAreAtItsLine) {
  const std::vector<std::uint64_t> places = program().line("test.c", 17);
  // Optimised, one of them may be worked out beforehand.
  ASSERT_GE(places.size(), GetParam().find("-O0") != std::string::npos ? 2u : 1u);
  if (places.size() == 2) {
    EXPECT_NE(places[0], places[1]);
  }
  EXPECT_THAT(program().ask({"no-function", "clamp"}), HasSubstr("'clamp' is inlined at 2 places"));
  EXPECT_THAT(program().ask({"no-function", "handle"}), HasSubstr("why\t\n"));
}

TEST_P(Values, OfLinesWithoutCodeAreRefusedWithTheNearest) {
  EXPECT_THAT(program().ask({"line", "test.c", "1000"}), HasSubstr("the nearest lines that have some: "));
  EXPECT_THAT(program().ask({"line", "est.c", "20"}), HasSubstr("no source file 'est.c'"));
  EXPECT_THAT(program().ask({"line", "est.c", "20"}), HasSubstr("it has test.c"));
}

TEST_P(Values, AreListedWithTheirFunctions) {
  const auto functions = parse_functions(program().ask({"functions"}));
  ASSERT_TRUE(functions);
  const auto found = std::find_if(functions->begin(), functions->end(), [&](const DescribedFunction& each) {
    return each.offset == program().offset_of("handle");
  });
  ASSERT_NE(found, functions->end());
  EXPECT_THAT(found->file, ::testing::EndsWith("/test.c"));
  EXPECT_EQ(found->line, 19u);
  EXPECT_EQ(found->returns, "int");
  ASSERT_EQ(found->parameters.size(), 3u);
  EXPECT_EQ(found->parameters[1].type, "struct request *");
  EXPECT_EQ(found->parameters[1].why_not, "");
}

INSTANTIATE_TEST_SUITE_P(Compilers, Values, ::testing::ValuesIn(compilers("c")),
                         [](const auto& each) { return test_name(each.param); });

constexpr const char* kCppSource = R"(
#include <string>
namespace shop {
struct Base { int tag = 3; virtual ~Base() {} };
struct Server : Base {
  int port = 80;
  __attribute__((noinline)) int run(int requests, const std::string& name, std::string copy);
  __attribute__((noinline)) std::string title(int n) const;
  __attribute__((noinline)) int over(int n) { return n + port; }
  __attribute__((noinline)) int over(long n) { return n - port; }
};
int Server::run(int requests, const std::string& name, std::string copy) {
  return requests + name.size() + copy.size() + port;
}
std::string Server::title(int n) const { return std::string(n + port, 'x'); }
}  // namespace shop
int main(int argc, char**) {
  shop::Server server;
  return server.run(argc, "a", "b") + server.title(argc).size() + server.over(1) + server.over(2L);
}
)";

class CppValues : public Values {
 protected:
  static TestProgram& program() {
    static std::map<std::string, TestProgram> made;
    return made.try_emplace(GetParam(), "test.cc", kCppSource, GetParam()).first->second;
  }
  std::vector<std::string> say(const std::string& function, const std::vector<std::string>& expressions,
                               const char* side = "entry") {
    return program().say(program().offset_of(function), expressions, side);
  }
};

constexpr const char* kRun = "_ZN4shop6Server3runEiRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES6_";
constexpr const char* kTitle = "_ZNK4shop6Server5titleB5cxx11Ei";

TEST_P(CppValues, OfMethodsHaveThis) {
  EXPECT_THAT(say(kRun, {"this", "requests", "this->port", "this->tag"}),
              ElementsAre("this=%di:x64", "requests=%si:s32", "port=+12(%di):s32", "tag=+8(%di):s32"));
}

TEST_P(CppValues, OfReferencesAreWhatTheyReferTo) {
  EXPECT_THAT(say(kRun, {"name._M_dataplus._M_p", "name._M_string_length"}),
              ElementsAre("_M_p=+0(+0(%dx)):string", "_M_string_length=+8(%dx):u64"));
}

TEST_P(CppValues, OfObjectsThatHaveADestructorAreHandedOverByTheirAddress) {
  EXPECT_THAT(say(kRun, {"copy._M_string_length"}), ElementsAre("_M_string_length=+8(%cx):u64"));
  // Room for the result comes first.
  EXPECT_THAT(say(kTitle, {"n", "this->port"}), ElementsAre("n=%dx:s32", "port=+12(%si):s32"));
}

TEST(Vectors, TakeNoRegisterOfOtherParameters) {
  constexpr const char* kVectors = R"(
typedef long long v2l __attribute__((vector_size(16)));
typedef float v4f __attribute__((vector_size(16)));
typedef int v2i __attribute__((vector_size(8)));
typedef double v4d __attribute__((vector_size(32)));
struct holder { v4f inner; };
int seen;
int two(v2l v, int n, v4f w, const v2i x, long m) { return v[0] + n + w[1] + x[0] + m; }
int many(v4f a, v4f b, v4f c, v4f d, v4f e, v4f f, v4f g, v4f h, int n, v4f i, v2l j) { return n + a[0] + i[0] + j[0]; }
int large(int before, v4d *pointed, struct holder held, int n) { return before + (*pointed)[0] + held.inner[0] + n; }
v4f give(int n) { v4f v = {n}; return v; }
int main(void) { v2l v = {1}; v4f w = {2}; v2i x = {3}; struct holder s = {w}; v4d d = {1};
  return two(v, 1, w, x, 2) + many(w, w, w, w, w, w, w, w, 1, w, v) + large(1, &d, s, 2) + give(2)[0]; }
)";
  for (const char* const compiler : {"gcc", "clang"}) {
    if (std::system(fmt::format("command -v {} >/dev/null", compiler).c_str()) != 0) continue;
    const TestProgram program("test.c", kVectors, fmt::format("{} -g -O0", compiler));
    const auto say = [&](const char* function, const std::vector<std::string>& expressions, const char* side) {
      return program.say(program.offset_of(function), expressions, side);
    };
    EXPECT_THAT(say("two", {"n", "m", "v[0]"}, "entry"),
                ElementsAre("n=%di:s32", "m=%si:s64", HasSubstr("vector register")));
    EXPECT_THAT(say("many", {"n", "i[1]", "j[0]"}, "entry"),
                ElementsAre("n=%di:s32", HasSubstr("floating-point"), "j=+24(%sp):s64"));
    EXPECT_THAT(say("large", {"before", "pointed", "n"}, "entry"),
                ElementsAre("before=%di:s32", "pointed=%si:x64", HasSubstr("not known here")));
    EXPECT_THAT(say("give", {"$retval", "$retval[1]"}, "return"),
                ElementsAre(HasSubstr("is in a register, not in memory"), HasSubstr("vector register")));
  }
}

TEST(IncompleteTypes, SayThatNothingIsKnownOfThem) {
  constexpr const char* kIncomplete =
      "struct hidden; struct shown { int n; };\n"
      "int peek(struct hidden *h, struct shown *s) { return h != 0 && s->n; }\n"
      "int main(void) { struct shown s = {1}; return peek(0, &s); }\n";
  const TestProgram program("test.c", kIncomplete, "gcc -g -O0");
  const auto said = program.say(program.offset_of("peek"), {"h->x", "h", "s->n"}, "entry");
  EXPECT_THAT(said[0], HasSubstr("h is a struct hidden, whose members its source file does not know"));
  EXPECT_THAT(said[1], "h=%di:x64");
  EXPECT_THAT(said[2], "n=+0(%si):s32");
}

TEST(PublicFunctions, ThatTheCompilerCallsItselfAreNotGuessedAt) {
  if (std::system("command -v clang >/dev/null") != 0) GTEST_SKIP() << "no clang";
  constexpr const char* kUnused =
      "int seen;\n"
      "__attribute__((noinline)) int twice(int unused, int n) { seen += n; return n * 2; }\n"
      "int main(int argc, char **argv) { return twice(7, argc) + twice(8, argc + 1); }\n";
  const TestProgram program("test.c", kUnused, "clang -g -O2");
  const auto said = program.say(program.offset_of("twice"), {"n", "unused"}, "entry");
  EXPECT_THAT(said[0], "n=%si:s32");
  EXPECT_THAT(said[1], HasSubstr("optimised it out"));
}

// g++ puts what leads to a throw before all other code, and says nothing of where such a function is entered.
TEST(FunctionsInParts, HaveTheirLinesWhereTheyAreRunAndTheirEntryWhereTheyAreCalled) {
  const TestProgram program("parts.cc", R"(
#include <stdexcept>
__attribute__((noinline)) int check(int a) {
  int r = a * 3;
  if (a > 3) throw std::runtime_error("big");
  return r;
}
int main(int argc, char **) {
  int s = 0;
  for (int i = 0; i < 5; i++) {
    try { s += check(i + argc); } catch (const std::exception &e) { s += e.what()[0]; }
  }
  return s & 1;
}
)",
                            "g++ -g -O2");
  const std::uint64_t cold = program.offset_of("_Z5checki.cold"), hot = program.offset_of("_Z5checki");
  ASSERT_NE(cold, 0u) << "or the test shows nothing";
  ASSERT_LT(cold, hot);
  const auto is_of_main = [&](std::uint64_t place) { return place >= program.offset_of("main"); };
  EXPECT_THAT(program.line("parts.cc", 5), ElementsAre(::testing::AllOf(::testing::Ge(hot), ::testing::Lt(hot + 64))));
  EXPECT_THAT(program.line("parts.cc", 11), ElementsAre(::testing::Truly(is_of_main)));
  const auto functions = parse_functions(program.ask({"functions"}));
  ASSERT_TRUE(functions);
  const auto found = std::find_if(functions->begin(), functions->end(), [&](const auto& f) { return f.offset == hot; });
  ASSERT_NE(found, functions->end());
  EXPECT_EQ(found->line, 3u);
  EXPECT_EQ(found->parameters.size(), 1u);
}

TEST(StaticFunctions, ThatTheCompilerHasChangedAreNotGuessedAt) {
  constexpr const char* kClone =
      "int seen;\n"
      "static __attribute__((noinline)) int twice(int unused, int n) { seen += n; return n * 2; }\n"
      "int main(int argc, char **argv) { return twice(7, argc) + twice(8, argc + 1); }\n";
  const TestProgram program("test.c", kClone, "gcc -g -O2");
  const std::vector<std::uint64_t> places = program.line("test.c", 2);
  ASSERT_FALSE(places.empty());
  const auto said = program.say(places[0], {"n", "unused"}, "entry");
  EXPECT_THAT(said[0], "n=%di:s32");
  EXPECT_THAT(said[1], HasSubstr("optimised it out"));
}

INSTANTIATE_TEST_SUITE_P(Compilers, CppValues, ::testing::ValuesIn(compilers("c++")),
                         [](const auto& each) { return test_name(each.param); });

}  // namespace
}  // namespace landtrace::dwarf
