// Owners one after the other at one place, and what the later ones know. Each is a Domain of this process; one that is
// killed goes without shut_down(). Programs under the shim and the library are in tests/restart.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "domain/data_call.hpp"
#include "domain/status.hpp"
#include "programs/test_client.hpp"

namespace landtrace::domain {
namespace {

using programs::TestClient;

constexpr unsigned kRegisterRequest = 0xc0082a00;

class RestoreTest : public testing::Test {
 protected:
  void SetUp() override { next(); }
  void TearDown() override {
    domain_.reset();
    for (const char* const end : {"", ".bits", ".bytes"}) std::filesystem::remove(path_ + end);
  }
  // The owner is killed, and another one comes.
  void next() {
    domain_.reset();
    domain_ = *Domain::create({.ring_bytes = 1 << 18, .abi = abi_});
    ASSERT_TRUE(domain_->succession().keep_journal(path_, Successor::kMayCome));
  }
  FileId open(const TestClient& client) { return *domain_->registrar().open_file(::geteuid(), client.pid()); }
  // As through a mount: without a claim.
  int register_for(TestClient& client, FileId file, const std::string& name) {
    const auto result = data_request(*domain_, file, client.pid(), {::geteuid(), ::getegid()}, kRegisterRequest,
                                     client.ask("reg " + name));
    return result ? *result : -result.error().code;
  }
  void listen(bool on) { ASSERT_TRUE(domain_->listening().set(domain_->top(), domain_->events().all(), on)); }
  bool exists(std::string_view name) { return domain_->events().find(kSystem, name) != nullptr; }
  bool is_kept() const { return std::filesystem::exists(path_); }

  abi::Version abi_ = abi::Version::k6_12;
  std::string path_ = testing::TempDir() + "restore_test-" + std::to_string(::getpid()) + ".state";
  std::unique_ptr<Domain> domain_;
};

TEST_F(RestoreTest, AWordThatCameThroughAMountFollowsTheNextOwner) {
  TestClient client;
  ASSERT_EQ(register_for(client, open(client), "e1"), 0);
  next();
  listen(true);
  EXPECT_EQ(client.ask("word"), 1u);
  listen(false);
  EXPECT_EQ(client.ask("word"), 0u);
}

TEST_F(RestoreTest, AWordThatCameThroughAMountMayBeRegisteredAnewOnce) {
  TestClient client;
  ASSERT_EQ(register_for(client, open(client), "e1"), 0);
  listen(true);
  next();
  const FileId file = open(client);
  EXPECT_EQ(register_for(client, file, "e2"), 0);
  EXPECT_EQ(client.ask("word"), 0u);
  EXPECT_EQ(register_for(client, file, "e3"), -EADDRINUSE);
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {domain_->events().find(kSystem, "e1")}, true));
  EXPECT_EQ(client.ask("word"), 0u) << "it is the other event's";
  listen(true);
  EXPECT_EQ(client.ask("word"), 1u);
}

TEST_F(RestoreTest, AWordWithoutAClaimThatHoldsSomethingElseByNowIsLeftAlone) {
  alignas(8) std::uint64_t word = 0;
  const auto me = static_cast<std::uint32_t>(::getpid());
  const Identity who{::geteuid(), ::getegid()};
  const EnableBit bit{reinterpret_cast<std::uint64_t>(&word), 3};
  ASSERT_TRUE(
      domain_->registrar().register_for_file(*domain_->registrar().open_file(who.uid, me), me, who, {"e1", 0, bit, 4}));
  word = 0x1234;
  next();
  listen(true);
  listen(false);
  EXPECT_EQ(word, 0x1234u);
}

TEST_F(RestoreTest, AChildThatWasForkedWithoutAnOwnerHasTheWordsOfItsParentsMount) {
  TestClient client;
  ASSERT_EQ(register_for(client, open(client), "e1"), 0);
  domain_.reset();
  const std::uint32_t parent = client.pid();
  client.become("fork");
  next();
  listen(true);
  EXPECT_EQ(client.ask("word"), 1u);
  client.quit_to(parent);
  EXPECT_EQ(client.ask("word"), 1u);
}

TEST_F(RestoreTest, AFileIsKeptForTheProcessThatOpenedIt) {
  auto client = std::make_unique<TestClient>();
  const FileId file = open(*client);
  ASSERT_TRUE(domain_->registrar().register_plain(file, "e1", ::geteuid()));
  next();
  EXPECT_TRUE(domain_->files().check(file));
  EXPECT_EQ(domain_->files().keepers(), std::vector{client->pid()});
  client.reset();
  next();
  EXPECT_FALSE(domain_->files().check(file));
}

