// The user_events of 6.0 and 6.1 (a page of bits) and of the 2021 proposal (a page of bytes, writes without an index).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "domain/domain.hpp"
#include "domain/proxy.hpp"
#include "domain/status.hpp"

namespace landtrace::domain {
namespace {

constexpr std::uint32_t kGuest = 65533;

class OlderAbisTest : public testing::Test {
 protected:
  explicit OlderAbisTest(abi::Version abi = abi::Version::k6_12)
      : domain_(*Domain::create({.ring_bytes = 1 << 18, .abi = abi})) {}

  FileId open_file() { return *domain_->registrar().open_file(mine_); }
  Event* find(std::string_view name) { return domain_->events().find(kSystem, name); }
  void listen(std::string_view name, bool on) {
    ASSERT_TRUE(domain_->listening().set(domain_->top(), {find(name)}, on));
  }
  [[nodiscard]] bool bit(std::uint32_t place) const {
    return (std::to_integer<unsigned>(domain_->status_pages().bits()[place / 8]) >> place % 8 & 1) != 0;
  }
  [[nodiscard]] unsigned byte(std::uint32_t place) const {
    return std::to_integer<unsigned>(domain_->status_pages().bytes()[place]);
  }
  ssize_t write(Proxy& proxy, FileId file, std::string text) {
    const iovec bytes{text.data(), text.size()};
    return proxy.write(file, static_cast<std::uint32_t>(::getpid()), mine_, std::span(&bytes, 1));
  }
  std::string status() { return status_text(domain_->events(), domain_->abi()); }

