// Maps, programs and perf events of the domain, by libc's functions as tools of the kernel's call them; and what
// becomes of their descriptors.
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <thread>

#include "arch/clock.hpp"
#include "bpf/maps/perf.hpp"
#include "bpf/program.hpp"
#include "bpf/test_code.hpp"
#include "bpf_calls/descriptors.hpp"
#include "bpf_calls/timers.hpp"
#include "client/fake_owner.hpp"
#include "client/process.hpp"
#include "ipc/bpf_requests.hpp"
#include "preload/real.hpp"
#include "preload/requests.hpp"

namespace landtrace::preload {
namespace {

using client::Asked;
using client::ClientTest;
using client::FakeAnswer;
using client::FakeOwner;
using ipc::Operation;

constexpr std::uint32_t kMapNumber = 31;
constexpr std::uint32_t kProgramNumber = 41;
// Asked for the record alone.
constexpr Operation kMark = Operation::kAbout;

long bpf_call(int command, bpf_attr& call) { return ::syscall(SYS_bpf, command, &call, sizeof call); }

class InterposeBpfTest : public ClientTest {
 protected:
  // The body runs in a child of the owner's process, as in a program that has loaded the shim. Returns what the owner
  // was asked: a letter for each request, L only once for each load.
  std::string with_owner(
      const std::function<void(FakeOwner&)>& body,
      const std::function<void(FakeOwner&)>& prepare_more = [](FakeOwner&) {}) {
    FakeOwner owner(path());
    prepare(owner);
    prepare_more(owner);
    in_child([&] {
      ::pthread_atfork(announce_fork, announce_parent, announce_child);
      body(owner);
    });
    const std::map<Operation, char> letters{{Operation::kBpfMap, 'm'},
                                            {Operation::kBpfCode, 'c'},
                                            {Operation::kBpfLoad, 'l'},
                                            {Operation::kBpfDrop, 'D'},
                                            {kMark, '|'}};
    std::string story;
    for (const Asked& one : owner.asked()) {
      const auto letter = letters.find(one.request.operation);
      if (letter != letters.end() && (letter->second != 'l' || !story.ends_with('l'))) story += letter->second;
    }
    return story;
  }
  static void mark() { EXPECT_TRUE(client::Process::get().ask({.operation = kMark})); }