TEST_F(RestoreTest, APageThatIsMappedShowsTheNextOwnersListeners) {
  const FileId file = *domain_->registrar().open_file(::geteuid(), static_cast<std::uint32_t>(::getpid()));
  const auto gone = domain_->registrar().register_status_bit(file, "gone", ::geteuid());
  const auto bit = domain_->registrar().register_status_bit(file, "e1", ::geteuid());
  const FileId plain = *domain_->registrar().open_file(::geteuid(), static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(domain_->registrar().register_plain(plain, "gone", ::geteuid()));
  const auto byte = domain_->registrar().register_plain(plain, "e1", ::geteuid());
  listen(true);
  const auto map = [&](Page page) {
    void* const at = ::mmap(nullptr, StatusPages::kSize, PROT_READ, MAP_SHARED, domain_->status_pages().fd(page), 0);
    EXPECT_NE(at, MAP_FAILED);
    return static_cast<const volatile unsigned char*>(at);
  };
  const auto* const bits = map(Page::kBits);
  const auto* const bytes = map(Page::kBytes);
  const auto shown = [&] { return std::pair{(bits[bit->bit / 8] & 1u << bit->bit % 8) != 0, bytes[*byte] != 0}; };
  EXPECT_EQ(shown(), std::pair(true, true));
  next();
  EXPECT_EQ(shown(), std::pair(false, false));
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {domain_->events().find(kSystem, "e1")}, true));
  EXPECT_EQ(shown(), std::pair(true, true));
  EXPECT_EQ(bits[gone->bit / 8] & 1u << gone->bit % 8, 0u);
  EXPECT_EQ(domain_->registrar().register_status_bit(file, "e1", ::geteuid())->bit, bit->bit);
  EXPECT_EQ(domain_->registrar().register_plain(plain, "e1", ::geteuid()).value_or(0), *byte);
  EXPECT_FALSE(::mmap(nullptr, StatusPages::kSize, PROT_WRITE, MAP_SHARED, domain_->status_pages().fd(Page::kBits),
                      0) != MAP_FAILED);
}

TEST_F(RestoreTest, PagesThatOthersMayWriteAreNotGoneOnWith) {
  const auto* const before = domain_->status_pages().bits();
  ASSERT_NE(before, nullptr);
  struct stat old {};
  ASSERT_EQ(::stat((path_ + ".bits").c_str(), &old), 0);
  ASSERT_EQ(::chmod((path_ + ".bits").c_str(), 0666), 0);
  const Fd held(::open((path_ + ".bits").c_str(), O_RDONLY | O_CLOEXEC));  // so that its number is not given again
  next();
  struct stat fresh {};
  ASSERT_EQ(::stat((path_ + ".bits").c_str(), &fresh), 0);
  EXPECT_NE(fresh.st_ino, old.st_ino);
  EXPECT_EQ(fresh.st_mode & 0777, 0644u);
}

TEST_F(RestoreTest, AnOwnerThatEndsInGoodOrderClearsAllAndLeavesItToTheNext) {
  TestClient client;
  ASSERT_EQ(register_for(client, open(client), "e1"), 0);
  listen(true);
  domain_->shut_down();
  EXPECT_EQ(client.ask("word"), 0u);
  EXPECT_TRUE(is_kept());
  next();
  EXPECT_TRUE(exists("e1"));
  EXPECT_EQ(client.ask("word"), 0u);
  listen(true);
  EXPECT_EQ(client.ask("word"), 1u);
}

TEST_F(RestoreTest, WhereNothingIsLeftToTakeOverNothingIsLeft) {
  {
    TestClient client;
    const FileId file = open(client);
    ASSERT_EQ(register_for(client, file, "e1"), 0);
    domain_->files().close(file);
  }
  domain_->shut_down();
  EXPECT_FALSE(is_kept());
  EXPECT_FALSE(std::filesystem::exists(path_ + ".bits"));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".bytes"));
}

TEST_F(RestoreTest, AJournalThatIsDamagedIsSaidAndKeptBeside) {
  domain_->succession().end();
  std::ofstream(path_) << "this is no journal, and long enough to have had a first record that says how much follows";
  std::filesystem::permissions(path_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  next();
  const std::string aside = path_ + ".damaged";
  EXPECT_EQ(domain_->succession().damage(), path_ + " is no journal; it is now " + aside);
  EXPECT_TRUE(std::filesystem::remove(aside));
  next();
  EXPECT_EQ(domain_->succession().damage(), "");
}

TEST_F(RestoreTest, WhereNobodyIsToComeNothingIsLeft) {
  TestClient client;
  domain_ = *Domain::create({.ring_bytes = 1 << 18});
  ASSERT_TRUE(domain_->succession().keep_journal(path_, Successor::kNone));
  ASSERT_EQ(register_for(client, open(client), "e1"), 0);
  domain_->shut_down();
  EXPECT_FALSE(is_kept());
  EXPECT_FALSE(std::filesystem::exists(path_ + ".bits"));
}

class RestoreSixOneTest : public RestoreTest {
 protected:
  RestoreSixOneTest() { abi_ = abi::Version::k6_1; }
};

TEST_F(RestoreSixOneTest, EventsThatStayHaveTheirBitsWithTheNextOwner) {
  const FileId file = *domain_->registrar().open_file(::geteuid(), 0);
  ASSERT_TRUE(domain_->registrar().register_status_bit(file, "first", ::geteuid()));
  ASSERT_TRUE(domain_->registrar().register_status_bit(file, "second", ::geteuid()));
  domain_->files().close(file);
  ASSERT_TRUE(domain_->registrar().remove_event("first", ::geteuid()));
  next();
  EXPECT_EQ(domain_->events().find(kSystem, "second")->status_bit, 2u);
  const FileId fresh = *domain_->registrar().open_file(::geteuid(), 0);
  EXPECT_EQ(domain_->registrar().register_status_bit(fresh, "third", ::geteuid())->bit, 1u);
}

}  // namespace
}  // namespace landtrace::domain
