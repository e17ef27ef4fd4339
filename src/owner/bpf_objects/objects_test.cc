#include "bpf_objects/objects.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "bpf/maps/array.hpp"
#include "bpf/test_code.hpp"
#include "bpf_code/compile.hpp"
#include "rules/test_rules.hpp"

namespace landtrace::bpf_objects {
namespace {

using namespace bpf::code;
using testing::HasSubstr;

class BpfObjects : public rules::RulesFixture {
 protected:
  BpfObjects() {
    event_ = make("e u32 id");
    owner_ = {kUser, *domain_->join(kUser)};
    other_ = {kUser + 1, *domain_->join(kUser + 1)};
  }

  MapRef counts(const Owner& owner) {
    auto map = objects_.create_map({bpf::kArray, 4, 8, 8, 0}, "counts", owner);
    EXPECT_TRUE(map);
    return *map;
  }
  // Adds the event's id to value 0.
  Result<ProgramRef> load(const MapRef& map, const Owner& owner, int offset = 8) {
    const Code code =
        Code{load_id(offset)} + map_value(2, 0, 0) + Code{atomic(BPF_DW, BPF_ADD, 2, 0, 1), set(0, 0), leave()};
    std::string log;
    return objects_.load({"adds", BPF_PROG_TYPE_TRACEPOINT, {map}, nullptr, code, 1}, owner, log);
  }
  static bpf::Instruction load_id(int offset) { return bpf::code::load(BPF_W, 1, 1, offset); }
  std::uint64_t value_of(const MapRef& map) {
    std::byte* const data = domain_->users().all()[map->owner.index].mapping.data();
    return *reinterpret_cast<const std::uint64_t*>(bpf::Array(data, map->layout).find(0, 0));
  }

  Objects objects_{*domain_, rules_};
  domain::Event* event_;
  Owner owner_;
  Owner other_;
};

TEST_F(BpfObjects, AProgramRunsWhereItIsAttachedAndNoLonger) {
  const MapRef map = counts(owner_);
  const auto program = load(map, owner_);
  ASSERT_TRUE(program);
  EXPECT_EQ(write(0, 5u), -EBADF);
  auto link = objects_.attach(*program, *event_);
  ASSERT_TRUE(link);
  EXPECT_GT(write(0, 5u), 0);
  EXPECT_GT(write(0, 37u), 0);
  EXPECT_EQ(value_of(map), 42u);
  EXPECT_THAT(recorded(), testing::IsEmpty()) << "nobody has asked for a record";
  link->reset();
  EXPECT_EQ(write(0, 5u), -EBADF);
  EXPECT_EQ(value_of(map), 42u);
}

TEST_F(BpfObjects, ItRunsBesideRecordsAndTriggersAndTwice) {
  const MapRef map = counts(owner_);
  const auto program = load(map, owner_);
  listen(event_);
  EXPECT_EQ(apply(event_, "traceoff if id == 3"), 0);
  const auto one = objects_.attach(*program, *event_);
  const auto two = objects_.attach(*program, *event_);
  for (const std::uint32_t id : {1u, 3u, 4u}) write(0, id);
  EXPECT_EQ(value_of(map), 16u) << "also of events that are not recorded";
  EXPECT_THAT(recorded(), testing::ElementsAre(1u, 3u));
}

TEST_F(BpfObjects, ItRunsForThreadsThatAreNotListedAlsoWhereTriggersDoNot) {
  const MapRef map = counts(owner_);
  const auto program = load(map, owner_);
  listen(event_);
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::vector<std::uint32_t>{9}, {}));
  const auto link = objects_.attach(*program, *event_);
  std::uint64_t ran = 0;
  for (const std::string trigger : {"hist:keys=id", "hist:keys=id:x=id:onmax($x).save(common_pid)", "traceoff"}) {
    ASSERT_EQ(apply(event_, trigger), 0) << trigger;
    write(0, 1u);
    EXPECT_EQ(value_of(map), ++ran) << trigger;
  }
  EXPECT_TRUE(domain_->instances().is_tracing(top()));
  EXPECT_THAT(recorded(), testing::IsEmpty());
}

