// Probes of functions by patterns, versions and choices.
#include <set>

#include "rules/probes/test_probes.hpp"

#if defined(__x86_64__)
// More functions than one definition can have.
asm(R"(
  .pushsection .text
  .macro lt_many
    .p2align 3
    .type lt_many_\@, @function
    lt_many_\@:
    nopl 0(%rax, %rax)
    nopl 0(%rax)
    ret
    .size lt_many_\@, . - lt_many_\@
  .endm
  .rept 4097
    lt_many
  .endr
  .purgem lt_many
  .popsection
)");
#endif

namespace landtrace::rules {
namespace {

TEST_F(FunctionProbesTest, APatternMakesAnEventForEachFunction) {
  ASSERT_EQ(define_each("p:g/* " + self_ + ":lt_probes_test_* a=%di"), 0);
  EXPECT_EQ(listed(), "p:g/lt_probes_test_function " + self_ + ":lt_probes_test_function a=%di\n" +
                          "p:g/lt_probes_test_other " + self_ + ":lt_probes_test_other a=%di\n");
  EXPECT_EQ(define_each("p:g/* " + self_ + ":lt_probes_test_o*"), EEXIST) << "the names are taken";
  EXPECT_EQ(log_, "There is an event g/lt_probes_test_other already@" + std::to_string(7 + self_.size()));
  EXPECT_EQ(define_each("p:h/* " + self_ + ":lt_probes_test_other"), 0) << "a name alone is one, too";
  EXPECT_EQ(define_each("p:h/* " + self_ + ":lt_no_such_*"), ENOENT);
  EXPECT_EQ(log_, "No function fits 'lt_no_such_*'@" + std::to_string(7 + self_.size()));
  EXPECT_EQ(define_each("p:h/* /nosuch/file:*"), language::FunctionProbeCommand::kOther);
}

TEST_F(FunctionProbesTest, APatternMayMakeOneEventAtAllFunctions) {
  ASSERT_EQ(define("r:g/both " + self_ + ":lt_probes_test_* v=$retval"), 0);
  ASSERT_EQ(probe("both").places.size(), 1u);
  const ProbePlace& place = probe("both").places[0];
  ASSERT_EQ(place.others.size(), 1u);
  EXPECT_NE(place.offset, place.others[0].offset);
  EXPECT_EQ(place.others[0].arguments.size(), 1u);
  EXPECT_EQ(listed(), "r:g/both " + self_ + ":lt_probes_test_* v=$retval\n");
  EXPECT_EQ(define("r:g/both " + self_ + ":lt_probes_test_* v=$retval"), EEXIST) << "the same probe";
  EXPECT_EQ(define("r:g/both " + self_ + ":lt_probes_test_f* v=$retval"), 0) << "another one";
  EXPECT_EQ(define("p " + self_ + ":lt_probes_test_f*"), 0);
  EXPECT_NE(listed().find("p:uprobes/p_rules_lt_probes_test_f_ "), std::string::npos) << listed();
  EXPECT_EQ(define("p:g/none " + self_ + ":lt_no_such_*"), ENOENT);
  EXPECT_EQ(log_, "No function fits 'lt_no_such_*'@" + std::to_string(10 + self_.size()));
}

// Of the C library, which has ifuncs that share what they choose, and functions that share names and places.
TEST_F(FunctionProbesTest, NoTwoOfAPatternAreAtOnePlace) {
  for (const std::string pattern : {"*mem*", "str*", "pthread_*"}) {
    const std::string name = "e" + std::to_string(pattern.size());
    ASSERT_EQ(define("p:g/" + name + " libc.so.6:" + pattern), 0) << log_;
    const ProbePlace& place = probe(name.c_str()).places.at(0);
    std::set<std::uint64_t> offsets{place.offset};
    for (const ProbeSpot& spot : place.others) offsets.insert(spot.offset);
    EXPECT_GT(offsets.size(), 10u);
    EXPECT_EQ(offsets.size(), 1 + place.others.size());
    ASSERT_EQ(define_each("p:h" + name + "/* libc.so.6:" + pattern), 0) << log_;
  }
}

TEST_F(FunctionProbesTest, WhatIsLeftOutOfAPatternIsTold) {
  ASSERT_EQ(define_each("r:g/* libc.so.6:*fork"), 0);
  EXPECT_NE(log_.find(" left out: "), std::string::npos) << log_;
  EXPECT_NE(log_.find("vfork"), std::string::npos) << log_;
  EXPECT_EQ(domain_->events().find("g", "vfork"), nullptr);
  const auto some = rules_.probes().define_some(ProbeFamily::kUprobe, "r:g/some libc.so.6:*fork", asker_);
  ASSERT_TRUE(some);
  EXPECT_EQ(*some, log_);
  ASSERT_EQ(define_each("r:h/* libc.so.6:vfork*"), EOPNOTSUPP);
  EXPECT_TRUE(log_.starts_with("No function that fits 'vfork*' can be probed: vfork (")) << log_;
}

TEST_F(FunctionProbesTest, AllThatAPatternMeansOrNone) {
  ASSERT_EQ(define("p:g/lt_probes_test_other " + self_ + ":lt_probes_test_f*"), 0);
  const std::string before = listed();
  // The second of the two cannot be: the name is taken.
  EXPECT_EQ(define_each("p:g/* " + self_ + ":lt_probes_test_*"), EEXIST);
  EXPECT_EQ(define_each("p:g/* " + self_ + ":lt_probes_test_* a=%di b=%nosuch"), EINVAL);
  EXPECT_EQ(log_, "Invalid register name@" +
                      std::to_string(std::string("p:g/* :lt_probes_test_* a=%di b=").size() + self_.size()));
  EXPECT_EQ(listed(), before);
}

// One turn after the other, until it fails or is done.
class ManyProbesTest : public FunctionProbesTest {
 protected:
  std::unique_ptr<ManyProbes> begin(const std::string& line) {
    const auto pattern = language::ProbePattern::parse(ProbeFamily::kUprobe, line);
    return *ManyProbes::begin(rules_.probes(), *pattern, asker_,
                              [this](Event& event) { return rules_.remove(event, 0); });
  }
  inline static const domain::Turn kOver{std::chrono::microseconds(0)};
  const std::string line_ = "p:g/* " + self_ + ":lt_probes_test_*";
};

TEST_F(ManyProbesTest, EachTurnMakesSome) {
  const auto many = begin(line_);
  EXPECT_EQ(listed(), "");
  EXPECT_FALSE(*many->go_on(kOver));
  EXPECT_EQ(domain_->events().all().size(), 1u);
  EXPECT_TRUE(*many->go_on(kOver));
  EXPECT_EQ(domain_->events().all().size(), 2u);
}

TEST_F(ManyProbesTest, WhatIsNotGoneOnWithIsTakenBack) {
  auto many = begin(line_);
  ASSERT_FALSE(*many->go_on(kOver));
  many.reset();
  EXPECT_EQ(listed(), "");
  many = begin(line_);
  ASSERT_TRUE(*many->go_on(domain::Turn(std::chrono::hours(1))));
  many.reset();
  EXPECT_EQ(domain_->events().all().size(), 2u) << "what is done stays";
}

TEST_F(ManyProbesTest, ANameThatIsTakenInBetweenTakesAllBackButThatOne) {
  const auto many = begin(line_);
  ASSERT_FALSE(*many->go_on(kOver));
  const std::string taken = domain_->events().find("g", "lt_probes_test_other") == nullptr ? "lt_probes_test_other"
                                                                                           : "lt_probes_test_function";
  ASSERT_EQ(define("p:g/" + taken + " " + self_ + ":0x40"), 0);
  EXPECT_EQ(many->go_on(kOver).error().code, EEXIST);
  ASSERT_EQ(domain_->events().all().size(), 1u);
  EXPECT_EQ(domain_->events().all()[0]->name, taken);
}

TEST_F(ManyProbesTest, WhatSomebodyUsesAlreadyStays) {
  auto many = begin(line_);
  ASSERT_FALSE(*many->go_on(kOver));
  ASSERT_TRUE(enable(domain_->events().all()[0]->name.c_str()));
  many.reset();
  EXPECT_EQ(domain_->events().all().size(), 1u);
}

TEST_F(FunctionProbesTest, APatternHasALimit) {
  EXPECT_EQ(define_each("p:g/* " + self_ + ":lt_many_*"), E2BIG);
  EXPECT_EQ(log_, "4097 functions fit 'lt_many_*', and one definition can have 4096 at most@" +
                      std::to_string(7 + self_.size()));
  EXPECT_EQ(define("p:g/e " + self_ + ":lt_many_*"), E2BIG);
  EXPECT_EQ(listed(), "");
  EXPECT_EQ(define("p:g/e " + self_ + ":lt_many_[!0]*"), 0) << "4,096 of them";
  EXPECT_EQ(probe("e").places.at(0).others.size(), 4095u);
}

TEST_F(FunctionProbesTest, OfKprobesAPatternMeansALibrarysFunctions) {
  ASSERT_EQ(define_each("p:g/* libc:qsort*", ProbeFamily::kKprobe), 0);
  EXPECT_NE(listed().find("p:g/qsort_r libc:qsort_r\n"), std::string::npos) << listed();
  EXPECT_EQ(define_each("p:g/* lt_no_such_library:f*", ProbeFamily::kKprobe), language::FunctionProbeCommand::kOther);
}

TEST_F(FunctionProbesTest, AnIfuncIsProbedAtAllThatItMayChoose) {
  ASSERT_EQ(define("p:g/e libc.so.6:memcpy n=$arg3"), 0);
  const ProbePlace& place = probe("e").places[0];
  ASSERT_GE(place.others.size(), 1u);
  EXPECT_EQ(place.others[0].arguments.size(), 1u);
  std::set<std::uint64_t> offsets{place.offset};
  for (const ProbeSpot& spot : place.others) offsets.insert(spot.offset);
  EXPECT_EQ(offsets.size(), 1 + place.others.size());
  EXPECT_EQ(listed(), "p:g/e libc.so.6:memcpy n=$arg3\n");
  // What it chooses has other instructions each.
  EXPECT_NE(define("p:g/f libc.so.6:memcpy+4"), 0);
  // The kernel has the other code for it.
  EXPECT_EQ(define("p:g/f libc.so.6:gettimeofday"), EINVAL);
  EXPECT_NE(log_.find("gettimeofday cannot be probed: which code it is"), std::string::npos) << log_;
}

TEST_F(FunctionProbesTest, AVersionBelongsToTheName) {
  ASSERT_EQ(define("p:g/old libc.so.6:pthread_cond_wait@GLIBC_2.2.5"), 0);
  ASSERT_EQ(define("p:g/now libc.so.6:pthread_cond_wait"), 0);
  ASSERT_EQ(define("p:g/same libc.so.6:pthread_cond_wait@@GLIBC_2.3.2+0"), 0);
  EXPECT_NE(probe("old").places[0].offset, probe("now").places[0].offset);
  EXPECT_EQ(probe("same").places[0].offset, probe("now").places[0].offset);
  EXPECT_EQ(define("p:g/none libc.so.6:pthread_cond_wait@GLIBC_9"), EINVAL);
  EXPECT_EQ(log_, "pthread_cond_wait has no version GLIBC_9, but GLIBC_2.3.2 (the default), GLIBC_2.2.5@19");
}

TEST_F(FunctionProbesTest, AnOlderOwnersPatternMeansTheSameAgain) {
  ASSERT_EQ(define("p:g/both " + self_ + ":lt_probes_test_* a=%di"), 0);
  const std::string journal = event("both").defined->definitions.at(0).command;
  ASSERT_TRUE(rules_.remove(event("both"), 0));
  rules_.probes().restore(journal + "\n", ::geteuid());
  EXPECT_EQ(probe("both").places.at(0).others.size(), 1u);
  EXPECT_EQ(listed(), "p:g/both " + self_ + ":lt_probes_test_* a=%di\n");
}

}  // namespace
}  // namespace landtrace::rules
