#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <csignal>

#include "fuse/test_mount.hpp"

namespace landtrace::fuse::test {
namespace {

using ::testing::ElementsAre;

class MountedFiles : public MountTest {
 protected:
  void SetUp() override {
    MountTest::SetUp();
    if (folder_.empty()) return;
    status_ = std::make_shared<Status>();
  }
  std::shared_ptr<Status> status_;
};

// Any request that may have caused a change of a page is answered after it is there, or after a second
// (domain/arrivals.hpp): then the next one waits for it again.
void wait_for_pages(const std::string& file) {
  constexpr auto kLongest = std::chrono::seconds(1);
  for (int i = 0; i < 30; ++i) {
    const auto asked = std::chrono::steady_clock::now();
    (void)Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (std::chrono::steady_clock::now() - asked < kLongest) return;
  }
}

TEST_F(MountedFiles, AreReadPieceByPieceAndAgainFromTheStart) {
  serve();
  change([&] { tree_->notebook->kept = "0123456789"; });
  const Fd file = open("notebook", O_RDONLY);
  EXPECT_EQ(read_some(file.get(), 4), "0123");
  EXPECT_EQ(read_some(file.get(), 100), "456789");
  EXPECT_EQ(read_some(file.get(), 100), "");
  change([&] { tree_->notebook->kept = "other"; });
  ASSERT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
  EXPECT_EQ(read_some(file.get()), "other");
}

TEST_F(MountedFiles, ReadLongTextsWhole) {
  serve();
  change([&] { tree_->notebook->kept.assign(3'000'000, 'x'); });
  const Fd file = open("notebook", O_RDONLY);
  const auto text = read_file(at("notebook"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->size(), 3'000'000);
}

TEST_F(MountedFiles, AWriteThatTakesTurnsIsWholeAndLetsOthersPass) {
  serve();
  const Fd file = open("patient", O_WRONLY);
  const Fd other = open("notebook", O_WRONLY);
  const std::string bytes(20'000, 'x');  // a byte a turn would take long
  std::thread writer([&] { EXPECT_EQ(write_some(file.get(), bytes), 0); });
  EXPECT_TRUE(becomes_true([&] { return change([&] { return tree_->patient->turns > 0; }); }));
  EXPECT_EQ(write_some(other.get(), "me, too"), 0);
  writer.join();
  EXPECT_LT(tree_->patient->turns, bytes.size());
}

TEST_F(MountedFiles, ATextThatIsBeingMadeKeepsNobodyElseWaiting) {
  serve();
  const Fd file = open("slow", O_RDONLY | O_NONBLOCK);
  const Fd another = open("slow", O_RDONLY);
  std::thread readers[2];
  readers[0] = std::thread([&] { EXPECT_EQ(read_some(file.get()), "at last"); });
  readers[1] = std::thread([&] { EXPECT_EQ(read_some(another.get()), "at last"); });
  EXPECT_TRUE(becomes_true([&] { return change([&] { return tree_->slow->alive == 2; }); }));
  EXPECT_EQ(write_some(open("notebook", O_WRONLY).get(), "me, too"), 0);
  EXPECT_TRUE(becomes_true([&] { return change([&] { return tree_->slow->looks > 10; }); })) << "it is asked again";
  change([&] { tree_->slow->is_there = true; });
  for (std::thread& reader : readers) reader.join();
}

TEST_F(MountedFiles, WhoeverWaitsForATextMayBeKilled) {
  serve();
  const pid_t reader = ::fork();
  if (reader == 0) {
    read_some(::open(at("slow").c_str(), O_RDONLY));
    ::_exit(1);
  }
  EXPECT_TRUE(becomes_true([&] { return change([&] { return tree_->slow->alive == 1; }); }));
  ::kill(reader, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(reader, &status, 0), reader);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(becomes_true([&] { return change([&] { return tree_->slow->alive == 0; }); })) << "it is given up";
}

TEST_F(MountedFiles, EachWriteArrivesWholeWithItsCaller) {
  serve();
  const Fd file = open("notebook", O_WRONLY);
  EXPECT_EQ(write_some(file.get(), "one\n"), 0);
  const iovec parts[] = {{const_cast<char*>("tw"), 2}, {const_cast<char*>("o\n"), 2}};
  EXPECT_EQ(::writev(file.get(), parts, 2), 4);
  EXPECT_EQ(write_some(file.get(), std::string(200'000, 'x')), 0);
  EXPECT_THAT(tree_->notebook->writes, ElementsAre("one\n", "two\n", std::string(200'000, 'x')));
  EXPECT_EQ(tree_->notebook->last_caller.tid, ::syscall(SYS_gettid));
  EXPECT_EQ(tree_->notebook->last_caller.who.uid, ::geteuid());
  std::thread([&] {
    EXPECT_EQ(write_some(file.get(), "from a thread"), 0);
    EXPECT_EQ(tree_->notebook->last_caller.tid, ::syscall(SYS_gettid));
  }).join();
}

TEST_F(MountedFiles, IdsAreTranslated) {
  SessionOptions options;
  options.uids = {{0, 4000, 10}};
  options.gids = {{5, 5000, 1}};
  serve(options);
  const Fd file = open("notebook", O_WRONLY);
  ASSERT_EQ(write_some(file.get(), "x"), 0);
  EXPECT_EQ(tree_->notebook->last_caller.who.uid, 4000);
  EXPECT_EQ(tree_->notebook->last_caller.who.gid, Ids::kNobody);
}

TEST_F(MountedFiles, AreTruncatedByOpeningAlone) {
  serve();
  change([&] { tree_->notebook->kept = "old"; });
  (void)open("notebook", O_WRONLY | O_APPEND);
  EXPECT_EQ(tree_->notebook->truncations, 0);
  const Fd file = open("notebook", O_WRONLY | O_TRUNC);
  EXPECT_EQ(tree_->notebook->truncations, 1);
  EXPECT_EQ(write_some(file.get(), "new"), 0);
  EXPECT_EQ(::ftruncate(file.get(), 0), 0);
  EXPECT_EQ(tree_->notebook->kept, "new");
}

TEST_F(MountedFiles, AreWrittenByShellsAsEver) {
  serve();
  const auto shell = [&](const std::string& command) {
    return std::system(("cd " + folder_ + " && " + command).c_str());
  };
  EXPECT_EQ(shell("echo one > notebook && echo two >> notebook && grep -q two notebook"), 0);
  EXPECT_EQ(tree_->notebook->kept, "one\ntwo\n");
  EXPECT_EQ(shell("test \"$(cat notebook | wc -l)\" = 2 && test \"$(wc -c < notebook)\" = 8"), 0);
  EXPECT_EQ(shell("test \"$(tail -n 1 notebook)\" = two && cp notebook /dev/null"), 0);
  EXPECT_NE(shell("echo 22 > failing 2>/dev/null"), 0);
}

TEST_F(MountedFiles, ErrorsComeThrough) {
  serve();
  const Fd file = open("failing", O_RDWR);
  for (const int code : {EPERM, ENOENT, EBADF, EFAULT, EBUSY, EINVAL, ENODEV, E2BIG, EADDRINUSE}) {
    EXPECT_EQ(write_some(file.get(), std::to_string(code)), code);
    EXPECT_EQ(::ioctl(file.get(), 7, code), -1);
    EXPECT_EQ(errno, code);
  }
  EXPECT_EQ(write_some(file.get(), "512"), EIO) << "no number that only the kernel knows";
  EXPECT_EQ(read_some(file.get()), "errno: " + errno_text(EINVAL));
}

TEST_F(MountedFiles, IoctlsPassTheirArgumentAndResult) {
  serve();
  const Fd file = open("failing", O_RDWR);
  EXPECT_EQ(::ioctl(file.get(), 5, 1234), 1234);
  char name[64] = "left alone";
  EXPECT_EQ(::ioctl(file.get(), _IOWR('*', 0, char*), name),
            static_cast<int>(reinterpret_cast<std::uintptr_t>(name) & 0xffff));
  EXPECT_STREQ(name, "left alone");
  EXPECT_EQ(::ioctl(file.get(), 0, 0), -1);
  EXPECT_EQ(errno, ENOTTY);
}

TEST_F(MountedFiles, AreSplicedPageByPageEachOnce) {
  serve();
  change([&] { tree_->raw->pages = 20; });
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd from(ends[0]);
  const Fd to(ends[1]);
  const Fd file = open("raw", O_RDONLY);
  const Fd second = open("raw", O_RDONLY);
  std::vector<std::uint64_t> seen;
  for (;;) {
    const ssize_t moved = ::splice(file.get(), nullptr, to.get(), nullptr, 65536, SPLICE_F_MOVE);
    if (moved < 0) {
      EXPECT_EQ(errno, EAGAIN) << errno_text(errno);
      break;
    }
    ASSERT_EQ(moved % RawPages::kPage, 0);
    for (ssize_t page = 0; page < moved / static_cast<ssize_t>(RawPages::kPage); ++page) {
      const std::string bytes = read_some(from.get(), RawPages::kPage);
      ASSERT_EQ(bytes.size(), RawPages::kPage);
      std::uint64_t stamp[2];
      std::memcpy(stamp, bytes.data(), sizeof stamp);
      seen.push_back(stamp[0]);
      EXPECT_EQ(stamp[1], 0);
    }
  }
  EXPECT_EQ(seen.size(), 20);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(tree_->raw->served.size(), 20) << "no page was read ahead or twice";
  change([&] { tree_->raw->pages = 21; });
  EXPECT_EQ(read_some(file.get(), 8192).size(), RawPages::kPage) << "read() goes on where splice() was";

  ASSERT_EQ(::splice(second.get(), nullptr, to.get(), nullptr, RawPages::kPage, 0), RawPages::kPage);
  std::uint64_t stamp[2];
  std::memcpy(stamp, read_some(from.get(), RawPages::kPage).data(), sizeof stamp);
  EXPECT_THAT(stamp, ElementsAre(0, 1)) << "another open file has pages of its own";
}

TEST_F(MountedFiles, MappedPagesShowChangesAtOnce) {
  tree_->root->put("status", status_);
  serve();
  const Fd file = open("status", O_RDONLY);
  EXPECT_EQ(read_some(file.get()), "Active: 0\n");
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED && errno == ENODEV)
    GTEST_SKIP() << "this kernel maps no file that is read past the page cache";
  ASSERT_NE(mapped, MAP_FAILED) << errno_text(errno);
  const auto* const page = static_cast<volatile const unsigned char*>(mapped);
  EXPECT_EQ(page[7], 0);
  for (unsigned i = 1; i < 200; ++i) {
    change([&] {
      status_->bytes[7] = static_cast<std::byte>(i);
      session_->page_changed(status_->bytes.data(), 7, 1);
    });
    wait_for_pages(at("notebook"));
    ASSERT_EQ(page[7], i);
  }
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
  EXPECT_EQ(read_some(file.get()), "Active: 0\n");
  const Fd second = open("status", O_RDONLY);
  void* const again = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, second.get(), 0);
  ASSERT_NE(again, MAP_FAILED);
  EXPECT_EQ(static_cast<const unsigned char*>(again)[7], 199);
  EXPECT_EQ(page[7], 199);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0), MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
  EXPECT_FALSE(open("status", O_RDWR));
}

TEST_F(MountedFiles, AreNotWaitedForByRequestsThatReadThemAsTheirCallersMemory) {
  tree_->root->put("status", status_);
  status_->bytes[3] = std::byte{42};
  serve();
  const Fd data = open("data", O_RDWR);
  const Fd status = open("status", O_RDONLY);
  const Fd text = open("notebook", O_RDONLY);
  for (int i = 0; i < 20; ++i) {
    auto* const page = static_cast<char*>(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, status.get(), 0));
    ASSERT_NE(page, MAP_FAILED);
    EXPECT_EQ(::ioctl(data.get(), 9, page + 3), 42) << errno_text(errno);
    auto* const none = static_cast<char*>(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, text.get(), 0));
    ASSERT_NE(none, MAP_FAILED);
    EXPECT_EQ(::ioctl(data.get(), 9, none), -1);
    EXPECT_EQ(errno, EFAULT);
    ::munmap(page, 4096);
    ::munmap(none, 4096);
  }
}

TEST_F(MountedFiles, PagesWithoutTextAreMappedOnAnyKernelAndFollowTheDomain) {
  tree_->root->add<BytesPage>("bytes", *domain_);
  serve();
  const Fd file = open("bytes", O_RDONLY);
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED) << errno_text(errno);
  const auto* const page = static_cast<volatile const unsigned char*>(mapped);
  const auto place = change([&] { return *domain_->status_pages().take(domain::Page::kBytes); });
  EXPECT_EQ(page[place], 0);
  for (const bool on : {true, false, true}) {
    change([&] { domain_->status_pages().set(domain::Page::kBytes, place, on); });
    wait_for_pages(at("notebook"));
    EXPECT_EQ(page[place] != 0, on);
  }
}

// Each program under `landtrace run --tracefs` has a mount of its own.
TEST_F(MountedFiles, ChangesMadeThroughOneMountAreInTheMappingsOfAnotherWhenTheyAreAnswered) {
  tree_->root->add<BytesPage>("bytes", *domain_);
  serve();
  std::string other = (std::filesystem::temp_directory_path() / "landtrace-fuse-XXXXXX").string();
  ASSERT_NE(::mkdtemp(other.data()), nullptr);
  auto fuse = mount_here(other, {});
  ASSERT_TRUE(fuse) << fuse.error().message;
  auto session = Session::serve(*domain_, tree_->root, *std::move(fuse), {});
  ASSERT_TRUE(session) << session.error().message;
  {
    const Fd file = open("bytes", O_RDONLY);
    void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED) << errno_text(errno);
    const auto* const page = static_cast<volatile const unsigned char*>(mapped);
    // Many, so that the last one takes longer than a request.
    const auto place = change([&] {
      for (int i = 0; i < 3000; ++i) std::ignore = domain_->status_pages().take(domain::Page::kBytes);
      return *domain_->status_pages().take(domain::Page::kBytes);
    });
    for (int i = 0; i < 20; ++i) {
      const bool on = i % 2 == 0;
      change([&] {
        for (std::uint32_t each = 1; each <= place; ++each) domain_->status_pages().set(domain::Page::kBytes, each, on);
      });
      wait_for_pages(other + "/notebook");
      ASSERT_EQ(page[place] != 0, on) << i;
    }
    ::munmap(mapped, 4096);
  }
  (void)unmount(other);
  session->reset();
  ::rmdir(other.c_str());
}

TEST_F(MountedFiles, PagesForSpliceThatSomebodyMapsAllTheSameDescribeNothing) {
  tree_->root->put("status", status_);
  serve();
  change([&] { tree_->raw->pages = 3; });
  const Fd file = open("raw", O_RDONLY);
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED && errno == ENODEV)
    GTEST_SKIP() << "this kernel maps no file that is read past the page cache";
  ASSERT_NE(mapped, MAP_FAILED) << errno_text(errno);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(static_cast<const char*>(mapped)[i], 0);
  ::munmap(mapped, 4096);
  EXPECT_TRUE(tree_->raw->served.empty()) << "nothing was taken from the buffer";
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd from(ends[0]);
  const Fd to(ends[1]);
  ASSERT_EQ(::splice(file.get(), nullptr, to.get(), nullptr, 65536, 0), 4 * RawPages::kPage);
  EXPECT_EQ(read_some(from.get()), std::string(RawPages::kPage, '\0')) << "an empty page before the others";
  EXPECT_EQ(tree_->raw->served, (std::multiset<std::uint64_t>{0, 1, 2}));
}

TEST_F(MountedFiles, WithoutPagesCannotBeMapped) {
  serve();
  const Fd file = open("raw", O_RDONLY);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0), MAP_FAILED);
  EXPECT_EQ(errno, ENODEV);
}

TEST_F(MountedFiles, ThousandsAreOpenAtOnce) {
  serve();
  std::vector<Fd> files;
  for (int i = 0; i < 900; ++i) {
    files.push_back(open(i % 2 == 0 ? "notebook" : "raw", O_RDONLY));
    ASSERT_TRUE(files.back()) << i << ": " << errno_text(errno);
  }
  for (int i = 0; i < 20000; ++i) ASSERT_TRUE(open("raw", O_RDONLY)) << i;
}

}  // namespace
}  // namespace landtrace::fuse::test