TEST_F(BpfObjects, ProgramsAreStepsOfThePlanWhereThereAreNoOtherTriggers) {
  const auto first_steps = [&] {
    const auto offset = domain_->control().segment().events[event_->slot].plan;
    const auto& plan = *reinterpret_cast<const plan::Plan*>(domain_->control().at(offset));
    std::vector<plan::StepKind> kinds;
    for (std::uint32_t i = 0; i + 2 < plan.step_count; ++i) kinds.push_back(plan.steps()[i].kind);
    return kinds;  // but for the switch and the record
  };
  using plan::StepKind;
  const MapRef map = counts(owner_);
  const auto program = load(map, owner_);
  std::vector<LinkRef> links{*objects_.attach(*program, *event_)};
  EXPECT_THAT(first_steps(), testing::ElementsAre(StepKind::kProgram));
  EXPECT_EQ(apply(event_, "traceoff if id == 3"), 0);
  EXPECT_THAT(first_steps(), testing::ElementsAre(StepKind::kProgram, StepKind::kTriggers)) << "for every thread";
  EXPECT_EQ(apply(event_, "!traceoff if id == 3"), 0);
  EXPECT_EQ(apply(event_, "traceon"), 0);
  EXPECT_THAT(first_steps(), testing::ElementsAre(StepKind::kTriggers));
  EXPECT_EQ(apply(event_, "!traceon"), 0);
  EXPECT_THAT(first_steps(), testing::ElementsAre(StepKind::kProgram));
  while (links.size() < plan::kMaxObservers) links.push_back(*objects_.attach(*program, *event_));
  EXPECT_EQ(first_steps(), std::vector(plan::kMaxObservers, StepKind::kProgram));
  write(0, 1u);
  EXPECT_EQ(value_of(map), plan::kMaxObservers);
  links.push_back(*objects_.attach(*program, *event_));
  EXPECT_THAT(first_steps(), testing::ElementsAre(StepKind::kTriggers));
  write(0, 1u);
  EXPECT_EQ(value_of(map), 2 * plan::kMaxObservers + 1);
  links.resize(2);
  EXPECT_EQ(first_steps(), std::vector(2, StepKind::kProgram));
  links.clear();
  EXPECT_EQ(write(0, 1u), -EBADF);
}

TEST_F(BpfObjects, ItRunsInProgramsOfItsOwnUserAlone) {
  const MapRef map = counts(other_);
  const auto program = load(map, other_);
  const auto link = objects_.attach(*program, *event_);
  EXPECT_GT(write(0, 5u), 0);
  EXPECT_EQ(value_of(map), 0u);
  EXPECT_FALSE(load(map, owner_)) << "the map is another user's";
}

// Who writes on behalf of another process may have others wait for it.
TEST_F(BpfObjects, ProgramsAtAnEventThatTheOwnerWritesShareWhatThereIsOfInstructions) {
  const MapRef map = counts(owner_);
  const auto load_rounds = [&](int rounds) {
    const Code code = Code{set(0, 0), alu(BPF_ADD, 0, 1), jump(BPF_JLT, 0, rounds, -2)} + map_value(2, 0, 0) +
                      Code{set(1, 1), atomic(BPF_DW, BPF_ADD, 2, 0, 1), set(0, 0), leave()};
    std::string log;
    return *objects_.load({"rounds", BPF_PROG_TYPE_TRACEPOINT, {map}, nullptr, code, 0}, owner_, log);
  };
  const ProgramRef longest = load_rounds(60'000), long_one = load_rounds(30'000);
  {
    const auto link = objects_.attach(longest, *event_);
    write(0, 1u);
    EXPECT_EQ(value_of(map), 0u);
    EXPECT_EQ(objects_.figures_of(*longest).exceeded, 1u);
  }
  const auto one = objects_.attach(long_one, *event_), two = objects_.attach(long_one, *event_);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    write(0, 1u);
    EXPECT_EQ(value_of(map), i) << "one of the two, at each event";
    EXPECT_EQ(objects_.figures_of(*long_one).exceeded, i);
  }
}

TEST_F(BpfObjects, AnEventThatComesLaterGetsItsProgramFromItsFirstOccurrenceOn) {
  const MapRef map = counts(owner_);
  const auto program = load(map, owner_);
  const LinkRef link = *objects_.attach_later(*program, "user_events", "late", std::nullopt);
  const LinkRef strangers = *objects_.attach_later(*program, "user_events", "late", kUser + 1);
  objects_.attach_later(*program, "user_events", "late", std::nullopt)->reset();
  make("late u32 id");
  EXPECT_TRUE(link->slot);
  EXPECT_FALSE(strangers->slot) << "it is for events of another user";
  EXPECT_GT(write(1, 7u), 0);
  EXPECT_EQ(value_of(map), 7u);
}