  int create_map(std::uint32_t kind, std::uint32_t flags = 0) const {
    bpf_attr call{};
    call.map_type = kind;
    call.map_flags = flags;
    call.key_size = 4;
    call.value_size = kind == BPF_MAP_TYPE_PERF_EVENT_ARRAY ? 4 : 8;
    call.max_entries = 1;
    return static_cast<int>(bpf_call(BPF_MAP_CREATE, call));
  }
  static int load_program(std::uint32_t type) {
    static constexpr std::uint64_t kInstructions[] = {0xb7, 0x95};  // r0 = 0; exit
    bpf_attr call{};
    call.prog_type = type;
    call.insns = reinterpret_cast<std::uint64_t>(kInstructions);
    call.insn_cnt = std::size(kInstructions);
    call.license = reinterpret_cast<std::uint64_t>("GPL");
    return static_cast<int>(bpf_call(BPF_PROG_LOAD, call));
  }
  // Of element 0: what the call says.
  static int element_call(int command, int map) {
    std::uint32_t key = 0;
    std::uint64_t value = 0;
    bpf_attr call{};
    call.map_fd = static_cast<std::uint32_t>(map);
    call.key = command == BPF_MAP_GET_NEXT_KEY ? 0 : reinterpret_cast<std::uint64_t>(&key);
    call.value = reinterpret_cast<std::uint64_t>(&value);
    return bpf_call(command, call) == 0 ? 0 : errno;
  }
  static int freeze(int map) {
    bpf_attr call{};
    call.map_fd = static_cast<std::uint32_t>(map);
    return bpf_call(BPF_MAP_FREEZE, call) == 0 ? 0 : errno;
  }
  static int error_of_mapping(int map, int protection) {
    return ::mmap(nullptr, kData, protection, MAP_SHARED, map, 0) == MAP_FAILED ? errno : 0;
  }
  static bool is_object(int fd) {
    bpf_map_info info{};
    bpf_attr call{};
    call.info.bpf_fd = static_cast<std::uint32_t>(fd);
    call.info.info_len = sizeof info;
    call.info.info = reinterpret_cast<std::uint64_t>(&info);
    return bpf_call(BPF_OBJ_GET_INFO_BY_FD, call) == 0;
  }
  static long run_program(int fd) {
    bpf_attr call{};
    call.test.prog_fd = static_cast<std::uint32_t>(fd);
    return bpf_call(BPF_PROG_TEST_RUN, call);
  }
  static int open_event(std::uint64_t config, std::uint64_t period = 1) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = config;
    attr.sample_period = period;
    return static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0ul));
  }
  // A perf event of type BPF_OUTPUT in the map's only slot.
  static int open_buffer(int map) {
    const int fd = open_event(PERF_COUNT_SW_BPF_OUTPUT);
    EXPECT_NE(::mmap(nullptr, 2 * bpf::kMapPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    const std::uint32_t slot = 0;
    bpf_attr call{};
    call.map_fd = static_cast<std::uint32_t>(map);
    call.key = reinterpret_cast<std::uint64_t>(&slot);
    call.value = reinterpret_cast<std::uint64_t>(&fd);
    EXPECT_EQ(bpf_call(BPF_MAP_UPDATE_ELEM, call), 0);
    return fd;
  }
  [[nodiscard]] std::uint64_t* word_of_slot(FakeOwner& owner, std::uint32_t at) const {
    return bpf::PerfSlots(reinterpret_cast<std::byte*>(&owner.domain().data()), layout_).word(0, at);
  }
  // What producers look at: somebody reads there.
  [[nodiscard]] std::uint64_t size_of_slot(FakeOwner& owner) const { return *word_of_slot(owner, bpf::kPerfDataSize); }
  static bool is_buffer(int fd) { return ::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0; }
  // Status 0: `body` has come to its end.
  static void in_forked_child(const std::function<void()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      constexpr unsigned kLongest_s = 20;
      ::alarm(kLongest_s);
      body();
      ::_exit(HasFailure() ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "in the forked child";
  }

  static constexpr std::size_t kData = bpf::kMapPage;

 private:
  void prepare(FakeOwner& owner) {
    layout_.place = owner.domain().reserve(2 * bpf::kMapPage);
    layout_.bytes = 2 * std::uint64_t{bpf::kMapPage};
    layout_.stride = 2 * bpf::kMapPage;
    layout_.max_entries = layout_.rows = 1;
    owner.answer(Operation::kBpfMap, [this](const Asked& asked) {
      ipc::BpfMapWish wish{};
      std::memcpy(&wish, asked.text.data(), sizeof wish);
      bpf::MapLayout layout = layout_;
      layout.kind = wish.kind;
      layout.flags = wish.flags;
      layout.key_size = wish.key_size;
      layout.value_size = wish.value_size;
      FakeAnswer answer = FakeAnswer::number(kMapNumber);
      answer.text.assign(reinterpret_cast<const char*>(&layout), sizeof layout);
      return answer;
    });
    bpf::Program head{};
    head.frames = 1;
    head.instruction_count = 2;
    head.figures = owner.domain().reserve(sizeof(bpf::Figures));
    const std::uint32_t at = owner.domain().put(head, std::vector{bpf::code::set(0, 0), bpf::code::leave()});
    owner.answer(Operation::kBpfLoad, FakeAnswer::number(kProgramNumber, at));
  }

  bpf::MapLayout layout_{};
};

TEST_F(InterposeBpfTest, AFrozenMapIsReadAlone) {
  with_owner([&](FakeOwner&) {
    const int map = create_map(BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE);
    EXPECT_EQ(element_call(BPF_MAP_UPDATE_ELEM, map), 0);
    EXPECT_EQ(error_of_mapping(map, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(freeze(map), 0);
    EXPECT_EQ(element_call(BPF_MAP_UPDATE_ELEM, map), EPERM);
    EXPECT_EQ(element_call(BPF_MAP_DELETE_ELEM, map), EPERM);
    EXPECT_EQ(element_call(BPF_MAP_LOOKUP_ELEM, map), 0);
    EXPECT_EQ(element_call(BPF_MAP_GET_NEXT_KEY, map), 0);
    EXPECT_EQ(error_of_mapping(map, PROT_READ | PROT_WRITE), EPERM);
    EXPECT_EQ(error_of_mapping(map, PROT_READ), 0);
    EXPECT_EQ(freeze(map), EPERM);
    EXPECT_EQ(freeze(create_map(BPF_MAP_TYPE_ARRAY, BPF_F_RDONLY)), EPERM);
    EXPECT_EQ(element_call(BPF_MAP_FREEZE, create_map(BPF_MAP_TYPE_ARRAY)), EINVAL);
  });
}

TEST_F(InterposeBpfTest, AMapMayBeForReadingOrWritingAlone) {
  with_owner([&](FakeOwner&) {
    const int read = create_map(BPF_MAP_TYPE_ARRAY, BPF_F_RDONLY | BPF_F_MMAPABLE);
    EXPECT_EQ(element_call(BPF_MAP_UPDATE_ELEM, read), EPERM);
    EXPECT_EQ(element_call(BPF_MAP_LOOKUP_ELEM, read), 0);
    EXPECT_EQ(error_of_mapping(read, PROT_READ), 0);
    EXPECT_EQ(error_of_mapping(read, PROT_READ | PROT_WRITE), EACCES);
    const int written = create_map(BPF_MAP_TYPE_ARRAY, BPF_F_WRONLY | BPF_F_MMAPABLE);
    EXPECT_EQ(element_call(BPF_MAP_UPDATE_ELEM, written), 0);
    EXPECT_EQ(element_call(BPF_MAP_LOOKUP_ELEM, written), EPERM);
    EXPECT_EQ(element_call(BPF_MAP_GET_NEXT_KEY, written), EPERM);
    EXPECT_EQ(error_of_mapping(written, PROT_READ), EACCES);
    // Of programs: the tool fills it.
    const int settings = create_map(BPF_MAP_TYPE_ARRAY, BPF_F_RDONLY_PROG | BPF_F_MMAPABLE);
    EXPECT_EQ(element_call(BPF_MAP_UPDATE_ELEM, settings), 0);
    EXPECT_EQ(error_of_mapping(settings, PROT_READ | PROT_WRITE), EACCES);
    EXPECT_EQ(error_of_mapping(settings, PROT_READ), 0);
  });
}

// -- what holds programs and maps -------------------------------------------------------------------------------------
TEST_F(InterposeBpfTest, ATimerHoldsItsProgram) {
  const std::string story = with_owner([](FakeOwner&) {
    const int program = load_program(BPF_PROG_TYPE_PERF_EVENT);
    const int timer = open_event(PERF_COUNT_SW_CPU_CLOCK, 1'000'000);
    ASSERT_EQ(::ioctl(timer, PERF_EVENT_IOC_SET_BPF, program), 0);
    EXPECT_EQ(::close(program), 0);
    mark();
    EXPECT_NE(bpf_calls::next_timer_ns(), UINT64_MAX);
    EXPECT_EQ(::close(timer), 0);
    EXPECT_EQ(bpf_calls::next_timer_ns(), UINT64_MAX);
  });
  EXPECT_EQ(story, "cl|D");
}

TEST_F(InterposeBpfTest, AProgramIsNotRunOnceItsConnectionIsGone) {
  const auto body = [](FakeOwner&) {
    const int program = load_program(BPF_PROG_TYPE_RAW_TRACEPOINT);
    EXPECT_EQ(run_program(program), 0);
    in_forked_child([&] {
      EXPECT_EQ(run_program(program), -1) << "it is held for the parent";
      EXPECT_EQ(errno, ENODEV);
    });
    EXPECT_FALSE(client::Process::get().ask({.operation = Operation::kBpfLog}));
    mark();
    EXPECT_EQ(run_program(program), -1) << "the owner has let it go";
    EXPECT_EQ(errno, ENODEV);
    EXPECT_EQ(::close(program), 0);
  };
  const std::string story = with_owner(
      body, [](FakeOwner& owner) { owner.answer(Operation::kBpfLog, FakeAnswer::of(FakeAnswer::Kind::kHangUp)); });
  EXPECT_EQ(story, "cl|");
}

// -- descriptors ------------------------------------------------------------------------------------------------------
TEST_F(InterposeBpfTest, EveryWayToDuplicateADescriptorGivesTheSameMapAndTheLastOneDropsIt) {
  const std::string story = with_owner([this](FakeOwner&) {
    const int map = create_map(BPF_MAP_TYPE_ARRAY);
    const int copies[] = {::dup(map),
                          ::dup2(map, 150),
                          ::dup3(map, 151, O_CLOEXEC),
                          ::fcntl(map, F_DUPFD, 160),
                          ::fcntl(map, F_DUPFD_CLOEXEC, 170),
                          static_cast<int>(::syscall(SYS_dup, map)),
                          static_cast<int>(::syscall(SYS_dup3, map, 152, 0)),
                          static_cast<int>(::syscall(SYS_fcntl, map, F_DUPFD, 180))};
    EXPECT_EQ(::close(map), 0);
    EXPECT_FALSE(is_object(map));
    for (const int copy : copies) {
      EXPECT_TRUE(is_object(copy)) << copy;
      mark();
      EXPECT_EQ(::close(copy), 0);
    }
  });
  EXPECT_EQ(story, "m||||||||D");
}

TEST_F(InterposeBpfTest, ADescriptorThatIsReplacedIsTheMapNoMoreUnlessThatFails) {
  const std::string story = with_owner([this](FakeOwner&) {
    const int map = create_map(BPF_MAP_TYPE_ARRAY);
    EXPECT_EQ(::dup2(-1, map), -1);
    EXPECT_EQ(::dup3(map, map, 0), -1);
    EXPECT_EQ(::dup2(map, map), map);
    EXPECT_TRUE(is_object(map));
    mark();
    EXPECT_EQ(::dup2(0, map), map);
    EXPECT_FALSE(is_object(map));
  });
  EXPECT_EQ(story, "m|D");
}

TEST_F(InterposeBpfTest, ABuffersEndIsNoticedInEveryWay) {
  with_owner([this](FakeOwner& owner) {
    const int map = create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    const auto ends = [&](const char* way, const auto& end) {
      const int fd = open_buffer(map);
      EXPECT_EQ(size_of_slot(owner), kData) << way;
      EXPECT_TRUE(is_buffer(fd)) << way;
      end(fd);
      EXPECT_EQ(size_of_slot(owner), 0u) << way;
      EXPECT_FALSE(is_buffer(fd)) << way;
    };
    ends("close", [](int fd) { ::close(fd); });
    ends("syscall", [](int fd) { ::syscall(SYS_close, fd); });
    ends("close_range", [](int fd) { ::close_range(static_cast<unsigned>(fd), static_cast<unsigned>(fd), 0); });
    ends("dup2", [](int fd) { ::dup2(0, fd); });
    ends("dup3", [](int fd) { ::dup3(0, fd, O_CLOEXEC); });
    ends("fclose", [](int fd) { std::fclose(::fdopen(fd, "r")); });
    ends("the last duplicate", [](int fd) {
      const int copy = ::dup(fd);
      ::close(fd);
      EXPECT_TRUE(is_buffer(copy));
      ::close(copy);
    });
    const int fd = open_buffer(map);
    EXPECT_EQ(::close_range(static_cast<unsigned>(fd), static_cast<unsigned>(fd), 1 << 2 /* CLOSE_RANGE_CLOEXEC */), 0);
    EXPECT_TRUE(is_buffer(fd));
    ::closefrom(fd);
    EXPECT_EQ(size_of_slot(owner), 0u);
  });
}

TEST_F(InterposeBpfTest, ABufferThatTookASlotIsNotEndedByTheOneBefore) {
  with_owner([this](FakeOwner& owner) {
    const int map = create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    const int before = open_buffer(map);
    open_buffer(map);
    EXPECT_EQ(::close(before), 0);
    EXPECT_EQ(size_of_slot(owner), kData);
  });
}

TEST_F(InterposeBpfTest, WaitingReadsNothingFromAFileThatHasABuffersNumber) {
  with_owner([this](FakeOwner&) {
    const int map = create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    const auto keeps_its_bytes = [&](const auto& put) {
      int ends[2];
      ASSERT_EQ(::pipe(ends), 0);
      const int buffer = open_buffer(map);
      put(ends[0], buffer);
      ASSERT_EQ(::write(ends[1], "12345678", 8), 8);
      const int other = open_buffer(map);
      pollfd waited{other, POLLIN, 0};
      EXPECT_EQ(::poll(&waited, 1, 0), 0);
      pollfd there{buffer, POLLIN, 0};
      EXPECT_EQ(::poll(&there, 1, 0), 1);
      ::close(buffer);
      ::close(other);
    };
    keeps_its_bytes([](int from, int to) { ::dup2(from, to); });
    // Past the shim.
    keeps_its_bytes([](int from, int to) { real().dup3(from, to, 0); });
  });
}

TEST_F(InterposeBpfTest, WhatIsThereBeforeTheTimeIsOverIsFound) {
  with_owner([this](FakeOwner& owner) {
    constexpr std::uint64_t kMillisecond_ns = 1'000'000;
    std::uint64_t* const head = word_of_slot(owner, bpf::kPerfDataHead);
    const int buffer = open_buffer(create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY));
    // Between any two looks of a wait.
    for (std::uint64_t before_ms = 1; before_ms < 30; ++before_ms) {
      __atomic_store_n(head, 0, __ATOMIC_RELEASE);
      const std::uint64_t end = arch::monotonic_ns() + 30 * kMillisecond_ns;
      std::uint64_t came = 0;
      std::thread program([&] {
        while (arch::monotonic_ns() < end - before_ms * kMillisecond_ns) std::this_thread::yield();
        __atomic_store_n(head, 8, __ATOMIC_RELEASE);
        came = arch::monotonic_ns();
      });
      pollfd waited{buffer, POLLIN, 0};
      const int ready = ::poll(&waited, 1, 30);
      program.join();
      EXPECT_TRUE(ready == 1 || came >= end) << before_ms << " ms before the end";
    }
  });
}

// -- forked children --------------------------------------------------------------------------------------------------
TEST_F(InterposeBpfTest, WhatAChildClosesGoesOnInItsParent) {
  const std::string story = with_owner([this](FakeOwner& owner) {
    const int map = create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    const int buffer = open_buffer(map);
    const int program = load_program(BPF_PROG_TYPE_PERF_EVENT);
    const int timer = open_event(PERF_COUNT_SW_CPU_CLOCK, 1'000'000);
    ASSERT_EQ(::ioctl(timer, PERF_EVENT_IOC_SET_BPF, program), 0);
    in_forked_child([&] {
      EXPECT_EQ(bpf_calls::next_timer_ns(), UINT64_MAX) << "it goes on in the parent";
      EXPECT_TRUE(is_object(map));
      for (const int fd : {map, buffer, program, timer}) EXPECT_EQ(::close(fd), 0);
    });
    EXPECT_EQ(size_of_slot(owner), kData);
    EXPECT_NE(bpf_calls::next_timer_ns(), UINT64_MAX);
  });
  EXPECT_EQ(story, "mcl");
}

TEST_F(InterposeBpfTest, AChildClosesWhateverOtherThreadsWereAt) {
  with_owner([this](FakeOwner&) {
    const int map = create_map(BPF_MAP_TYPE_ARRAY);
    bool is_held = false;
    std::thread other([&] {
      const bpf_calls::Held held;
      __atomic_store_n(&is_held, true, __ATOMIC_SEQ_CST);
      ::usleep(50'000);
    });
    while (!__atomic_load_n(&is_held, __ATOMIC_SEQ_CST)) std::this_thread::yield();
    in_forked_child([&] { EXPECT_EQ(::close(map), 0); });
    other.join();
  });
}

// -- loading ----------------------------------------------------------------------------------------------------------
TEST_F(InterposeBpfTest, ThreadsThatLoadAtOnceDoItOneAfterTheOther) {
  auto* const is_asked =
      static_cast<bool*>(::mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const auto body = [&](FakeOwner&) {
    ASSERT_TRUE(client::Process::get().attach());
    std::thread first([] { EXPECT_GE(load_program(BPF_PROG_TYPE_RAW_TRACEPOINT), 0); });
    EXPECT_TRUE(client::eventually([&] { return __atomic_load_n(is_asked, __ATOMIC_SEQ_CST); }));
    EXPECT_GE(load_program(BPF_PROG_TYPE_RAW_TRACEPOINT), 0);
    first.join();
  };
  int tries = 0;
  bool is_mixed = false;
  with_owner(body, [&](FakeOwner& owner) {
    // Being verified for a while, or until the other one's code has come.
    owner.answer(Operation::kBpfLoad, [&](const Asked&) {
      __atomic_store_n(is_asked, true, __ATOMIC_SEQ_CST);
      constexpr int kTries = 20;
      const bool has_other = owner.asked(Operation::kBpfCode).size() == 2;
      is_mixed |= has_other && tries < kTries;
      return has_other || ++tries == kTries ? FakeAnswer::number(kProgramNumber) : FakeAnswer::error(EINPROGRESS);
    });
  });
  EXPECT_FALSE(is_mixed);
  ::munmap(is_asked, sizeof(bool));
}

// Tools load again with more room where there was none, and show the end of what they have.
TEST_F(InterposeBpfTest, ALogWithoutRoomIsSaidBeforeTheRefusalAndHasItsEnd) {
  const std::string whole = std::string(100'000, '.') + "the reason";
  with_owner(
      [&](FakeOwner&) {
        const auto load = [&](std::uint32_t level, std::size_t room) {
          static constexpr std::uint64_t kInstructions[] = {0xb7, 0x95};
          std::string log(room, '?');
          bpf_attr call{};
          call.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
          call.insns = reinterpret_cast<std::uint64_t>(kInstructions);
          call.insn_cnt = std::size(kInstructions);
          call.license = reinterpret_cast<std::uint64_t>("GPL");
          call.log_level = level;
          call.log_buf = reinterpret_cast<std::uint64_t>(log.data());
          call.log_size = static_cast<std::uint32_t>(room);
          EXPECT_EQ(bpf_call(BPF_PROG_LOAD, call), -1);
          const int error = errno;
          return std::pair(error, std::string(log.c_str()));
        };
        constexpr std::uint32_t kLevel = 1, kFixed = 8;
        EXPECT_EQ(load(kLevel, whole.size() + 1), std::pair(EACCES, whole));
        EXPECT_EQ(load(kLevel, whole.size()), std::pair(ENOSPC, whole.substr(1)));
        EXPECT_EQ(load(kLevel, 11), std::pair(ENOSPC, std::string("the reason")));
        EXPECT_EQ(load(kLevel | kFixed, 11), std::pair(ENOSPC, std::string(10, '.')));
        EXPECT_EQ(load(kLevel, 1), std::pair(ENOSPC, std::string()));
      },
      [&](FakeOwner& owner) {
        owner.answer(Operation::kBpfLoad, FakeAnswer::error(EACCES));
        owner.answer(Operation::kBpfLog, [&](const Asked& asked) {
          FakeAnswer answer = FakeAnswer::number(whole.size());
          answer.text = whole.substr(asked.request.a, ipc::kMaxText);
          return answer;
        });
      });
}

}  // namespace
}  // namespace landtrace::preload
