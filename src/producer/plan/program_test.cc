// eBPF programs as steps of a plan.
#include "plan/program.hpp"

#include "bpf/test_code.hpp"
#include "plan/test_domain.hpp"

namespace landtrace::plan {
namespace {

using namespace bpf::code;

class ProgramStepTest : public testing::Test {
 protected:
  ProgramStepTest() {
    map_.place = domain_.reserve(4096);
    map_.bytes = map_.window_bytes = 8;
    map_.kind = bpf::kArray;
    map_.key_size = 4;
    map_.value_size = map_.stride = 8;
    map_.max_entries = map_.rows = map_.can_write = 1;
    head_.map_count = 1;
    head_.frames = 1;
    head_.figures = domain_.reserve(sizeof(bpf::Figures));
  }

  // Changes the value as `body` says, from r3 to r3; r2 is the word at this byte of the event's fields.
  PlanStep step(const Code& body, std::int16_t from = 0) {
    const Code code = Code{load(BPF_W, 2, 1, static_cast<std::int16_t>(8 + from))} +
                      constant(4, bpf::window_address(bpf::kFirstMapWindow)) + Code{load(BPF_DW, 3, 4, 0)} + body +
                      Code{store(BPF_DW, 4, 0, 3), set(0, 0), leave()};
    head_.instruction_count = static_cast<std::uint32_t>(code.size());
    PlanStep step = domain_.soft(0, 0);
    step.kind = StepKind::kProgram;
    step.program = domain_.put(&head_, sizeof head_);
    domain_.put(&map_, sizeof map_);
    domain_.put(code);
    return step;
  }
  PlanStep adding() { return step({alu_r(BPF_ADD, 3, 2)}); }
  PlanStep trebling() { return step({alu(BPF_MUL, 3, 3)}); }

  [[nodiscard]] std::uint64_t value() const { return *at<std::uint64_t>(map_.place); }
  [[nodiscard]] const bpf::Figures& figures() const { return *at<bpf::Figures>(head_.figures); }
  bool happens_in_pieces(const View& view, std::initializer_list<std::string_view> pieces) const {
    std::vector<Segment> segments;
    std::size_t size = 0;
    for (const std::string_view piece : pieces) {
      segments.push_back({piece.data(), piece.size()});
      size += piece.size();
    }
    return emit(view, domain_.thread(), kEvent, segments.data(), static_cast<std::uint32_t>(segments.size()),
                static_cast<std::uint32_t>(size));
  }

  TestDomain domain_;
  bpf::MapLayout map_{};
  bpf::Program head_{};

 private:
  template <typename T>
  const T* at(std::uint64_t offset) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(&domain_.data()) + offset);
  }
};

TEST_F(ProgramStepTest, RunInTheirOrderWhateverTheGatesBehindThemSay) {
  const std::uint32_t off = domain_.new_cell();
  domain_.publish(kEvent, {adding(), trebling(), domain_.soft(off), domain_.record()});
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(5u)));
  EXPECT_EQ(value(), 15u);
  EXPECT_EQ(domain_.records().size(), 1u);
  domain_.set_switch(off, true);
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(2u)));
  EXPECT_EQ(value(), 51u);
  EXPECT_EQ(domain_.records().size(), 1u);
}

TEST_F(ProgramStepTest, RunBehindWhatAnotherInstanceRecords) {
  domain_.publish(kEvent, {domain_.record(1), adding(), domain_.record()});
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(5u)));
  EXPECT_EQ(value(), 5u);
  EXPECT_EQ(domain_.records(0).size() + domain_.records(1).size(), 2u);
}

TEST_F(ProgramStepTest, RunForAnEventInTheirInstanceAlone) {
  domain_.publish(kEvent, {adding(), domain_.record()});
  const std::string payload = bytes_of(5u);
  const Segment segment{payload.data(), payload.size()};
  for (const std::uint32_t instance : {1u, 0u}) {
    const Section section(*domain_.thread().slot);
    EXPECT_EQ(emit_in_instance(domain_.view(), domain_.thread(), instance, kEvent, &segment, 1, 4), instance == 0);
  }
  EXPECT_EQ(value(), 5u);
  EXPECT_EQ(domain_.records().size(), 1u);
}

TEST_F(ProgramStepTest, FindAnEventThatIsInPiecesInOne) {
  domain_.publish(kEvent, {adding(), domain_.record()});
  EXPECT_TRUE(happens_in_pieces(domain_.view(), {std::string_view("\x05", 1), std::string_view("\1\0\0", 3)}));
  EXPECT_EQ(value(), 0x105u);
  EXPECT_TRUE(happens_in_pieces(domain_.view(), {}));
  EXPECT_EQ(value(), 0x105u);
  EXPECT_EQ(figures().missed, 1u);
  EXPECT_EQ(figures().faults, 0u);
  EXPECT_EQ(domain_.records().size(), 2u);
}