// Whoever has a link that waits for an event can fill the segment that its plan would have to lie in, too.
TEST_F(BpfObjects, AnEventIsThereThoughItsLaterProgramFindsNoRoom) {
  const auto program = load(counts(owner_), owner_);
  domain::ControlMemory& control = domain_->control();
  constexpr std::uint32_t kTries = 64;
  std::vector<LinkRef> links;
  for (std::uint32_t i = 0; i < kTries; ++i)
    links.push_back(*objects_.attach_later(*program, "user_events", "late" + std::to_string(i), std::nullopt));
  std::vector<std::uint32_t> taken;
  for (const std::uint64_t size : {1u << 20, 1u << 12, 32u}) {
    while (const auto at = control.allocate(size, 8)) taken.push_back(*at);
  }
  // Some steps on there is room for an event and none for a plan.
  std::uint32_t registered = 0, refused = 0;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    const std::string name = "late" + std::to_string(i);
    const auto slot = domain_->registrar().register_native(name + " u32 id", 0, kUser);
    if (slot) {
      ++registered;
      ASSERT_NE(domain_->events().find("user_events", name), nullptr);
      EXPECT_EQ(domain_->events().find("user_events", name)->slot, *slot);
      if (!links[i]->slot) {
        ++refused;
        EXPECT_THAT(links[i]->refusal, HasSubstr("segment is full"));
      }
    }
    control.free(taken.back());
    taken.pop_back();
  }
  EXPECT_GT(registered, 0u);
  EXPECT_GT(refused, 0u) << "nothing was tried";
  for (const std::uint32_t at : taken) control.free(at);
}

TEST_F(BpfObjects, AnEventWithFewerFieldsRefusesIt) {
  const MapRef map = counts(owner_);
  const auto program = load(map, owner_, 12);
  ASSERT_TRUE(program);
  const auto link = objects_.attach(*program, *event_);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().code, EACCES);
  EXPECT_THAT(link.error().message, HasSubstr("looks at 16 bytes of an event, user_events:e has 12"));
  const LinkRef later = *objects_.attach_later(*program, "user_events", "short", std::nullopt);
  const auto slot = domain_->registrar().register_native("short u32 id", 0, kUser);
  EXPECT_THAT(later->refusal, HasSubstr("looks at 16 bytes"));
  domain_->events().drop_reference(*slot, kUser);
  make("short u32 id; u32 more");
  EXPECT_TRUE(later->slot) << "it goes on waiting for one with more";
}

TEST_F(BpfObjects, TheEventStaysAsLongAsItsProgram) {
  const auto program = load(counts(owner_), owner_);
  const std::uint32_t slot = event_->slot;
  auto link = objects_.attach(*program, *event_);
  EXPECT_EQ(domain_->events().remove(*event_, 0).error().code, EBUSY);
  link->reset();
  EXPECT_NE(domain_->events().at(slot), nullptr);
}

TEST_F(BpfObjects, WhatIsGoneLeavesNothing) {
  const auto settle = [&] {
    for (int i = 0; i < 100 && domain_->grace().poll(); ++i) continue;
  };
  { const auto rows = load(counts(owner_), owner_); }
  settle();
  const std::uint64_t control = domain_->control().bytes_in_use();
  const std::uint64_t memory = domain_->users().most_memory();
  {
    const MapRef map = counts(owner_);
    const auto program = load(map, owner_);
    const auto link = objects_.attach(*program, *event_);
    write(0, 5u);
    EXPECT_GT(domain_->users().most_memory(), memory);
  }
  domain_->grace().drain(std::chrono::milliseconds(2000));
  EXPECT_EQ(domain_->control().bytes_in_use(), control);
  EXPECT_EQ(domain_->users().most_memory(), memory);
  EXPECT_THAT(objects_.maps(), testing::IsEmpty());
  EXPECT_THAT(objects_.programs(), testing::IsEmpty());
  EXPECT_THAT(objects_.links(), testing::IsEmpty());
}

