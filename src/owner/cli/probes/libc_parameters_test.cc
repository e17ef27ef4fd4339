#include "cli/probes/libc_parameters.hpp"

#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

constexpr const char* kLibc = "/lib/x86_64-linux-gnu/libc.so.6";

TEST(LibcParameters, AreFetchedByTheirPlaceAndKind) {
  EXPECT_EQ(libc_parameter(kLibc, "malloc", "size"), "$arg1:u64");
  EXPECT_EQ(libc_parameter(kLibc, "calloc", "size"), "$arg2:u64");
  EXPECT_EQ(libc_parameter(kLibc, "openat", "pathname"), "+0($arg2):string");
  EXPECT_EQ(libc_parameter(kLibc, "mmap", "fd"), "$arg5:s32");
  EXPECT_EQ(libc_parameter(kLibc, "mmap", "offset"), "$arg6:s64");
  EXPECT_EQ(libc_parameter(kLibc, "write", "buf"), "$arg2:x64");
  EXPECT_EQ(libc_parameter("libc-2.31.so", "memcpy@GLIBC_2.14", "n"), "$arg3:u64");
}

TEST(LibcParameters, OfOtherThingsNothingIsKnown) {
  EXPECT_EQ(libc_parameter(kLibc, "malloc", "bytes"), "");
  EXPECT_EQ(libc_parameter(kLibc, "malloc", ""), "");
  EXPECT_EQ(libc_parameter(kLibc, "mallo", "size"), "");
  EXPECT_EQ(libc_parameter(kLibc, "malloc+4", "size"), "") << "it is not where they are any more";
  EXPECT_EQ(libc_parameter("/usr/lib/libcrypt.so.1", "malloc", "size"), "");
  EXPECT_EQ(libc_parameter("/usr/bin/app", "malloc", "size"), "");
}

TEST(LibcParameters, StandInTheArgumentsBesideOthers) {
  EXPECT_EQ(with_libc_parameters(kLibc, "read", "fd count buf"), "fd=$arg1:s32 count=$arg3:u64 buf=$arg2:x64");
  EXPECT_EQ(with_libc_parameters(kLibc, "read", "n=$arg3 fd nbytes $retval"), "n=$arg3 fd=$arg1:s32 nbytes $retval");
  EXPECT_EQ(with_libc_parameters("/usr/bin/app", "read", "fd"), "fd");
  EXPECT_EQ(with_libc_parameters(kLibc, "read", ""), "");
}

}  // namespace
}  // namespace landtrace::cli
