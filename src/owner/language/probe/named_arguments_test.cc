// Names of the program's source in definitions: what is asked, and what becomes of the answers.
#include "language/probe/named_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/probe/function_probe.hpp"

namespace landtrace::language {
namespace {

using ::testing::ElementsAre;

// /bin/app has a function run, and main.c with code of line 7; its debugging information knows what `known` says.
class DescribedObjects final : public ProbedObjects {
 public:
  int check_file(std::string_view path) override { return path == "/bin/app" ? 0 : ENOENT; }
  bool has_function(std::string_view path, std::string_view symbol, std::int64_t) override {
    return path == "/bin/app" && symbol == "run";
  }
  Answer look_up(std::string_view, std::string_view) override { return Answer::kFunction; }
  int find_usdt(std::string_view, std::string_view, std::string_view, std::vector<UsdtPlace>&) override {
    return ENOENT;
  }
  AllNamedFetches find_names(std::int64_t offset, bool is_return,
                             const std::vector<std::string>& expressions) override {
    asked.push_back((is_return ? "return+" : "entry+") + std::to_string(offset));
    asked.insert(asked.end(), expressions.begin(), expressions.end());
    if (!is_described) return tl::unexpected<std::string>("no information");
    std::vector<NamedFetches> found;
    for (const std::string& each : expressions) {
      const auto one = known.find(each);
      found.push_back(one == known.end() ? NamedFetches(tl::unexpected<std::string>(each + " is unknown"))
                                         : NamedFetches(one->second));
    }
    return found;
  }
  std::string why_no_function(std::string_view, std::string_view symbol) override {
    return symbol == "tiny" ? "tiny is inlined" : "";
  }
  tl::expected<LinePlace, std::string> find_line(std::string_view path, std::string_view file, unsigned line) override {
    if (path != "/bin/app" && path != "app") return tl::unexpected<std::string>("");
    if (file != "main.c" || line != 7) return tl::unexpected<std::string>("no such line");
    return LinePlace{"/bin/app", 0x40};
  }

  bool is_described = true;
  std::vector<std::string> asked;
  std::map<std::string, std::vector<NamedFetch>> known{
      {"id", {{"id", "%di:s32"}}},
      {"req->status", {{"status", "+8(%si):s32"}}},
      {"req->next->status", {{"status", "+8(+16(%si)):s32"}}},
      {"$params", {{"id", "%di:s32"}, {"req", "%si:x64"}}},
      {"$vars", {}},
      {"$retval", {{"retval", "$retval:s32"}}},
      {"$retval:string", {{"retval", "+0($retval):string"}}},
      {"far", {{"far", "+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(%di)))))))))))))))"}}},
  };
};

class NamedArguments : public testing::Test {
 protected:
  // The line that is shown, or the errno and what is logged.
  std::string define(const std::string& line, ProbeFamily family = ProbeFamily::kUprobe) {
    objects_.asked.clear();
    const auto probe = FunctionProbeCommand(family, line).parse(objects_);
    if (probe) return function_probe_text(*probe);
    std::string text = std::to_string(probe.error().code);
    for (const CommandRefusal& each : probe.error().logged) {
      text += " " + each.text() + " @" + std::to_string(each.position);
    }
    return text;
  }

