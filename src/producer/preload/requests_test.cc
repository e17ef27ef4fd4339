#include "preload/requests.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "client/fake_owner.hpp"
#include "client/process.hpp"
#include "ipc/claim.hpp"

namespace landtrace::preload {
namespace {

using client::Asked;
using client::ClientTest;
using client::FakeAnswer;
using client::FakeOwner;
using client::Process;
using ipc::Operation;
using Kind = FakeAnswer::Kind;

constexpr FdEntry kRequestsFile{77, 3, 2};
constexpr int kNoDescriptor = -1;

// As Operation::kRegister has it.
const ipc::Claim* claim_of(const Asked& asked) { return reinterpret_cast<const ipc::Claim*>(asked.request.c >> 8); }

class RequestsTest : public ClientTest {
 protected:
  void with_owner(const std::function<void(FakeOwner&)>& body) const {
    in_child([&] {
      FakeOwner owner(path());
      ASSERT_TRUE(Process::get().attach());
      body(owner);
    });
  }
  static abi::UserReg registration_of(const std::uint32_t* word, const char* declaration) {
    abi::UserReg reg{};
    reg.size = sizeof reg;
    reg.enable_bit = 31;
    reg.enable_size = 4;
    reg.enable_addr = reinterpret_cast<std::uint64_t>(word);
    reg.name_args = reinterpret_cast<std::uint64_t>(declaration);
    return reg;
  }
  static int register_word(abi::UserReg& reg) {
    return data_request(kNoDescriptor, kRequestsFile, abi::kIoctlRegister, &reg);
  }
  static int unregister(const std::uint32_t* word, std::uint8_t bit = 31) {
    abi::UserUnreg unreg{};
    unreg.size = sizeof unreg;
    unreg.disable_bit = bit;
    unreg.disable_addr = reinterpret_cast<std::uint64_t>(word);
    return data_request(kNoDescriptor, kRequestsFile, abi::kIoctlUnregister, &unreg);
  }
};

TEST_F(RequestsTest, TheCommandsAreThoseOfAllGenerations) {
  EXPECT_TRUE(is_data_request(abi::kIoctlRegister));
  EXPECT_TRUE(is_data_request(abi::kIoctlDelete));
  EXPECT_TRUE(is_data_request(abi::kIoctlUnregister));
  EXPECT_TRUE(is_data_request(abi::kIoctlRegisterPlain));
  EXPECT_FALSE(is_data_request(0));
  EXPECT_FALSE(is_data_request(abi::kIoctlDelete + 2));
}

// It stands in the file's connection, whoever has that.
TEST_F(RequestsTest, TheFilesKeyGoesWithWhatIsAskedAboutIt) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kRegister, FakeAnswer::number(5, 4711));
    owner.answer(Operation::kRegisterPlain, FakeAnswer::number(42));
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    constexpr std::uint64_t kKey = 0xabcdef01234567;
    ipc::FileIdentity identity;
    identity.key = kKey;
    ASSERT_TRUE(ipc::send(ends[1], std::as_bytes(std::span(&identity, 1)), {}));
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, "done u32 id");
    EXPECT_EQ(data_request(ends[0], kRequestsFile, abi::kIoctlRegister, &reg), 0);
    EXPECT_EQ(owner.asked(Operation::kRegister)[0].request.b, ipc::with_key(kKey, 31));
    char declaration[] = "done u32 id";
    EXPECT_EQ(data_request(ends[0], kRequestsFile, abi::kIoctlRegisterPlain, declaration), 42);
    EXPECT_EQ(ipc::key_of(owner.asked(Operation::kRegisterPlain)[0].request), kKey);
  });
}

TEST_F(RequestsTest, AWordIsRegisteredForTheFileWithAClaim) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kRegister, FakeAnswer::number(5, 4711));
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, "done u32 id");
    reg.flags = 1;
    EXPECT_EQ(register_word(reg), 0);
    EXPECT_EQ(reg.write_index, 5u);
    const auto asked = owner.asked(Operation::kRegister);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].text, "done u32 id");
    EXPECT_EQ(asked[0].request.file_slot, kRequestsFile.slot);
    EXPECT_EQ(asked[0].request.file_generation, kRequestsFile.generation);
    EXPECT_EQ(asked[0].request.a, reg.enable_addr);
    EXPECT_EQ(asked[0].request.b, 31u);
    EXPECT_EQ(asked[0].request.c & 0xff, 4u);
    EXPECT_EQ(asked[0].request.d, 1u);
    ASSERT_NE(claim_of(asked[0]), nullptr);
    EXPECT_TRUE(claim_of(asked[0])->is_valid(reg.enable_addr, 31));
  });
}

