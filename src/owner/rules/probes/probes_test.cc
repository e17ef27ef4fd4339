#include "rules/probes/probes.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "plan/made_payload.hpp"
#include "rules/probe_plan.hpp"
#include "rules/probes/test_probes.hpp"

extern "C" __attribute__((noinline, used)) int lt_probes_test_function(int a) { return a * 1234567 + 1; }
extern "C" __attribute__((noinline, used)) int lt_probes_test_other(int a) { return a * 1234567 + 2; }

namespace landtrace::rules {
namespace {

TEST_F(FunctionProbesTest, APlaceIsKnownByTheFileThatItIsIn) {
  ASSERT_EQ(define("p:g/e " + self_ + ":0x40(0x8) a=%di"), 0);
  const ProbePlace& place = probe("e").places[0];
  struct stat st {};
  ASSERT_EQ(::stat(self_.c_str(), &st), 0);
  EXPECT_EQ(place.object->inode, st.st_ino);
  EXPECT_EQ(place.object->device, st.st_dev);
  EXPECT_FALSE(place.object->build_id.empty());
  EXPECT_EQ(place.offset, 0x40u);
  EXPECT_EQ(place.named.ref_counter, 8u);
  // All of a place count in one way.
  EXPECT_EQ(define("p:g/f " + self_ + ":0x40 a=%di"), EINVAL);
  EXPECT_EQ(define("p:g/f " + self_ + ":0x40(0x8)"), 0);
}

TEST_F(FunctionProbesTest, AFunctionsPlaceIsFoundInTheFile) {
  ASSERT_EQ(define("p:g/e " + self_ + ":lt_probes_test_function a=$arg1:s32"), 0);
  ASSERT_EQ(define("p:g/f " + self_ + ":lt_probes_test_function+1"), 0);
  const std::uint64_t offset = probe("e").places[0].offset;
  EXPECT_EQ(probe("f").places[0].offset, offset + 1);
  std::ifstream file(self_, std::ios::binary);
  char bytes[8] = {};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes, sizeof bytes);
  EXPECT_EQ(std::memcmp(bytes, reinterpret_cast<const void*>(&lt_probes_test_function), sizeof bytes), 0);
  EXPECT_EQ(define("p:g/h " + self_ + ":lt_probes_test_none"), language::FunctionProbeCommand::kOther);
  // The same place by its offset is the same probe.
  EXPECT_EQ(define("p:g/e " + self_ + ":" + std::to_string(offset) + " a=$stack:s32"), 0);
  EXPECT_EQ(probe("e").places.size(), 2u);
}

TEST_F(FunctionProbesTest, WhatIsAddedToAnEventMustHaveItsFields) {
  ASSERT_EQ(define("p:g/e " + self_ + ":0x40 a=%di"), 0);
  EXPECT_EQ(define("p:g/e " + self_ + ":0x40 a=%di"), EEXIST);
  EXPECT_EQ(log_, "There is already the exact same probe event@0");
  EXPECT_EQ(define("r:g/e " + self_ + ":0x50 a=%di"), EEXIST);
  EXPECT_EQ(log_, "Probe type is different from existing probe@0");
  EXPECT_EQ(define("p:g/e " + self_ + ":0x50 b=%di"), EEXIST);
  EXPECT_EQ(log_, "Argument type or name is different from existing probe@" + std::to_string(self_.size() + 12));
  EXPECT_EQ(define("p:g/e m:f", ProbeFamily::kKprobe), EEXIST);
  EXPECT_EQ(log_, "Given group/event name is already used by another event@0");
  EXPECT_EQ(define("p:g/e " + self_ + ":0x40 a=%si"), 0);
  EXPECT_EQ(define("p:g/e 0x1234 a=%si", ProbeFamily::kKprobe), EEXIST);
  EXPECT_EQ(define("p:g/k 0x1234", ProbeFamily::kKprobe), EINVAL);
  EXPECT_EQ(log_, "Failed to register probe event@6");
  EXPECT_EQ(define("p:g/k m:f a=@x+y", ProbeFamily::kKprobe), EINVAL);
  EXPECT_EQ(domain_->events().find("g", "k"), nullptr);
}

TEST_F(FunctionProbesTest, PlacesAreListedAmongOtherEventsInTheOrderOfTheirDefinition) {
  const std::string place = " " + self_ + ":0x0000000000000";
  ASSERT_EQ(define("p:g/e" + place + "040"), 0);
  ASSERT_EQ(define("p:g/k m:f", ProbeFamily::kKprobe), 0);
  ASSERT_EQ(define("p:g/e" + place + "050"), 0);
  EXPECT_EQ(listed(), "p:g/e" + place + "040\np:g/k m:f\np:g/e" + place + "050\n");
  ASSERT_TRUE(remove("e", 0));
  EXPECT_EQ(listed(), "p:g/k m:f\np:g/e" + place + "050\n");
  ASSERT_TRUE(remove("e", 0));
  EXPECT_EQ(listed(), "p:g/k m:f\n");
}

TEST_F(FunctionProbesTest, TheObserverHearsWhoIsListenedToAndWhere) {
  ASSERT_EQ(define("p:g/e " + self_ + ":0x40"), 0);
  EXPECT_EQ(observer_.take(), "");
  ASSERT_TRUE(enable("e"));
  EXPECT_EQ(observer_.take(), "+e1");
  ASSERT_EQ(define("p:g/e " + self_ + ":0x50"), 0);
  EXPECT_EQ(observer_.take(), "+e2");
  // The last place is in use.
  ASSERT_TRUE(remove("e", 1));
  EXPECT_EQ(observer_.take(), "+e1x80");
  EXPECT_EQ(remove("e", 0).error().code, EBUSY);
  ASSERT_TRUE(enable("e", false));
  EXPECT_EQ(observer_.take(), "-e");
  ASSERT_TRUE(remove("e", 0));
  EXPECT_EQ(observer_.take(), "x64");
}

TEST_F(FunctionProbesTest, AnObserverThatComesLaterHearsOfThoseThatAreListenedTo) {
  rules_.probes().observe(nullptr);
  ASSERT_EQ(define("p:g/e " + self_ + ":0x40"), 0);
  ASSERT_TRUE(enable("e"));
  EXPECT_EQ(rules_.probes().counts(event("e"), probe("e").places[0]).hits, 0u);
  rules_.probes().observe(&observer_);
  EXPECT_EQ(observer_.take(), "+e1");
  EXPECT_EQ(rules_.probes().counts(event("e"), probe("e").places[0]).hits, 0x40u);
}

TEST_F(FunctionProbesTest, APlaceThatCannotBeBroughtIntoProgramsIsNotAdded) {
  ASSERT_EQ(define("p:g/e " + self_ + ":0x40"), 0);
  ASSERT_TRUE(enable("e"));
  observer_.refuses = true;
  EXPECT_EQ(define("p:g/e " + self_ + ":0x50"), ENOSPC);
  EXPECT_EQ(probe("e").places.size(), 1u);
  EXPECT_EQ(event("e").defined->definitions.size(), 1u);
}

TEST_F(FunctionProbesTest, AFileThatTheCallerMayNotReadIsRefused) {
  const std::string secret = testing::TempDir() + "probes_test-secret-" + std::to_string(::getpid());
  std::filesystem::copy_file("/bin/true", secret, std::filesystem::copy_options::overwrite_existing);
  ASSERT_EQ(::chmod(secret.c_str(), 0111), 0);
  // An owner that is root opens it as another user; another owner is not allowed to itself.
  const programs::Asker other{{::geteuid() == 0 ? 65534 : ::geteuid(), 65534}, 0};
  EXPECT_EQ(define("p:g/e " + secret + ":0x40", ProbeFamily::kUprobe, other), EACCES);
  EXPECT_EQ(log_, "Failed to find the given file@6");
  std::filesystem::remove(secret);
}

TEST_F(FunctionProbesTest, APathBeginsInTheCallersFolder) {
  const std::string name = "./" + std::filesystem::path(self_).filename().string();
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path("/");
  EXPECT_EQ(define("p:g/e " + name + ":0x40"), ENOENT);
  std::filesystem::current_path(std::filesystem::path(self_).parent_path());
  EXPECT_EQ(
      define("p:g/e " + name + ":0x40", ProbeFamily::kUprobe, {asker_.who, static_cast<std::uint32_t>(::gettid())}), 0);
  std::filesystem::current_path(before);
  EXPECT_EQ(domain_->events().find("g", "e")->text(), "p:g/e " + name + ":0x0000000000000040");
}

TEST_F(FunctionProbesTest, ALibraryIsKnownByItsName) {
  ASSERT_EQ(define("p:g/e libc.so.6:malloc size=$arg1"), 0);
  ASSERT_EQ(define("r:g/k libc:malloc p=$retval", ProbeFamily::kKprobe), 0);
  EXPECT_EQ(probe("e").places[0].object->inode, probe("k").places[0].object->inode);
  EXPECT_EQ(probe("e").places[0].offset, probe("k").places[0].offset);
  EXPECT_EQ(define("p:g/h libc:lt_probes_test_none", ProbeFamily::kKprobe), EINVAL);
  ASSERT_EQ(define("p:g/w lt_no_such_library:f", ProbeFamily::kKprobe), 0);
  EXPECT_FALSE(probe("w").places[0].object);
}

TEST_F(FunctionProbesTest, AnObjectThatIsWaitedForIsFoundInAProgramThatComes) {
  const std::string name = std::filesystem::path(self_).filename();
  ASSERT_EQ(define("p:g/e " + name + ":lt_probes_test_function", ProbeFamily::kKprobe), 0);
  ASSERT_EQ(define("p:g/f " + name + ":lt_probes_test_none", ProbeFamily::kKprobe), 0);
  ASSERT_TRUE(enable("e"));
  EXPECT_FALSE(probe("e").places[0].object);
  EXPECT_EQ(observer_.take(), "+e1");
  rules_.program_came(static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(probe("e").places[0].object);
  EXPECT_EQ(probe("e").places[0].object->path, self_);
  EXPECT_EQ(observer_.take(), "+e1");
  EXPECT_FALSE(probe("f").places[0].object);
  EXPECT_EQ(define("p:g/h " + name + ":lt_probes_test_none", ProbeFamily::kKprobe), EINVAL);
}

TEST_F(FunctionProbesTest, ThePlanSaysWhereEachValueComesFrom) {
  ASSERT_EQ(define("r:g/e " + self_ + ":0x40 a=%si:u8 b=@+0x60:u32 c=$stack3 d=$comm"), 0);
  const auto bytes = function_probe_plan(probe("e").places[0].arguments, *event("e").declaration(), {0x40, false}, 7);
  plan::EventProbePlan plan{};
  std::memcpy(&plan, bytes.data(), sizeof plan);
  EXPECT_EQ(plan.event, 7u);
  EXPECT_EQ(plan.header, 16u);
  EXPECT_EQ(plan.values_size, 16u + 1 + 4 + 8 + 4);
  ASSERT_EQ(plan.arg_count, 4u);
  plan::EventProbeArg args[4];
  std::memcpy(args, bytes.data() + sizeof plan, sizeof args);
  EXPECT_EQ(args[0].source, plan::EventProbeSource::kRegister);
  EXPECT_EQ(args[0].at, plan::kRsi);
  EXPECT_EQ(args[0].target, 16u);
  EXPECT_EQ(args[1].source, plan::EventProbeSource::kPlace);
  EXPECT_EQ(args[1].number, 0x20u);
  EXPECT_EQ(args[1].store, plan::EventProbeStore::kMemory);
  EXPECT_EQ(args[2].source, plan::EventProbeSource::kStackWord);
  EXPECT_EQ(args[2].number, 3u);
  EXPECT_EQ(args[3].source, plan::EventProbeSource::kComm);
  EXPECT_EQ(args[3].target, 29u);
}

TEST_F(FunctionProbesTest, TheArgumentsOfACallLieWhereTheMachineHasThem) {
  ASSERT_EQ(define("p:g/e " + self_ + ":lt_probes_test_function a=$arg2 b=$arg8"), 0);
  const ProbePlace& place = probe("e").places[0];
  const auto bytes = function_probe_plan(place.arguments, *event("e").declaration(), {place.offset, false}, 7);
  plan::EventProbeArg args[2];
  std::memcpy(args, bytes.data() + sizeof(plan::EventProbePlan), sizeof args);
  EXPECT_EQ(args[0].at, plan::kRsi);
  EXPECT_EQ(args[1].source, plan::EventProbeSource::kStackWord);
  EXPECT_EQ(args[1].number, 2u);
  // When it returns they are those that were kept.
  ASSERT_EQ(define("r:g/k libc:malloc a=$arg2", ProbeFamily::kKprobe), 0);
  const auto back = function_probe_plan(probe("k").places[0].arguments, *event("k").declaration(), {0, true}, 7);
  std::memcpy(args, back.data() + sizeof(plan::EventProbePlan), sizeof args[0]);
  EXPECT_EQ(args[0].source, plan::EventProbeSource::kKept);
  EXPECT_EQ(args[0].number, 1u);
  EXPECT_TRUE(enable("k"));
  ASSERT_EQ(define("r:g/t libc:malloc took=$elapsed", ProbeFamily::kKprobe), 0);
  const auto timed = function_probe_plan(probe("t").places[0].arguments, *event("t").declaration(), {0, true}, 7);
  std::memcpy(args, timed.data() + sizeof(plan::EventProbePlan), sizeof args[0]);
  EXPECT_EQ(args[0].source, plan::EventProbeSource::kElapsed);
}

TEST_F(FunctionProbesTest, ASymbolOfTheObjectIsAsFarFromThePlaceAsInMemory) {
  ASSERT_EQ(define("p:g/k libc:getppid a=@getpgrp+8:u8", ProbeFamily::kKprobe), 0);
  void* const libc = ::dlopen("libc.so.6", RTLD_NOW);
  const auto address = [&](const char* name) { return reinterpret_cast<std::uint64_t>(::dlsym(libc, name)); };
  const ProbePlace& place = probe("k").places[0];
  ASSERT_EQ(place.arguments[0].fetch.source, language::Fetch::Source::kFileOffset);
  EXPECT_EQ(place.arguments[0].fetch.number - place.offset, address("getpgrp") + 8 - address("getppid"));
  ::dlclose(libc);
  EXPECT_EQ(define("p:g/h libc:malloc a=@lt_no_such_symbol", ProbeFamily::kKprobe), ENOENT);
  EXPECT_EQ(log_, "Invalid probed address or symbol@6");
  EXPECT_EQ(define("p:g/h lt_no_such_module:f a=@lt_no_such_symbol", ProbeFamily::kKprobe), 0);
}

TEST_F(FunctionProbesTest, AnEventProbeIsNotMadeOutOfAProbe) {
  ASSERT_EQ(define("p:g/e " + self_ + ":0x40 a=%di"), 0);
  const auto made = rules_.event_probes().define("e:g/x g.e a=$a", asker_.who.uid);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().refusal.code, ENODEV);
}

TEST_F(FunctionProbesTest, AGuestDefinesNone) {
  const std::uint32_t guest = 65534;
  if (asker_.who.uid == guest) GTEST_SKIP() << "the owner is that user";
  const programs::Asker other{{guest, guest}, 0};
  EXPECT_EQ(define("p:g/e /bin/true:0x40", ProbeFamily::kUprobe, other), EPERM);
  ASSERT_EQ(define("p:g/e /bin/true:0x40"), 0);
  EXPECT_EQ(define("p:g/e /bin/true:0x50", ProbeFamily::kUprobe, other), EPERM);
}

}  // namespace
}  // namespace landtrace::rules
