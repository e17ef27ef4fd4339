#include "abi/data_request.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace landtrace::abi {
namespace {

constexpr std::uint64_t kBase = 0x10000;

// Two pages at kBase; what is beyond them cannot be read.
class TestMemory final : public CallerMemory {
 public:
  [[nodiscard]] bool read(std::uint64_t from, void* to, std::size_t size) const override {
    if (from < kBase || from + size > kBase + sizeof bytes) return false;
    std::memcpy(to, bytes + (from - kBase), size);
    return true;
  }
  template <typename T>
  void put(std::uint64_t at, const T& value) {
    std::memcpy(bytes + (at - kBase), &value, sizeof value);
  }
  void put_text(std::uint64_t at, const std::string& text) {
    std::memcpy(bytes + (at - kBase), text.c_str(), text.size() + 1);
  }

  unsigned char bytes[8192] = {};
};

constexpr std::uint64_t kText = kBase + 6000;

class DataRequestTest : public testing::Test {
 protected:
  DataRequestTest() { memory_.put_text(kText, "e1 u32 x"); }

  Result<DataRequest> reg(std::uint32_t size, Version abi = Version::k6_12) {
    const UserReg reg{size, 3, 4, 2, 0x4000, kText, 0};
    memory_.put(kBase, reg);
    return read_data_request(memory_, abi, kIoctlRegister, kBase);
  }
  Result<DataRequest> old_reg(std::uint32_t size, Version abi) {
    std::memset(memory_.bytes, 0, 4096);
    memory_.put(kBase, UserRegStatusBit{size, kText, 0, 0});
    return read_data_request(memory_, abi, kIoctlRegister, kBase);
  }
  int error_of(const Result<DataRequest>& request) { return request ? 0 : request.error().code; }
  TestMemory memory_;
};

TEST_F(DataRequestTest, AStructureOf28BytesNamesAnEnableWord) {
  const auto request = reg(28);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->command, DataCommand::kRegisterWord);
  EXPECT_EQ(request->text, "e1 u32 x");
  EXPECT_EQ(request->reg.enable_bit, 3);
  EXPECT_EQ(request->reg.enable_addr, 0x4000u);
  EXPECT_EQ(request->reg.flags, 2);
}

TEST_F(DataRequestTest, ItsSizeMayBeOfAnotherVersion) {
  EXPECT_EQ(error_of(reg(0)), EINVAL);
  EXPECT_EQ(error_of(reg(24)), EINVAL);
  EXPECT_EQ(error_of(reg(27)), EINVAL);
  EXPECT_EQ(error_of(reg(32)), 0);
  EXPECT_EQ(error_of(reg(4096)), 0);
  EXPECT_EQ(error_of(reg(4097)), E2BIG);
  memory_.bytes[31] = 1;
  EXPECT_EQ(error_of(reg(31)), 0);
  EXPECT_EQ(error_of(reg(32)), E2BIG);
}

TEST_F(DataRequestTest, AStructureOf20BytesNamesNoWord) {
  const auto request = old_reg(20, Version::k6_12);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->command, DataCommand::kRegisterStatusBit);
  EXPECT_EQ(request->text, "e1 u32 x");
}

TEST_F(DataRequestTest, InSixOneEveryStructureIsOfThatKind) {
  for (const std::uint32_t size : {20u, 24u, 28u, 4096u}) EXPECT_EQ(error_of(old_reg(size, Version::k6_1)), 0) << size;
  EXPECT_EQ(error_of(old_reg(0, Version::k6_1)), EINVAL);
  EXPECT_EQ(error_of(old_reg(16, Version::k6_1)), EINVAL);
  EXPECT_EQ(error_of(old_reg(5000, Version::k6_1)), E2BIG);
  EXPECT_EQ(error_of(reg(28, Version::k6_1)), EFAULT) << "a later structure has something else where the name stands";
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_1, kIoctlUnregister, kBase)), ENOTTY);
}

TEST_F(DataRequestTest, AStringEndsWithin512Bytes) {
  memory_.put_text(kText, std::string(511, 'a'));
  EXPECT_EQ(read_data_request(memory_, Version::k6_12, kIoctlDelete, kText)->text.size(), 511u);
  memory_.put_text(kText, std::string(512, 'a'));
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_12, kIoctlDelete, kText)), EINVAL);
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_12, kIoctlDelete, 0)), EFAULT);
}

TEST_F(DataRequestTest, AStringMayStandAtTheEndOfWhatCanBeRead) {
  const std::uint64_t end = kBase + sizeof memory_.bytes;
  memory_.put_text(end - 3, "e2");
  EXPECT_EQ(read_data_request(memory_, Version::k6_12, kIoctlRegisterPlain, end - 3)->text, "e2");
  memory_.bytes[sizeof memory_.bytes - 1] = 'x';
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_12, kIoctlRegisterPlain, end - 3)), EFAULT);
}

TEST_F(DataRequestTest, TheDeclarationOfAWordIsJudgedLastAndThatOfABitAtOnce) {
  UserReg later{28, 0, 4, 0, 0x4000, 0, 0};
  memory_.put(kBase, later);
  const auto request = read_data_request(memory_, Version::k6_12, kIoctlRegister, kBase);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->text_error, EFAULT);
  memory_.put(kBase, UserRegStatusBit{20, 0, 0, 0});
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_12, kIoctlRegister, kBase)), EFAULT);
}

TEST_F(DataRequestTest, WhatIsReservedMustBeZero) {
  memory_.put(kBase, UserUnreg{16, 1, 0, 0, 0x4000});
  EXPECT_EQ(read_data_request(memory_, Version::k6_12, kIoctlUnregister, kBase)->unreg.disable_bit, 1);
  memory_.put(kBase, UserUnreg{16, 1, 0, 7, 0x4000});
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_12, kIoctlUnregister, kBase)), EINVAL);
  memory_.put(kBase, UserUnreg{15, 1, 0, 0, 0x4000});
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_12, kIoctlUnregister, kBase)), EINVAL);
}

TEST_F(DataRequestTest, OtherCommandsAreNone) {
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_12, 0, kBase)), ENOTTY);
  EXPECT_EQ(error_of(read_data_request(memory_, Version::k6_12, 0x40082a03, kBase)), ENOTTY);
}

}  // namespace
}  // namespace landtrace::abi
