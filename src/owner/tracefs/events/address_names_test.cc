#include "tracefs/events/address_names.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "symbols/elf_file.hpp"
#include "tracefs/test_session.hpp"

namespace landtrace::tracefs {

[[gnu::noinline]] int a_function_with_a_name(int n) {
  asm volatile("" : "+r"(n));
  return n + 1;
}

namespace {

using ::testing::HasSubstr;

// A program that is gone says that this program's file was where `bias` puts it.
class AddressNames : public testing::Test {
 protected:
  static constexpr std::uint32_t kGone = 0x7fff'fff0;
  static constexpr std::uint64_t kBias = 0x5000'0000'0000, kSize = 1ull << 32;

  void note_of(std::uint32_t uid) {
    domain::Domain& domain = session_.domain();
    unwind::Object object;
    object.bias = kBias;
    object.start = kBias;
    object.end = kBias + kSize;
    const std::string id = symbols::ElfFile::open(path_)->build_id();
    ASSERT_LE(id.size(), sizeof object.build_id);
    std::memcpy(object.build_id, id.data(), id.size());
    object.build_id_size = static_cast<unsigned>(id.size());
    plan::DataSegment& data = domain.users().all()[*domain.join(uid)].data();
    unwind::note_object_at(data.objects, kGone, object, path_.c_str(), 1);
  }
  static std::uint64_t address() {
    Dl_info info{};
    void* map = nullptr;
    ::dladdr1(reinterpret_cast<void*>(&a_function_with_a_name), &info, &map, RTLD_DL_LINKMAP);
    const auto in_memory = reinterpret_cast<std::uint64_t>(&a_function_with_a_name);
    return in_memory - static_cast<link_map*>(map)->l_addr + kBias;
  }

  TestSession session_;
  programs::ProgramFunctions functions_{::geteuid()};
  const std::string path_ = std::filesystem::read_symlink("/proc/self/exe");
};

TEST_F(AddressNames, AreThoseOfFunctionsInObjectsThatProgramsHaveNoted) {
  note_of(::geteuid());
  ProducerNames names(session_.domain().users(), functions_);
  EXPECT_THAT(names.frame(address() + 1, false), HasSubstr("a_function_with_a_name(int)+0x1 [" + path_ + "]"));
  EXPECT_THAT(names.symbol(address()), HasSubstr("a_function_with_a_name(int)"));
  EXPECT_THAT(names.symbol_with_offset(address() + 1), HasSubstr("a_function_with_a_name(int)+0x1"));
}

TEST_F(AddressNames, FilesThatOtherUsersNameAreNotOpened) {
  note_of(::geteuid() + 4711);
  ProducerNames names(session_.domain().users(), functions_);
  EXPECT_EQ(names.frame(address() + 1, false), fmt::format("{}[+{:#x}]", path_, address() + 1 - kBias));
  EXPECT_EQ(names.symbol(address()), fmt::format("{:#x}", address()));
  EXPECT_EQ(names.symbol_with_offset(address()), fmt::format("{:#x}", address()));
}

}  // namespace
}  // namespace landtrace::tracefs
