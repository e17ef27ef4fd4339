// The two segments of a domain in a test's memory, with plans that the test puts together by hand.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/test_emit.hpp"
#include "ring/reader.hpp"

namespace landtrace::plan {

// Events: one that is emitted, and one that is made of it.
inline constexpr std::uint32_t kEvent = 7;
inline constexpr std::uint32_t kMade = 8;

// As a reader of the rings finds it.
struct TestRecord {
  std::uint32_t event;
  std::uint32_t tid;
  std::string payload;  // and NULs up to a multiple of four
  bool operator==(const TestRecord&) const = default;
};

class TestDomain {
 public:
  static constexpr std::uint32_t kCpus = 64;
  static constexpr std::uint32_t kClaimed = 1;
  static constexpr std::uint32_t kTid = 4711;
  static constexpr std::uint32_t kPid = 4700;
  static constexpr std::uint32_t kFirstFreeCell = 100;

  static constexpr std::size_t kControlSize = 8 << 20;
  static constexpr std::size_t kDataSize = 512 << 20;  // sparse
  static_assert(sizeof(ControlSegment) < kControlSize);

  TestDomain() : TestDomain(map(kControlSize), map(kDataSize)) { is_own_ = true; }
  // In memory that the caller has mapped, of at least these sizes, all zero.
  TestDomain(std::byte* control_at, std::byte* data_at) : control_(control_at), data_(data_at) {
    control().magic = kControlMagic;
    control().version = kLayoutVersion;
    control().data_bytes = kDataSize;
    control().cpus = kCpus;
    control().claimed = kClaimed;
    control().user_count = 1;
    control().raw_clock = static_cast<std::uint32_t>(arch::best_raw_clock());
    for (std::uint32_t i = 0; i < kMaxEvents; ++i) control().events[i].id = static_cast<std::uint16_t>(1000 + i);
    data().threads[0] = {.section = 0, .tid = kTid, .pid = kPid};
  }
  ~TestDomain() {
    if (!is_own_) return;
    ::munmap(control_, kControlSize);
    ::munmap(data_, kDataSize);
  }
  TestDomain(const TestDomain&) = delete;
  TestDomain& operator=(const TestDomain&) = delete;

  [[nodiscard]] ControlSegment& control() const { return *reinterpret_cast<ControlSegment*>(control_); }
  [[nodiscard]] DataSegment& data() const { return *reinterpret_cast<DataSegment*>(data_); }
  [[nodiscard]] View view(std::uint32_t user = 0) const { return make_view(&control(), &data(), user); }
  // Writes to the claimed ring, so that one thread's records stand in one ring.
  [[nodiscard]] Thread thread() const {
    return {&data().threads[0],
            {nullptr, static_cast<arch::RawClock>(control().raw_clock)},
            kTid,
            kTid,
            /*is_proxy=*/false};
  }
  std::uint32_t new_cell() { return next_cell_++; }
  [[nodiscard]] Cell& cell(std::uint32_t index) const { return data().cells[index]; }
  void set_switch(std::uint32_t index, bool thrown) const { throw_now(cell(index), thrown, 1); }

  // -- the control segment's heap -----------------------------------------------------------------------------------
  std::uint32_t put(const void* bytes, std::size_t size) {
    const std::uint32_t at = control_end_;
    control_end_ += static_cast<std::uint32_t>((size + 7) / 8 * 8);
    EXPECT_LE(control_end_, kControlSize);
    if (size > 0) std::memcpy(control_ + at, bytes, size);
    return at;
  }
  template <typename T>
  std::uint32_t put(const std::vector<T>& parts) {
    return put(parts.data(), parts.size() * sizeof(T));
  }
  template <typename Head, typename T>
  std::uint32_t put(const Head& head, const std::vector<T>& parts) {
    const std::uint32_t at = put(&head, sizeof head);
    const std::uint32_t parts_at = put(parts);
    EXPECT_EQ(parts_at, at + sizeof head) << "the head is not a multiple of 8 bytes";
    return at;
  }
  // Room in the data segment.
  std::uint64_t reserve(std::uint64_t bytes) {
    const std::uint64_t at = data_end_;
    data_end_ += (bytes + 4095) / 4096 * 4096;
    EXPECT_LE(data_end_, kDataSize);
    return at;
  }

