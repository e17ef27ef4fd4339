#include "base/mapping.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace landtrace {
namespace {

TEST(MappingTest, SealedControlSegmentStaysWritableOnlyForItsOwner) {
  auto fd = create_memfd("test", 8192);
  ASSERT_TRUE(fd);
  auto owner = Mapping::map(fd->get(), 8192, Mapping::Access::kReadWrite);
  ASSERT_TRUE(owner);
  ASSERT_TRUE(seal_against_new_writers(fd->get()));

  EXPECT_FALSE(Mapping::map(fd->get(), 8192, Mapping::Access::kReadWrite));
  auto reader = Mapping::map(fd->get(), 8192, Mapping::Access::kReadOnly);
  ASSERT_TRUE(reader);
  owner->data()[100] = std::byte{42};
  EXPECT_EQ(reader->data()[100], std::byte{42});
}

TEST(MappingTest, SealedSealsStayAsTheyAre) {
  auto fd = create_memfd("test", 4096);
  ASSERT_TRUE(fd);
  ASSERT_TRUE(seal_seals(fd->get()));
  EXPECT_FALSE(seal_against_new_writers(fd->get()));
  EXPECT_TRUE(Mapping::map(fd->get(), 4096, Mapping::Access::kReadWrite));
}

TEST(MappingTest, RefusesWhatCouldShrinkUnderAReader) {
  const Fd unsealed(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(unsealed.get(), 8192), 0);
  EXPECT_EQ(check_sealed_memfd(unsealed.get(), 8192).error().code, EINVAL);
  auto small = create_memfd("test", 4096);
  ASSERT_TRUE(small);
  EXPECT_TRUE(check_sealed_memfd(small->get(), 4096));
  EXPECT_EQ(check_sealed_memfd(small->get(), 8192).error().code, EINVAL);
  EXPECT_EQ(check_sealed_memfd(0, 1).error().code, EINVAL);
}

}  // namespace
}  // namespace landtrace