TEST_F(BpfObjects, CodeIsInTheAreaOfItsUserAndGoesWithItsProgram) {
  if (!bpf_code::can_compile()) GTEST_SKIP() << "SKIPPED: programs are not compiled on this machine";
  const auto begins_with_code = [&](const Owner& owner, std::uint32_t at) {
    return domain_->control().code_area(owner.index)[at] != std::byte{0};
  };
  auto one = load(counts(owner_), owner_);
  const auto two = load(counts(other_), other_);
  ASSERT_GT((*one)->code_bytes, 0u);
  EXPECT_TRUE(begins_with_code(owner_, (*one)->code));
  EXPECT_TRUE(begins_with_code(other_, (*two)->code));
  const std::uint32_t place = (*one)->code;
  const auto beside = load(counts(owner_), owner_);
  EXPECT_GE((*beside)->code, place + (*one)->code_bytes);
  one->reset();
  domain_->grace().drain(std::chrono::milliseconds(2000));
  EXPECT_EQ((*load(counts(owner_), owner_))->code, place) << "the place is free";
  objects_.make_code_of_programs(false);
  EXPECT_EQ((*load(counts(owner_), owner_))->code, 0u);
}

TEST_F(BpfObjects, CodeIsMadeWhereTheProgramIsVerifiedAndNotWhileTheDomainIsHeld) {
  if (!bpf_code::can_compile()) GTEST_SKIP() << "SKIPPED: programs are not compiled on this machine";
  const Code code = {set(0, 0), leave()};
  const ProgramWish wish{"one", BPF_PROG_TYPE_TRACEPOINT, {}, nullptr, code, 0};
  const auto begun = objects_.begin_load(wish, owner_);
  ASSERT_TRUE(begun && *begun != nullptr);
  objects_.make_code_of_programs(false);
  while (!(*begun)->is_done()) std::this_thread::yield();
  std::string log;
  const auto program = objects_.finish_load(wish, owner_, **begun, log);
  ASSERT_TRUE(program);
  EXPECT_GT((*program)->code_bytes, 0u) << "it was there already";
}

TEST_F(BpfObjects, AProgramWithoutRoomForItsCodeIsInterpreted) {
  if (!bpf_code::can_compile()) GTEST_SKIP() << "SKIPPED: programs are not compiled on this machine";
  const MapRef map = counts(owner_);
  CodeAreas& areas = objects_.code_areas();
  while (areas.store(owner_.index, std::vector<std::byte>(4096))) continue;
  while (areas.store(owner_.index, std::vector<std::byte>(64))) continue;
  const auto program = load(map, owner_);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->code_bytes, 0u);
  const auto link = objects_.attach(*program, *event_);
  write(0, 5u);
  EXPECT_EQ(value_of(map), 5u);
}

TEST_F(BpfObjects, GuestsHaveLessRoom) {
  const Owner guest{77, *domain_->join(77)};
  const std::uint64_t most = most_bytes_of_guest(domain_->control().segment().cpus);
  const MapWish large{bpf::kArray, 4, 1 << 20, static_cast<std::uint32_t>((most >> 20) * 5 / 8), 0};
  const auto one = objects_.create_map(large, "one", guest);
  ASSERT_TRUE(one);
  const auto two = objects_.create_map(large, "two", guest);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, ENOMEM);
  EXPECT_EQ(objects_.create_map({bpf::kArray, 4, 1 << 20, 4000, 0}, "huge", owner_).error().code, ENOMEM);
}

TEST_F(BpfObjects, AllProgramsOfAGuestHaveSoManyInstructions) {
  objects_.make_code_of_programs(false);
  const Owner guest{77, *domain_->join(77)}, root{0, *domain_->join(0)};
  std::string log;
  const auto load_long = [&](const Owner& owner, std::size_t count) {
    Code code(count - 1, set(0, 0));
    code.push_back(leave());
    return objects_.load({"long", BPF_PROG_TYPE_TRACEPOINT, {}, nullptr, code, 0}, owner, log);
  };
  EXPECT_TRUE(load_long(root, 4097));
  const auto too_long = load_long(guest, 4097);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, E2BIG);
  EXPECT_THAT(too_long.error().message, HasSubstr("at most 4096 instructions"));
  std::vector<ProgramRef> programs;
  auto next = load_long(guest, 4096);
  for (; next; next = load_long(guest, 4096)) programs.push_back(*next);
  EXPECT_EQ(next.error().code, ENOMEM);
  EXPECT_THAT(next.error().message, HasSubstr("at most 8 MiB"));
  EXPECT_EQ(programs.size(), 255u);
  programs.pop_back();
  EXPECT_TRUE(load_long(guest, 4096));
  const Owner another{78, *domain_->join(78)};
  EXPECT_TRUE(load_long(another, 4096));
}