  // -- steps --------------------------------------------------------------------------------------------------------
  // Into rings of the instance's own, unless the cell is thrown. `set` tells the two of an instance with a snapshot
  // apart.
  PlanStep record(std::uint8_t instance = 0, std::uint32_t stop_cell = 0, std::uint32_t set = 0) {
    const std::uint32_t rings = kCpus + kClaimed;
    const auto [place, is_new] = rings_.try_emplace({instance, set});
    if (is_new) {
      const std::vector<std::uint64_t> positions(std::size_t{kMaxUsers} * rings, ring::kNeverFull);
      place->second = {reserve(geometry_.stride() * rings), put(positions)};
    }
    PlanStep step = step_of(StepKind::kRecord, 0, instance, stop_cell);
    step.rings = place->second.rings;
    step.consumed = place->second.consumed;
    return step;
  }
  PlanStep flip(std::uint32_t parity_cell, std::uint8_t instance = 0) {
    return step_of(StepKind::kFlip, 2, instance, parity_cell);
  }
  PlanStep soft(std::uint32_t switch_cell, std::uint8_t skip = 1, std::uint8_t instance = 0) {
    return step_of(StepKind::kSoft, skip, instance, switch_cell);
  }
  // Without `only` everybody, but for those in `never`.
  PlanStep threads(const std::vector<std::uint32_t>* only, const std::vector<std::uint32_t>& never,
                   std::uint8_t skip = 1) {
    std::vector<std::uint32_t> ids = only == nullptr ? std::vector<std::uint32_t>() : *only;
    ids.insert(ids.end(), never.begin(), never.end());
    const ThreadList list{only == nullptr ? ThreadList::kEverybody : static_cast<std::uint32_t>(only->size()),
                          static_cast<std::uint32_t>(never.size())};
    PlanStep step = step_of(StepKind::kThreads, skip, 0, 0);
    step.threads = put(list, ids);
    return step;
  }
  PlanStep filter(std::uint32_t program, std::uint8_t skip = 1) {
    PlanStep step = step_of(StepKind::kFilter, skip, 0, 0);
    step.filter = program;
    return step;
  }
  PlanStep histogram(std::uint32_t plan, std::uint32_t filter = 0, std::uint8_t instance = 0) {
    PlanStep step = step_of(StepKind::kHistogram, 0, instance, filter);
    step.histogram = plan;
    return step;
  }
  // Around the `skip` steps that follow.
  PlanStep triggers(const std::vector<Trigger>& list, bool is_conditional, std::uint8_t skip = 1) {
    PlanStep step = step_of(StepKind::kTriggers, skip, 0, 0);
    const TriggerList head{static_cast<std::uint32_t>(list.size()), is_conditional};
    step.triggers = put(head, list);
    return step;
  }

  // -- filter programs ----------------------------------------------------------------------------------------------
  std::uint32_t program(filter::Op op, std::uint16_t uses = 0, std::string_view pool = {}) {
    op.on_match = filter::Op::kPass;
    op.on_mismatch = filter::Op::kReject;
    filter::Program head{};
    head.version = filter::kProgramVersion;
    head.uses = uses;
    head.op_count = 1;
    head.bytes = static_cast<std::uint32_t>(sizeof head + sizeof op + pool.size());
    const std::uint32_t at = put(head, std::vector<filter::Op>{op});
    put(pool.data(), pool.size());
    return at;
  }
  // The payload's first u32 is this number.
  std::uint32_t first_word_is(std::uint32_t number) {
    filter::Op op{};
    op.code = filter::OpCode::kRange32;
    op.size = 4;
    op.low = number;
    return program(op);
  }
  std::uint32_t comm_is(std::string_view name) {
    filter::Op op{};
    op.code = filter::OpCode::kEqual;
    op.source = filter::Source::kComm;
    op.size = filter::kCommSize;
    op.count = name.size();
    return program(op, filter::Program::kUsesComm, name);
  }

