#include "event/name_flags.hpp"

#include <gtest/gtest.h>

#include "event/declaration.hpp"

namespace landtrace::event {
namespace {

TEST(NameFlagsTest, AreTakenOffTheName) {
  EXPECT_EQ(without_flags("e:FLAG,OTHER u32 a"), "e u32 a");
  EXPECT_EQ(without_flags("e:FLAG"), "e");
  EXPECT_EQ(without_flags("e: u32 a"), "e u32 a");
  EXPECT_EQ(without_flags(":FLAG u32 a"), " u32 a") << "that has no name";
}

TEST(NameFlagsTest, NothingElseIsTaken) {
  EXPECT_EQ(without_flags("e u32 a:b"), "e u32 a:b");
  EXPECT_EQ(without_flags("e"), "e");
  EXPECT_EQ(without_flags(""), "");
  const std::string too_long = "e:FLAG u32 " + std::string(kMaxDeclaration, 'x');
  EXPECT_EQ(without_flags(too_long), too_long);
}

}  // namespace
}  // namespace landtrace::event
