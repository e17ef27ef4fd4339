// What names mean in real objects: versions, ifuncs, patterns. The dynamic linker's answers are the ones to meet.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <set>

#include "code/analysis.hpp"
#include "code/glob.hpp"

namespace landtrace::code {
namespace {

struct Library {
  explicit Library(const char* name) : handle(::dlopen(name, RTLD_NOW)) {
    link_map* map = nullptr;
    if (handle == nullptr || ::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return;
    base = map->l_addr;
    path = map->l_name;
    analysis.emplace(*Analysis::open(path));
  }
  // The address in the file that a program would call.
  [[nodiscard]] std::uint64_t linked(const char* function, const char* version = nullptr) const {
    void* const address = version == nullptr ? ::dlsym(handle, function) : ::dlvsym(handle, function, version);
    return address == nullptr ? 0 : reinterpret_cast<std::uint64_t>(address) - base;
  }
  [[nodiscard]] std::uint64_t found(const std::string& name) const {
    const auto function = analysis->named().find(name);
    return function ? (*function)->begin : 0;
  }

  void* handle;
  std::uint64_t base = 0;
  std::string path;
  std::optional<Analysis> analysis;
};

const Library& libc() {
  static const Library library("libc.so.6");
  return library;
}

TEST(Names, HaveVersionsAndADefaultOne) {
  // Of both there is an older one.
  for (const auto& [name, older, newer] : {std::tuple("pthread_cond_wait", "GLIBC_2.2.5", "GLIBC_2.3.2"),
                                           std::tuple("posix_spawn", "GLIBC_2.2.5", "GLIBC_2.15")}) {
    ASSERT_NE(libc().linked(name, older), libc().linked(name, newer));
    EXPECT_EQ(libc().found(name), libc().linked(name, newer));
    EXPECT_EQ(libc().found(fmt::format("{}@{}", name, older)), libc().linked(name, older));
    EXPECT_EQ(libc().found(fmt::format("{}@{}", name, newer)), libc().linked(name, newer));
    EXPECT_EQ(libc().found(fmt::format("{}@@{}", name, newer)), libc().linked(name, newer));
    const auto none = libc().analysis->named().find(fmt::format("{}@NONE_1", name));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, EINVAL);
    EXPECT_THAT(none.error().message, testing::HasSubstr(fmt::format("{} (the default)", newer)));
    EXPECT_THAT(none.error().message, testing::HasSubstr(older));
  }
}

TEST(Names, OnesOfNothingAreNotThere) {
  for (const char* const name : {"", "lt_no_such_function", "lt_no_such_function@GLIBC_2.2.5", "@", "@GLIBC_2.2.5"}) {
    const auto found = libc().analysis->named().find(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, ENOENT) << name;
  }
}

TEST(Names, WhatIsListedIsFound) {
  const Functions& functions = libc().analysis->named();
  std::size_t named = 0;
  for (const Function& function : functions.all()) {
    if (function.is_part) continue;
    for (const std::string_view name : functions.names(function)) {
      const auto found = functions.find(name);
      ASSERT_TRUE(found) << name;
      // Functions of several files may have one name each; the most public one has it.
      const auto others = functions.names(**found);
      EXPECT_NE(std::find(others.begin(), others.end(), name), others.end()) << name;
      ++named;
    }
  }
  EXPECT_GT(named, 2000u);
}

TEST(Names, OfTwoThatAreCalledAlikeThePublicOneIsMeant) {
  for (const char* const name : {"malloc", "write", "puts", "getenv", "qsort_r"}) {
    EXPECT_EQ(libc().found(name), libc().linked(name)) << name;
  }
}

// Which the program gets depends on the processor, and on GLIBC_TUNABLES: it must be one of them.
TEST(Names, WhatAnIfuncChoosesIsAmongWhatItMayChoose) {
  std::size_t choosers = 0;
  for (const char* const file : {"libc.so.6", "libm.so.6"}) {
    const Library library(file);
    if (!library.analysis) continue;
    for (const Function& function : library.analysis->functions()) {
      if (!function.is_chooser) continue;
      const auto choices = library.analysis->choices(function);
      for (const std::string_view name : library.analysis->names(function)) {
        const std::uint64_t chosen = library.linked(std::string(name).c_str());
        // The kernel's own code, of which the file has one replacement.
        if (chosen == 0 || choices.size() < 2) continue;
        const std::uint64_t place = library.analysis->offset_of(chosen);
        EXPECT_NE(std::find(choices.begin(), choices.end(), place), choices.end()) << file << " " << name;
        ++choosers;
      }
      if (choices.size() < 2) {
        const std::string name(library.analysis->names(function).front());
        // Or its chooser does other work: this one sets variables, and no program calls it.
        EXPECT_TRUE(name.find("time") != name.npos || name == "__x86_cacheinfo") << file << " " << name;
      }
    }
  }
  EXPECT_GT(choosers, 30u);
}

TEST(Names, ThatFitAPattern) {
  const Functions& functions = libc().analysis->named();
  std::set<std::string> names;
  for (const Matched& one : matching(functions, "pthread_cond_*wait")) names.emplace(one.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait"}));
  EXPECT_THAT(names, testing::Contains("pthread_cond_wait@GLIBC_2.2.5"));
  EXPECT_THAT(names, testing::Not(testing::Contains("pthread_cond_signal")));
  EXPECT_TRUE(matching(functions, "lt_no_such_*").empty());
  EXPECT_EQ(matching(functions, "qsort_[r]").size(), 1u);
  EXPECT_TRUE(is_glob("a*") && is_glob("?") && is_glob("[a]"));
  EXPECT_FALSE(is_glob("memcpy@@GLIBC_2.14"));
}

TEST(Names, OfCppAreFoundWithoutTheirParameters) {
  const Library library("libstdc++.so.6");
  ASSERT_TRUE(library.analysis);
  EXPECT_EQ(library.found("std::terminate"), library.linked("_ZSt9terminatev"));
  EXPECT_FALSE(matching(library.analysis->named(), "std::thread::*").empty());
}

}  // namespace
}  // namespace landtrace::code