  DescribedObjects objects_;
};

TEST_F(NamedArguments, BecomeFetchArguments) {
  EXPECT_EQ(define("p:g/e /bin/app:run id s=req->status $arg1"),
            "p:g/e /bin/app:run id=%di:s32 s=+8(%si):s32 arg3=$arg1");
  EXPECT_THAT(objects_.asked, ElementsAre("entry+0", "id", "req->status"));
}

TEST_F(NamedArguments, AreAskedForWhereTheProbeIs) {
  define("p:g/e /bin/app:run+8 id");
  EXPECT_THAT(objects_.asked, ElementsAre("entry+8", "id"));
  define("r:g/e /bin/app:run id");
  EXPECT_THAT(objects_.asked, ElementsAre("return+0", "id"));
}

TEST_F(NamedArguments, MayStandForAllParameters) {
  EXPECT_EQ(define("p:g/e /bin/app:run $params x=%ax"), "p:g/e /bin/app:run id=%di:s32 req=%si:x64 x=%ax");
  EXPECT_EQ(define("p:g/e /bin/app:run $vars"), "p:g/e /bin/app:run");
  EXPECT_EQ(define("p:g/e /bin/app:run $params id"), "22 This argument name is already used @27");
}

TEST_F(NamedArguments, HaveTheWholePathAsNameWhereTheLastIsTaken) {
  EXPECT_EQ(define("p:g/e /bin/app:run req->status req->next->status"),
            "p:g/e /bin/app:run status=+8(%si):s32 req_next_status=+8(+16(%si)):s32");
}

TEST_F(NamedArguments, ThatAreUnknownAreRefusedAtTheirPlace) {
  EXPECT_EQ(define("p:g/e /bin/app:run id a=nope"), "22 nope is unknown @24");
  EXPECT_EQ(define("p:g/e /bin/app:run id %nope"), "22 Invalid register name @22");
  EXPECT_EQ(define("p:g/e /bin/app:run far"), "22 Dereference is too much nested @19");
}

TEST_F(NamedArguments, WithoutInformationAreRefusedButWhatIsReturned) {
  objects_.is_described = false;
  EXPECT_EQ(define("p:g/e /bin/app:run id"), "22 no information @19");
  EXPECT_EQ(define("r:g/e /bin/app:run a=$retval"), "r:g/e /bin/app:run a=$retval");
  EXPECT_EQ(define("r:g/e /bin/app:run a=$retval:string"), "22 String accepts only memory argument @29");
}

TEST_F(NamedArguments, GiveWhatIsReturnedItsType) {
  EXPECT_EQ(define("r:g/e /bin/app:run a=$retval"), "r:g/e /bin/app:run a=$retval:s32");
  EXPECT_EQ(define("r:g/e /bin/app:run $retval:string"), "r:g/e /bin/app:run retval=+0($retval):string");
  EXPECT_EQ(define("r:g/e /bin/app:run $retval:u8"), "r:g/e /bin/app:run arg1=$retval:u8");
  EXPECT_TRUE(objects_.asked.empty());
  EXPECT_EQ(define("p:g/e /bin/app:run $retval"), "22 $retval is not available on probe @19");
}

TEST_F(NamedArguments, AreTheKernelsAffairWhereThePlaceIsOneOfItsForms) {
  EXPECT_EQ(define("p:g/e /bin/app:0x10 id"), "22 BTF is not available or not supported @20");
  EXPECT_EQ(define("r:g/e /bin/app:0x10 a=$retval"), "r:g/e /bin/app:0x0000000000000010 a=$retval");
  EXPECT_EQ(define("r:g/e m:f a=$retval", ProbeFamily::kKprobe), "r:g/e m:f a=$retval");
  EXPECT_TRUE(objects_.asked.empty());
}

TEST_F(NamedArguments, OfASourceLineAreThoseOfItsPlace) {
  EXPECT_EQ(define("p:g/e /bin/app:main.c:7 id"), "p:g/e /bin/app:0x0000000000000040 id=%di:s32");
  EXPECT_THAT(objects_.asked, ElementsAre("entry+0", "id"));
  EXPECT_EQ(define("p app:main.c:7"), "p:uprobes/p_app_main_c_7 /bin/app:0x0000000000000040");
}

TEST_F(NamedArguments, OfSourceLinesThatAreNotThereAreRefused) {
  EXPECT_EQ(define("p:g/e /bin/app:main.c:8"), "22 no such line @15");
  EXPECT_EQ(define("r:g/e /bin/app:main.c:7"), "22 a source line has no return: name its function @15");
  // Of other files, and of what is no line, the kernel says what it always does.
  EXPECT_EQ(define("p:g/e /nowhere:main.c:7"), "2 Failed to find the given file @6");
  EXPECT_EQ(define("p:g/e /bin/app:main.c:0"), "2 Failed to find the given file @6");
  EXPECT_EQ(define("p:g/e /bin/app:0x10:7"), "2 Failed to find the given file @6");
  EXPECT_EQ(define("p:g/e app:7"), "125");
}

TEST_F(NamedArguments, OfAFunctionThatWasInlinedAreRefusedWithTheReason) {
  EXPECT_EQ(define("p:g/e /bin/app:tiny id"), "22 tiny is inlined @15");
  EXPECT_EQ(define("p:g/e /bin/app:gone id"), "125");
}

TEST_F(NamedArguments, AreNoMoreThanOthers) {
  std::vector<NamedFetch> many;
  for (int i = 0; i < 128; ++i) many.push_back({"a" + std::to_string(i), "%di"});
  objects_.known["$params"] = many;
  EXPECT_EQ(define("p:g/e /bin/app:run $params id"), "7 Too many arguments are specified @27");
}

}  // namespace
}  // namespace landtrace::language