// A thread of the guest's is inside, or so it says.
TEST_F(BpfObjects, ProgramsThatAGuestDropsCountUntilTheyAreFreed) {
  objects_.make_code_of_programs(false);
  const Owner guest{77, *domain_->join(77)};
  plan::DataSegment& data = domain_->users().all()[guest.index].data();
  data.thread_high = 1;
  plan::ThreadSlot& inside = data.threads[0];
  inside.tid = static_cast<std::uint32_t>(::gettid());
  inside.pid = static_cast<std::uint32_t>(::getpid());
  inside.section = 1;
  const auto load_and_drop = [&] {
    Code code(4095, set(0, 0));
    code.push_back(leave());
    std::string log;
    const auto loaded = objects_.load({"long", BPF_PROG_TYPE_TRACEPOINT, {}, nullptr, code, 0}, guest, log);
    return loaded ? 0 : loaded.error().code;
  };
  const std::uint64_t before = domain_->control().bytes_in_use();
  int dropped = 0;
  while (dropped < 1000 && load_and_drop() == 0) ++dropped;
  EXPECT_EQ(dropped, 255);
  EXPECT_EQ(load_and_drop(), ENOMEM);
  EXPECT_LE(domain_->control().bytes_in_use(), before + (9u << 20));
  while (domain_->grace().held_by(guest.uid) == 0) domain_->grace().poll();
  EXPECT_EQ(load_and_drop(), ENOMEM) << "also when the others do not wait for the thread any more";
  inside.section = plan::kDepthMask + 1;
  EXPECT_EQ(load_and_drop(), 0);
}

// Another user's producer looks whose program it is.
TEST_F(BpfObjects, AProgramIsFreedBehindAllWhoseEventsItWasAt) {
  const auto program = load(counts(owner_), owner_);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->holders.uids, std::vector{owner_.uid});
  domain_->events().add_reference(*event_, other_.uid);
  objects_.attach(*program, *event_)->reset();
  EXPECT_THAT(*(*program)->holders.uids, testing::Contains(other_.uid));
  LinkRef link = *objects_.attach(*program, *make("passing u32 id"));
  rules_.event_programs().drop(top(), *domain_->events().at(*link->slot));
  link.reset();
  EXPECT_FALSE((*program)->holders.uids) << "nobody knows any more who had that event";
}

TEST_F(BpfObjects, AGuestHasSoManyLinksOfNamesThatEventsCanHave) {
  const Owner guest{77, *domain_->join(77)};
  const auto program = load(counts(guest), guest);
  const auto wait = [&](const std::string& name) {
    return objects_.attach_later(*program, "user_events", name, guest.uid);
  };
  EXPECT_EQ(wait(std::string(512, 'a')).error().code, EINVAL);
  EXPECT_EQ(objects_.attach_later(*program, std::string(512, 'a'), "e", guest.uid).error().code, EINVAL);
  EXPECT_TRUE(wait(std::string(511, 'a')));
  std::vector<LinkRef> links;
  for (int i = 0; i < 256; ++i) links.push_back(*wait("late" + std::to_string(i)));
  EXPECT_EQ(wait("one_more").error().code, ENOSPC);
  EXPECT_EQ(objects_.attach(*program, *event_).error().code, ENOSPC);
  const auto of_another = load(counts(owner_), owner_);
  EXPECT_TRUE(objects_.attach(*of_another, *event_));
  links.pop_back();
  EXPECT_TRUE(objects_.attach(*program, *event_));
}

TEST(BpfMapShape, AGuestHasRoomForAPerfEventArrayHoweverManyCpusThereAre) {
  for (const std::uint32_t cpus : {1u, 2u, 31u, 32u, 64u, 256u}) {
    const auto shaped = shape_map({bpf::kPerfEventArray, 4, 4, cpus, 0}, cpus);
    ASSERT_TRUE(shaped) << cpus;
    EXPECT_LE(shaped->bytes + (31u << 20), most_bytes_of_guest(cpus)) << cpus << " CPUs, with some other maps";
  }
}