TEST_F(ProgramStepTest, FindAnEventThatIsInManyLargePiecesInOne) {
  for (const int size : {3000, 3068, 3072, 5000, 8100}) {
    domain_.publish(kEvent, {step({alu_r(BPF_MOV, 3, 2)}, static_cast<std::int16_t>(size - 4)), domain_.record()});
    const std::string first(static_cast<std::size_t>(size) / 2, 'a');
    const std::string last = std::string(static_cast<std::size_t>(size) - first.size() - 4, 'b') + "\1\2\3\4";
    EXPECT_TRUE(happens_in_pieces(domain_.view(), {first, last}));
    EXPECT_EQ(value(), 0x04030201u) << size;
    domain_.publish(kEvent, {trebling()});
    happens_in_pieces(domain_.view(), {first, last});
    EXPECT_NE(value(), 0x04030201u);
  }
  EXPECT_EQ(figures().missed, 0u);
  EXPECT_EQ(figures().faults, 0u);
}

// Its program may not make system calls.
TEST_F(ProgramStepTest, CountWhatIsTooLargeWhereThereIsNoRoom) {
  domain_.publish(kEvent, {adding(), domain_.record()});
  const std::string half(1600, '\1');
  const arch::TimeSource before = std::exchange(arch::time_source, arch::TimeSource::kMemory);
  EXPECT_TRUE(happens_in_pieces(domain_.view(), {half, half}));
  EXPECT_TRUE(happens_in_pieces(domain_.view(), {half, "\1"}));
  arch::time_source = before;
  EXPECT_EQ(figures().missed, 1u);
  EXPECT_EQ(value(), 0x01010101u);
}

TEST_F(ProgramStepTest, DoNotSeeWhatTriggersDoNot) {
  domain_.publish(kEvent, {adding(), domain_.record()});
  View view = domain_.view();
  view.unseen = 1;
  EXPECT_TRUE(happens_in_pieces(view, {std::string_view("\x05\0\0", 3), "\n"}));
  EXPECT_EQ(figures().faults, 1u) << "the fourth byte";
  EXPECT_TRUE(happens_in_pieces(view, {std::string_view("\x05\0\0\0", 4), "\n"}));
  EXPECT_EQ(value(), 5u);
  EXPECT_TRUE(happens_in_pieces(view, {"\n"}));
  EXPECT_EQ(figures().missed, 1u);
}

TEST_F(ProgramStepTest, RunInProgramsOfTheirUserAndInTheProcessThatTheyAreFor) {
  head_.owner = 1;
  constexpr std::uint32_t kOtherPid = 4242;
  const PlanStep strangers = adding();
  head_.owner = 0;
  head_.only_pid = kOtherPid;
  domain_.publish(kEvent, {strangers, adding(), domain_.record()});
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(5u)));
  EXPECT_EQ(value(), 0u);
  domain_.data().threads[0].pid = kOtherPid;
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(5u)));
  EXPECT_EQ(value(), 5u);
  EXPECT_EQ(figures().missed, 0u);
}

// It may have made system calls, in which the kernel need not tell of an interruption.
TEST_F(ProgramStepTest, NoTimeIsHeldBehindThem) {
  if (!arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
  constexpr std::uint64_t kHeld = 1000;  // no counter says so
  Thread thread = domain_.thread();
  thread.mode.area = arch::rseq_area();
  const auto times_held = [&] {
    const std::string payload = bytes_of(5u);
    const Segment segment{payload.data(), payload.size()};
    const Section section(*thread.slot);
    for (int i = 0; i < 100; ++i) {
      arch::hold_time(thread.mode.area);
      EXPECT_TRUE(emit_at(domain_.view(), thread, kEvent, &segment, 1, sizeof(std::uint32_t), ring::HeldTime{kHeld}));
    }
    const std::vector<std::uint64_t> times = domain_.times();
    return std::count(times.begin(), times.end(), kHeld);
  };
  domain_.publish(kEvent, {adding(), domain_.record()});
  EXPECT_EQ(times_held(), 0);
  EXPECT_EQ(domain_.records().size(), 100u);
  domain_.publish(kEvent, {domain_.record()});
  EXPECT_GT(times_held(), 50);
}

}  // namespace
}  // namespace landtrace::plan