  std::uint32_t mine_ = ::geteuid();
  std::unique_ptr<Domain> domain_;
};

class KernelSixOneTest : public OlderAbisTest {
 protected:
  KernelSixOneTest() : OlderAbisTest(abi::Version::k6_1) {}
};

TEST_F(OlderAbisTest, ABitSaysWhetherAnybodyListens) {
  const auto made = domain_->registrar().register_status_bit(open_file(), "e1 u32 x", mine_);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->index, 0u);
  EXPECT_EQ(made->bit, 1u) << "0 is nobody's";
  EXPECT_FALSE(bit(made->bit));
  listen("e1", true);
  EXPECT_TRUE(bit(made->bit));
  listen("e1", false);
  EXPECT_FALSE(bit(made->bit));
}

TEST_F(OlderAbisTest, TheLowestFreePlaceIsTakenAndADeletedEventGivesItsOwnBack) {
  const FileId file = open_file();
  EXPECT_EQ(domain_->registrar().register_status_bit(file, "e1", mine_)->bit, 1u);
  EXPECT_EQ(domain_->registrar().register_status_bit(file, "e2", mine_)->bit, 2u);
  EXPECT_EQ(domain_->registrar().register_status_bit(file, "e1", mine_)->bit, 1u);
  EXPECT_EQ(domain_->registrar().remove_event("e1", mine_).error().code, EBUSY) << "the file holds it";
  domain_->files().close(file);
  ASSERT_TRUE(domain_->registrar().remove_event("e1", mine_)) << "it stayed until it was deleted";
  EXPECT_EQ(domain_->registrar().register_status_bit(open_file(), "e3", mine_)->bit, 1u);
}

TEST_F(OlderAbisTest, AGuestsEventsGoWithTheirFiles) {
  const FileId file = *domain_->registrar().open_file(kGuest);
  ASSERT_TRUE(domain_->registrar().register_status_bit(file, "e1", kGuest));
  domain_->files().close(file);
  EXPECT_EQ(find("e1"), nullptr);
  EXPECT_EQ(domain_->registrar().register_status_bit(open_file(), "e2", mine_)->bit, 1u) << "and so did the bit";
}

TEST_F(OlderAbisTest, OneEventMayBeKnownByAllThreeWays) {
  const auto old = domain_->registrar().register_status_bit(open_file(), "e1 u32 x", mine_);
  const auto older = domain_->registrar().register_plain(open_file(), "e1 u32 x", mine_);
  std::uint32_t word = 0;
  ASSERT_TRUE(domain_->registrar().register_for_file(open_file(), static_cast<std::uint32_t>(::getpid()),
                                                     {mine_, ::getegid()},
                                                     {"e1 u32 x", 0, {reinterpret_cast<std::uint64_t>(&word), 3}, 4}));
  listen("e1", true);
  EXPECT_TRUE(bit(old->bit));
  EXPECT_EQ(byte(*older), 1u);
  EXPECT_EQ(word, 8u);
  domain_->shut_down();
  EXPECT_FALSE(bit(old->bit));
  EXPECT_EQ(byte(*older), 0u);
  EXPECT_EQ(word, 0u);
}

TEST_F(OlderAbisTest, PlainWritesAreForTheEventThatTheFileRegisteredLast) {
  Proxy proxy(*domain_);
  const FileId file = open_file();
  ASSERT_EQ(*domain_->registrar().register_plain(file, "e1 u32 x", mine_), 1u);
  EXPECT_EQ(write(proxy, file, "1234"), -EBADF) << "nobody listens";
  listen("e1", true);
  EXPECT_EQ(write(proxy, file, "123"), -EINVAL);
  EXPECT_EQ(write(proxy, file, "1234"), 4);
  ASSERT_EQ(*domain_->registrar().register_plain(file, "e2 u64 x", mine_), 2u);
  EXPECT_EQ(write(proxy, file, "12345678"), -EBADF);
  listen("e2", true);
  EXPECT_EQ(write(proxy, file, "1234"), -EINVAL);
  EXPECT_EQ(write(proxy, file, "12345678"), 8);
  ASSERT_EQ(*domain_->registrar().register_plain(file, "e1 u32 x", mine_), 1u);
  EXPECT_EQ(write(proxy, file, "1234"), 4);
  listen("e2", false);
  EXPECT_EQ(domain_->registrar().remove_event("e2", mine_).error().code, EBUSY)
      << "the file refers to what it registered";
  domain_->files().close(file);
  EXPECT_EQ(write(proxy, file, "1234"), -ENOENT);
  EXPECT_TRUE(domain_->registrar().remove_event("e2", mine_));
}

TEST_F(OlderAbisTest, AFilesWritesHaveOneFormOnly) {
  const FileId plain = open_file();
  const FileId indexed = open_file();
  ASSERT_TRUE(domain_->registrar().register_plain(plain, "e1", mine_));
  ASSERT_TRUE(domain_->registrar().register_status_bit(indexed, "e2", mine_));
  EXPECT_EQ(domain_->registrar().register_status_bit(plain, "e3", mine_).error().code, EINVAL);
  EXPECT_EQ(domain_->registrar().register_plain(indexed, "e3", mine_).error().code, EINVAL);
  EXPECT_EQ(find("e3"), nullptr) << "what is refused leaves nothing";
  EXPECT_EQ(domain_->registrar().register_plain({7, 7}, "e3", mine_).error().code, EBADF);
}

TEST_F(OlderAbisTest, APageOfBytesHoldsAPagefulOfEvents) {
  const FileId file = open_file();
  for (std::uint32_t i = 1; i < StatusPages::kSize; ++i) {
    ASSERT_EQ(*domain_->registrar().register_plain(file, "e" + std::to_string(i), mine_), i);
  }
  const auto refused = domain_->registrar().register_plain(*domain_->registrar().open_file(kGuest), "one_more", kGuest);
  EXPECT_EQ(refused.error().code, EMFILE);
  EXPECT_EQ(find("one_more"), nullptr);
}

class PageWatcher : public StatusPages::Watcher {
 public:
  void page_changed(Page page, std::size_t offset) override { told.emplace_back(page, offset); }
  std::vector<std::pair<Page, std::size_t>> told;
};

TEST_F(OlderAbisTest, ChangesOfThePagesAreTold) {
  PageWatcher watcher;
  domain_->status_pages().add_watcher(watcher);
  const FileId file = open_file();
  for (int i = 1; i <= 8; ++i)
    ASSERT_TRUE(domain_->registrar().register_status_bit(file, "e" + std::to_string(i), mine_));
  ASSERT_TRUE(domain_->registrar().register_plain(open_file(), "e8", mine_));
  listen("e8", true);
  const std::vector<std::pair<Page, std::size_t>> expected{{Page::kBits, 1}, {Page::kBytes, 1}};
  EXPECT_EQ(watcher.told, expected);
  domain_->status_pages().remove_watcher(watcher);
  listen("e8", false);
  EXPECT_EQ(watcher.told.size(), 2u);
}

TEST_F(OlderAbisTest, APageCanBeMappedForReadingOnly) {
  for (const Page page : {Page::kBits, Page::kBytes}) {
    const int fd = domain_->status_pages().fd(page);
    const auto mapped = Mapping::map(fd, StatusPages::kSize, Mapping::Access::kReadOnly);
    ASSERT_TRUE(mapped);
    EXPECT_EQ(::mmap(nullptr, StatusPages::kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    EXPECT_EQ(errno, EACCES);
    const std::string again = "/proc/self/fd/" + std::to_string(fd);
    const Fd writable(::open(again.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_FALSE(Mapping::map(writable.get(), StatusPages::kSize, Mapping::Access::kReadWrite));
    EXPECT_LT(::write(writable.get(), "x", 1), 0);
  }
}

TEST_F(KernelSixOneTest, TheStatusTextIsThatKernels) {
  ASSERT_TRUE(domain_->registrar().register_status_bit(open_file(), "e1 u32 x", mine_));
  EXPECT_EQ(status(), "1:e1\n\nActive: 1\nBusy: 0\nMax: 32768\n");
  listen("e1", true);
  EXPECT_EQ(status(), "1:e1 # Used by ftrace\n\nActive: 1\nBusy: 1\nMax: 32768\n");
}

TEST_F(KernelSixOneTest, ANameIsEnoughToFindAnEvent) {
  const FileId file = open_file();
  ASSERT_TRUE(domain_->registrar().register_status_bit(file, "e1 u32 x", mine_));
  const auto other = domain_->registrar().register_status_bit(file, "e1 u64 x", mine_);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->index, 0u);
  EXPECT_EQ(other->bit, 1u);
}

TEST_F(KernelSixOneTest, FlagsBehindANameSayNothing) {
  const FileId file = open_file();
  ASSERT_TRUE(domain_->registrar().register_status_bit(file, "e1:BPF_ITER,FLAG_FUTURE u32 x", mine_));
  EXPECT_EQ(domain_->registrar().register_status_bit(file, "e1 u32 x", mine_)->index, 0u);
  EXPECT_EQ(status(), "1:e1\n\nActive: 1\nBusy: 0\nMax: 32768\n");
  EXPECT_EQ(domain_->registrar().remove_event("e1:BPF_ITER", mine_).error().code, ENOENT)
      << "to be deleted it has its name alone";
}

TEST_F(OlderAbisTest, ElsewhereFlagsBehindANameAreRefused) {
  EXPECT_EQ(domain_->registrar().register_status_bit(open_file(), "e1:BPF_ITER u32 x", mine_).error().code, EINVAL);
}

TEST_F(OlderAbisTest, ElsewhereTheFieldsMustBeTheSame) {
  ASSERT_TRUE(domain_->registrar().register_status_bit(open_file(), "e1 u32 x", mine_));
  EXPECT_EQ(domain_->registrar().register_status_bit(open_file(), "e1 u64 x", mine_).error().code, EADDRINUSE);
}

}  // namespace
}  // namespace landtrace::domain