TEST_F(RequestsTest, ARefusedWordIsNotClaimed) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kRegister, FakeAnswer::error(EADDRINUSE));
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, "done u32 id");
    reg.write_index = 9;
    EXPECT_EQ(register_word(reg), -EADDRINUSE);
    EXPECT_EQ(reg.write_index, 9u);
    EXPECT_FALSE(claim_of(owner.asked(Operation::kRegister)[0])->is_valid(reg.enable_addr, 31));
  });
}

TEST_F(RequestsTest, WhereNobodyAnswersTheDeviceHasGone) {
  with_owner([](FakeOwner& owner) {
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, "done u32 id");
    owner.answer(Operation::kRegister, FakeAnswer::of(Kind::kHangUp));
    EXPECT_EQ(register_word(reg), -ENODEV);
    for (const Operation operation : {Operation::kUnregister, Operation::kDelete, Operation::kRegisterPlain}) {
      owner.answer(operation, FakeAnswer::of(Kind::kHangUp));
    }
    EXPECT_EQ(unregister(&word), -ENODEV);
    char name[] = "done";
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlDelete, name), -ENODEV);
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlRegisterPlain, name), -ENODEV);
  });
}

TEST_F(RequestsTest, AStructureThatCannotBeReadIsAFault) {
  with_owner([](FakeOwner& owner) {
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlRegister, nullptr), -EFAULT);
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlUnregister, reinterpret_cast<void*>(8)), -EFAULT);
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlDelete, nullptr), -EFAULT);
    abi::UserReg small{};
    small.size = 8;
    EXPECT_EQ(register_word(small), -EINVAL);
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, 0x1234, nullptr), -ENOTTY);
    EXPECT_EQ(owner.asked().size(), 1u);  // the attachment
  });
}

// The kernel looks at the declaration last: so it is the owner that finds what else is wrong.
TEST_F(RequestsTest, ADeclarationThatCannotBeReadIsToldToTheOwner) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kRegister, FakeAnswer::error(EFAULT));
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, nullptr);
    EXPECT_EQ(register_word(reg), -EFAULT);
    const Asked asked = owner.asked(Operation::kRegister)[0];
    EXPECT_EQ(asked.request.d >> 16, static_cast<std::uint64_t>(EFAULT));
    EXPECT_EQ(asked.text, "");
  });
}

TEST_F(RequestsTest, AWordIsGivenUpWhoeverIsToldOfIt) {
  with_owner([](FakeOwner& owner) {
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, "done u32 id");
    ASSERT_EQ(register_word(reg), 0);
    const ipc::Claim* const claim = claim_of(owner.asked(Operation::kRegister)[0]);
    EXPECT_EQ(unregister(&word, 30), 0);
    EXPECT_TRUE(claim->is_valid(reg.enable_addr, 31));
    EXPECT_EQ(unregister(&word), 0);
    EXPECT_FALSE(claim->is_valid(reg.enable_addr, 31));
    const Asked asked = owner.asked(Operation::kUnregister).back();
    EXPECT_EQ(asked.request.a, reg.enable_addr);
    EXPECT_EQ(asked.request.b, 31u);
    ASSERT_EQ(register_word(reg), 0);
    owner.die();
    EXPECT_LT(unregister(&word), 0);
    EXPECT_FALSE(claim->is_valid(reg.enable_addr, 31));
  });
}

TEST_F(RequestsTest, AnEventIsDeletedByItsName) {
  with_owner([](FakeOwner& owner) {
    char name[] = "done";
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlDelete, name), 0);
    EXPECT_EQ(owner.asked(Operation::kDelete)[0].text, "done");
    owner.answer(Operation::kDelete, FakeAnswer::error(EBUSY));
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlDelete, name), -EBUSY);
  });
}