TEST(BpfMapShape, RefusesWhatNoMapIs) {
  const auto error_of = [](const MapWish& wish) {
    const auto shaped = shape_map(wish, 2);
    return shaped ? 0 : shaped.error().code;
  };
  EXPECT_EQ(error_of({bpf::kHash, 4, 8, 16, 0}), 0);
  EXPECT_EQ(error_of({bpf::kHash, 0, 8, 16, 0}), EINVAL);
  EXPECT_EQ(error_of({bpf::kHash, 4, 8, 0, 0}), EINVAL);
  EXPECT_EQ(error_of({bpf::kHash, 513, 8, 16, 0}), E2BIG);
  EXPECT_EQ(error_of({bpf::kHash, 4, 8, 1u << 31, 0}), E2BIG);
  EXPECT_EQ(error_of({bpf::kArray, 4, 4, (1u << 26) + 1, 0}), E2BIG);
  EXPECT_NE(error_of({bpf::kArray, 4, 4, 1u << 26, 0}), E2BIG) << "so many elements there may be";
  EXPECT_EQ(error_of({bpf::kArray, 8, 8, 16, 0}), EINVAL);
  EXPECT_EQ(error_of({bpf::kRingbuf, 0, 0, 5000, 0}), EINVAL);
  EXPECT_EQ(error_of({bpf::kRingbuf, 0, 0, 8192, 0}), 0);
  EXPECT_EQ(error_of({bpf::kStackTrace, 4, 12, 16, 0}), EINVAL);
  EXPECT_EQ(error_of({12, 4, 8, 16, 0}), EINVAL);
  EXPECT_EQ(error_of({bpf::kHash, 4, 8, 16, 1u << 30}), EINVAL);
  EXPECT_EQ(error_of({bpf::kHash, 4, 8, 16, BPF_F_RDONLY}), 0);
  EXPECT_EQ(error_of({bpf::kHash, 4, 8, 16, BPF_F_RDONLY | BPF_F_WRONLY}), EINVAL);
}

TEST_F(BpfObjects, ARingBufferGoesOnWhenWhoReservedARecordIsGone) {
  const auto map = objects_.create_map({bpf::kRingbuf, 0, 0, 4096, 0}, "ring", owner_);
  ASSERT_TRUE(map);
  std::byte* const data = domain_->users().all()[owner_.index].mapping.data();
  const bpf::RecordRing ring(data, (*map)->layout);
  const auto taken = [&] { return ring.consume([](const std::byte*, std::uint32_t) {}); };
  // As a thread leaves it that is killed before it has said how long its record is.
  *reinterpret_cast<std::uint64_t*>(data + (*map)->layout.place + 2 * std::size_t{bpf::kMapPage}) = bpf::kRingBusy;
  *ring.producer() = 32;
  ring.release(ring.reserve(8, 7), false);
  EXPECT_EQ(taken(), 0u);
  objects_.reap();
  objects_.reap();
  EXPECT_EQ(taken(), 0u) << "it may be at work";
  EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
  EXPECT_EQ(taken(), 1u);
  ring.release(ring.reserve(8, 7), false);
  EXPECT_EQ(taken(), 1u);
}

// 1,000,000 rounds: more than the verifier looks at.
Code long_loop() { return {set(0, 0), alu(BPF_ADD, 0, 1), jump(BPF_JLT, 0, 1'000'000, -2), leave()}; }

TEST_F(BpfObjects, NobodyWaitsForAProgramThatIsVerified) {
  const Code slow = long_loop(), quick = {set(0, 0), leave()};
  const ProgramWish slow_wish{"slow", BPF_PROG_TYPE_TRACEPOINT, {}, nullptr, slow, 0};
  const ProgramWish quick_wish{"quick", BPF_PROG_TYPE_TRACEPOINT, {}, nullptr, quick, 0};
  const auto until_done = [](const std::shared_ptr<Verification>& one) {
    while (!one->is_done()) std::this_thread::yield();
  };
  // On a busy machine it may be over before this thread goes on.
  bool was_left = false;
  std::string log;
  for (int round = 0; round < 50 && !was_left; ++round) {
    const auto begun = objects_.begin_load(slow_wish, owner_);
    ASSERT_TRUE(begun && *begun != nullptr);
    const auto same_user = objects_.begin_load(quick_wish, owner_);
    ASSERT_TRUE(same_user);
    const bool one_at_a_time = *same_user == nullptr;
    EXPECT_TRUE(one_at_a_time || (*begun)->is_done());
    was_left = !(*begun)->is_done();
    const auto other_user = objects_.begin_load(quick_wish, other_);
    ASSERT_TRUE(other_user && *other_user != nullptr);
    until_done(*other_user);
    EXPECT_TRUE(objects_.finish_load(quick_wish, other_, **other_user, log));
    until_done(*begun);
    const auto refused = objects_.finish_load(slow_wish, owner_, **begun, log);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, E2BIG);
    if (!one_at_a_time) until_done(*same_user);
  }
  EXPECT_TRUE(was_left);
  const auto again = objects_.begin_load(quick_wish, owner_);
  EXPECT_TRUE(again && *again != nullptr);
}

}  // namespace
}  // namespace landtrace::bpf_objects
