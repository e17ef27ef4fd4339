// Words in other processes' memory: whose they may be, and what happens where the memory is gone.
#include "domain/enable_words.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "domain/domain.hpp"

namespace landtrace::domain {
namespace {

constexpr std::size_t kPage = 4096;

Identity myself() { return {::geteuid(), ::getegid()}; }
std::uint32_t my_pid() { return static_cast<std::uint32_t>(::getpid()); }
EnableBit bit_at(const void* at) { return {reinterpret_cast<std::uint64_t>(at), 0}; }

class WordsTest : public testing::Test {
 protected:
  Result<std::uint32_t> register_word(const void* at, const char* text = "e1") {
    const auto file = domain_->registrar().open_file(myself().uid);
    return domain_->registrar().register_for_file(*file, my_pid(), myself(), {text, 0, bit_at(at), 4});
  }
  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
};

TEST_F(WordsTest, UnregisteringAWordThatIsGoneSaysSoAndUnregisters) {
  void* const page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(register_word(page));
  ::munmap(page, kPage);
  EXPECT_EQ(domain_->enable_words().remove(my_pid(), myself(), bit_at(page)).error().code, EFAULT);
  EXPECT_EQ(domain_->enable_words().remove(my_pid(), myself(), bit_at(page)).error().code, ENOENT);
}

TEST_F(WordsTest, OnlyTheSameUserForksAProcess) {
  std::uint32_t word = 0;
  ASSERT_TRUE(register_word(&word));
  const Identity other{myself().uid + 1, myself().gid};
  EXPECT_EQ(domain_->enable_words().duplicate(my_pid(), 1, other).error().code, EPERM);
  EXPECT_EQ(domain_->enable_words().expect_child(my_pid(), other).error().code, EPERM);
  EXPECT_TRUE(domain_->enable_words().expect_child(my_pid(), myself()));
}

}  // namespace
}  // namespace landtrace::domain