// -- older generations ------------------------------------------------------------------------------------------------
TEST_F(RequestsTest, AStatusBitIsWrittenToTheStructure) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kRegisterStatusBit, FakeAnswer::number(5, 17));
    abi::UserRegStatusBit reg{};
    reg.size = sizeof reg;
    reg.name_args = reinterpret_cast<std::uint64_t>("done u32 id");
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlRegister, &reg), 0);
    EXPECT_EQ(reg.status_bit, 17u);
    EXPECT_EQ(reg.write_index, 5u);
    EXPECT_EQ(owner.asked(Operation::kRegisterStatusBit)[0].text, "done u32 id");
    EXPECT_EQ(owner.asked(Operation::kRegisterStatusBit)[0].request.file_slot, kRequestsFile.slot);
    owner.answer(Operation::kRegisterStatusBit, FakeAnswer::error(ENOSPC));
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlRegister, &reg), -ENOSPC);
  });
}

TEST_F(RequestsTest, WhatIsWithoutAWordIsAnsweredWithItsByte) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kRegisterPlain, FakeAnswer::number(42));
    char declaration[] = "done u32 id";
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlRegisterPlain, declaration), 42);
    EXPECT_EQ(owner.asked(Operation::kRegisterPlain)[0].request.file_generation, kRequestsFile.generation);
    owner.answer(Operation::kRegisterPlain, FakeAnswer::error(EINVAL));
    EXPECT_EQ(data_request(kNoDescriptor, kRequestsFile, abi::kIoctlRegisterPlain, declaration), -EINVAL);
  });
}

TEST_F(RequestsTest, TheDomainsGenerationDecidesWhatIsThere) {
  with_owner([](FakeOwner& owner) {
    owner.domain().control().abi = abi::Version::k6_1;
    std::uint32_t word = 0;
    EXPECT_EQ(unregister(&word), -ENOTTY);
    EXPECT_TRUE(owner.asked(Operation::kUnregister).empty());
  });
}

// -- fork and the next owner ------------------------------------------------------------------------------------------
TEST_F(RequestsTest, AForkIsAnnouncedWhereThereAreWords) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kRegister, FakeAnswer::number(0, 4711));
    owner.answer(Operation::kForked, FakeAnswer::number(0, 4712));
    announce_fork();
    announce_child();
    EXPECT_TRUE(owner.asked(Operation::kForking).empty());
    EXPECT_TRUE(owner.asked(Operation::kForked).empty());
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, "done u32 id");
    ASSERT_EQ(register_word(reg), 0);
    announce_fork();
    EXPECT_EQ(owner.asked(Operation::kForking).size(), 1u);
    // As the child would: it has a copy of the words of 4711, and is 4712 from here on.
    announce_child();
    ASSERT_EQ(owner.asked(Operation::kForked).size(), 1u);
    EXPECT_EQ(owner.asked(Operation::kForked)[0].request.a, 4711u);
    announce_child();
    EXPECT_EQ(owner.asked(Operation::kForked)[1].request.a, 4712u);
  });
}

TEST_F(RequestsTest, AChildWhoseOwnerRefusesItHasNoWords) {
  with_owner([](FakeOwner& owner) {
    owner.answer(Operation::kRegister, FakeAnswer::number(0, 4711));
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, "done u32 id");
    ASSERT_EQ(register_word(reg), 0);
    owner.answer(Operation::kForked, FakeAnswer::of(Kind::kHangUp));
    announce_child();  // nobody was there: it has words all the same
    owner.answer(Operation::kForked, FakeAnswer::error(ESRCH));
    const std::size_t before = owner.asked(Operation::kForked).size();
    announce_child();
    EXPECT_EQ(owner.asked(Operation::kForked).size(), before + 1);
    announce_child();
    announce_fork();
    EXPECT_EQ(owner.asked(Operation::kForked).size(), before + 1);
    EXPECT_TRUE(owner.asked(Operation::kForking).empty());
  });
}

TEST_F(RequestsTest, TheNextOwnerMaySeeTheProcessUnderAnotherPid) {
  with_owner([](FakeOwner& owner) {
    on_next_owner(5);  // no words yet
    announce_fork();
    EXPECT_TRUE(owner.asked(Operation::kForking).empty());
    owner.answer(Operation::kRegister, FakeAnswer::number(0, 4711));
    std::uint32_t word = 0;
    abi::UserReg reg = registration_of(&word, "done u32 id");
    ASSERT_EQ(register_word(reg), 0);
    on_next_owner(6);
    announce_child();
    EXPECT_EQ(owner.asked(Operation::kForked)[0].request.a, 6u);
  });
}

}  // namespace
}  // namespace landtrace::preload