  // -- what happens -------------------------------------------------------------------------------------------------
  void publish(std::uint32_t event, const std::vector<PlanStep>& steps) {
    control().events[event].plan = put(Plan{static_cast<std::uint32_t>(steps.size())}, steps);
  }
  bool happens(std::uint32_t event, std::string_view payload, const Thread& thread, std::uint32_t user = 0) const {
    const Segment segment{payload.data(), payload.size()};
    return emit(view(user), thread, event, &segment, 1, static_cast<std::uint32_t>(payload.size()));
  }
  bool happens(std::uint32_t event, std::string_view payload = {}) const { return happens(event, payload, thread()); }

  // All that stand in the instance's rings, ring by ring.
  [[nodiscard]] std::vector<TestRecord> records(std::uint8_t instance = 0, std::uint32_t set = 0) const {
    std::vector<TestRecord> all;
    each_record(instance, set, [&](const ring::RecordView& record) {
      all.push_back({record.header.event,
                     record.header.tid,
                     {reinterpret_cast<const char*>(record.payload.data()), record.payload.size()}});
    });
    return all;
  }
  // When these were, by the raw clock.
  [[nodiscard]] std::vector<std::uint64_t> times(std::uint8_t instance = 0, std::uint32_t set = 0) const {
    std::vector<std::uint64_t> all;
    each_record(instance, set, [&](const ring::RecordView& record) { all.push_back(record.header.clock); });
    return all;
  }
  // The events of these records, in their order.
  [[nodiscard]] std::vector<std::uint32_t> events(std::uint8_t instance = 0, std::uint32_t set = 0) const {
    std::vector<std::uint32_t> all;
    for (const TestRecord& record : records(instance, set)) all.push_back(record.event);
    return all;
  }
  [[nodiscard]] std::uint64_t discarded(std::uint8_t instance = 0) const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < kCpus + kClaimed; ++i)
      all += ring::Reader(ring(i, instance, 0), geometry_).discarded().all();
    return all;
  }
  // How far the consumer of all the instance's rings is, for one user.
  void set_consumed(std::uint32_t user, std::uint64_t position, std::uint8_t instance = 0) {
    const std::uint32_t rings = kCpus + kClaimed;
    auto* const positions = reinterpret_cast<std::uint64_t*>(control_ + rings_.at({instance, 0}).consumed);
    std::fill_n(positions + std::size_t{user} * rings, rings, position);
  }

 private:
  struct Rings {
    std::uint64_t rings;
    std::uint64_t consumed;
  };

  static std::byte* map(std::size_t size) {
    void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return static_cast<std::byte*>(at);
  }
  PlanStep step_of(StepKind kind, std::uint8_t skip, std::uint8_t instance, std::uint32_t cell) const {
    return {kind, skip, instance, cell, {0}, 0, geometry_};
  }
  void each_record(std::uint8_t instance, std::uint32_t set, const auto& see) const {
    for (std::uint32_t i = 0; i < kCpus + kClaimed; ++i) {
      ring::Reader reader(ring(i, instance, set), geometry_);
      if (reader.written() == 0) continue;  // leaves the memory untouched
      for (const ring::Reader::Batch* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
        for (const ring::RecordView& record : batch->records) see(record);
      }
    }
  }
  [[nodiscard]] const std::byte* ring(std::uint32_t index, std::uint8_t instance, std::uint32_t set) const {
    return data_ + rings_.at({instance, set}).rings + index * geometry_.stride();
  }

  std::byte* control_;
  std::byte* data_;
  bool is_own_ = false;
  std::uint32_t control_end_ = sizeof(ControlSegment);
  std::uint64_t data_end_ = sizeof(DataSegment);
  std::uint32_t next_cell_ = kFirstFreeCell;
  ring::Geometry geometry_{ring::kMinSizeLog2};
  std::map<std::pair<std::uint8_t, std::uint32_t>, Rings> rings_;
};

// The bytes of some numbers.
template <typename... T>
std::string bytes_of(T... numbers) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return bytes;
}

}  // namespace landtrace::plan
