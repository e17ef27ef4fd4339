#include "tracefs/cpu_mask.hpp"

#include <gtest/gtest.h>

namespace landtrace::tracefs {
namespace {

TEST(CpuMaskTest, StartsWithAllCpus) {
  EXPECT_EQ(CpuMask(1).text(), "1");
  EXPECT_EQ(CpuMask(2).text(), "3");
  EXPECT_EQ(CpuMask(6).text(), "3f");
  EXPECT_EQ(CpuMask(34).text(), "3,ffffffff");
}

TEST(CpuMaskTest, TakesGroupsOf32Bits) {
  CpuMask mask(40);
  ASSERT_TRUE(mask.parse("A5,1\n"));
  EXPECT_EQ(mask.text(), "a5,00000001");
  EXPECT_TRUE(mask.has(0) && mask.has(32) && mask.has(34) && mask.has(39));
  EXPECT_FALSE(mask.has(1) || mask.has(33) || mask.has(40));
  ASSERT_TRUE(mask.parse("7"));
  EXPECT_EQ(mask.text(), "00,00000007");
  ASSERT_TRUE(mask.parse("1,"));
  EXPECT_EQ(mask.text(), "00,00000001");
}

TEST(CpuMaskTest, NothingIsNoCpu) {
  CpuMask mask(2);
  ASSERT_TRUE(mask.parse("\n"));
  EXPECT_EQ(mask.text(), "0");
}

TEST(CpuMaskTest, RefusesWhatIsNoMaskAndStaysAsItWas) {
  CpuMask mask(2);
  ASSERT_TRUE(mask.parse("1"));
  for (const char* const bad : {"z", "0x1", "-1", "1z"}) EXPECT_EQ(mask.parse(bad).error().code, EINVAL) << bad;
  for (const char* const large : {"4", "ff", "0,1", "1 1", "000000001"}) {
    EXPECT_EQ(mask.parse(large).error().code, EOVERFLOW) << large;
  }
  EXPECT_EQ(mask.text(), "1");
}

}  // namespace
}  // namespace landtrace::tracefs
