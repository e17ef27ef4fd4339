#include "rules/event_probes.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "rules/rules.hpp"
#include "rules/synthetic_events.hpp"
#include "event/print.hpp"
#include "plan/test_emit.hpp"
#include "plan/thread_slots.hpp"
#include "ring/reader.hpp"

namespace landtrace::rules {
namespace {

constexpr std::uint32_t kRoot = 0;

// A program that links the library, here.
class ProbesTest : public testing::Test {
 protected:
  ProbesTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})) {
    user_ = *domain_->join(kRoot);
    plan::DataSegment& data = domain_->users().all()[user_].data();
    const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    const plan::ControlSegment& control = domain_->control().segment();
    thread_.slot = plan::claim_thread_slot(data, static_cast<std::uint32_t>(::getpid()), tid);
    thread_.mode = {nullptr, static_cast<arch::RawClock>(control.raw_clock)};
    thread_.tid = thread_.claim = tid;
    view_ = plan::make_view(&control, &data, user_);
    base_ =
        domain_->events().register_event("e1 u32 n;u64 p;char[8] s;__rel_loc char[] r", domain::kPersist, kRoot)->event;
  }

  Event* define(const std::string& line) {
    const auto made = rules_.event_probes().define(line, kRoot);
    EXPECT_TRUE(made) << line << ": " << made.error().refusal.code;
    return made ? *made : nullptr;
  }
  Event* define_one(const std::string& arguments) { return define("e:g/p user_events.e1 " + arguments); }
  static int code_of(const tl::expected<Event*, RefusedEventProbe>& refused) {
    return refused ? 0 : refused.error().refusal.code;
  }
  void enable(Event* event, bool on = true) { ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, on)); }

  bool emit(std::uint32_t n, const void* p, const char* text = "text", const char* relative = "rel") {
    std::string payload(20, '\0');
    const auto address = reinterpret_cast<std::uint64_t>(p);
    std::memcpy(payload.data(), &n, sizeof n);
    std::memcpy(payload.data() + 4, &address, sizeof address);
    std::strncpy(payload.data() + 12, text, 8);
    const auto location = static_cast<std::uint32_t>((std::strlen(relative) + 1) << 16);
    payload.append(reinterpret_cast<const char*>(&location), sizeof location).append(relative).append(1, '\0');
    // In pieces, as a program may write it.
    const plan::Segment segments[] = {{payload.data(), 6}, {payload.data() + 6, payload.size() - 6}};
    return plan::emit(view_, thread_, base_->slot, segments, 2, static_cast<std::uint32_t>(payload.size()));
  }

  // "NAME FIELDS" of all that was recorded in the instance.
  // In the order of time: a thread may move to another CPU between two events.
  std::string recorded(Instance& instance) {
    std::multimap<std::uint64_t, std::string> found;
    const auto& place = instance.place;
    for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
      ring::Reader reader(domain_->users().all()[user_].mapping.data() + place.rings + i * place.geometry.stride(),
                          place.geometry);
      for (const ring::RecordView& record : reader.read().records) {
        const Event* const event = domain_->events().at(record.header.event);
        std::string text = event->name;
        print_fields(text, *event->declaration(), record.payload);
        found.emplace(record.header.clock, text + ';');
      }
    }
    std::string all;
    for (const auto& [clock, text] : found) all += text;
    return all;
  }
  std::string recorded() { return recorded(domain_->top()); }

  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  std::uint32_t user_ = 0;
  plan::Thread thread_;
  plan::View view_;
  Event* base_ = nullptr;
};

TEST_F(ProbesTest, TakesFieldsOfAllKinds) {
  enable(define_one("n=$n v=$n:s8 b=$n:b4@4/8 s=$s:string r=$r:string c=\\7:u16 t=\\\"hi\":string $n:x8"));
  EXPECT_TRUE(emit(0x1ff, nullptr, "8 bytes!", "relative"));
  EXPECT_EQ(recorded(), "p (user_events.e1) n=0x1ff v=-1 b=15 s=\"8 bytes!\" r=\"relative\" c=7 t=\"hi\" arg8=0xff;");
}

TEST_F(ProbesTest, FollowsPointersInTheProgram) {
  const char* const words[] = {"one", "two"};
  const struct {
    std::uint32_t number;
    std::uint16_t numbers[3];
    const char* text;
    const char* const* words;
  } object{42, {1, 2, 3}, "text", words};
  enable(
      define_one("a=+0($p):u32 b=+4($p):u16[3] c=+0(+16($p)):string d=+u0(+16($p)):ustring e=+0(+24($p)):string[2]"));
  static_assert(offsetof(decltype(object), text) == 16);
  EXPECT_TRUE(emit(1, &object));
  EXPECT_EQ(recorded(), "p (user_events.e1) a=42 b={1,2,3} c=\"text\" d=\"text\" e={\"one\",\"two\"};");
}

TEST_F(ProbesTest, PointersThatLeadNowhereDoNoHarm) {
  enable(define_one("a=+0($p):u32 b=+0(+8($p)):u64 c=+0($p):string d=$n:string e=+0(+0($p)):string[2]"));
  EXPECT_TRUE(emit(1, reinterpret_cast<const void*>(0x10)));
  EXPECT_TRUE(emit(1, reinterpret_cast<const void*>(~0ull)));
  const std::string line = "p (user_events.e1) a=0 b=0 c=(fault) d=(fault) e={(fault),(fault)};";
  EXPECT_EQ(recorded(), line + line);
}

TEST_F(ProbesTest, NoMemoryIsReadForAProgramBehindAMount) {
  const std::uint32_t number = 42;
  thread_.is_proxy = true;
  enable(define_one("a=+0($p):u32 s=$s:string"));
  EXPECT_TRUE(emit(1, &number));
  EXPECT_EQ(recorded(), "p (user_events.e1) a=0 s=\"text\";");
}

TEST_F(ProbesTest, TextsAreCutToWhatThereIsRoomFor) {
  const std::string text(8192, 'x');
  enable(define_one("a=+0($p):string b=+0($p):string"));
  EXPECT_TRUE(emit(1, text.c_str()));
  EXPECT_EQ(recorded(), "p (user_events.e1) a=\"" + std::string(4096 - 8 - 1, 'x') + "\" b=(fault);");
}

TEST_F(ProbesTest, TheThreadsName) {
  enable(define_one("c=$comm:string"));
  EXPECT_TRUE(emit(1, nullptr));
  char name[16] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  EXPECT_EQ(recorded(), std::string("p (user_events.e1) c=\"") + name + "\";");
}

TEST_F(ProbesTest, AFilterSaysWhichEvents) {
  enable(define_one("n=$n if n > 5"));
  emit(5, nullptr);
  emit(6, nullptr);
  EXPECT_EQ(recorded(), "p (user_events.e1) n=0x6;");
}

TEST_F(ProbesTest, StandsBehindTheEventThatItIsMadeOf) {
  enable(base_);
  enable(define_one("n=$n"));
  emit(5, nullptr);
  EXPECT_EQ(recorded(), "e1 n=0x5 (5) p=0x0 (0) s=text r=rel;p (user_events.e1) n=0x5;");
}

TEST_F(ProbesTest, TheBaseHasWritersOnlyWhileTheProbeHasListeners) {
  Event* const probe = define_one("n=$n");
  EXPECT_FALSE(emit(1, nullptr));
  enable(probe);
  EXPECT_FALSE(domain_->listening().is_recorded(domain_->top(), *base_));
  EXPECT_TRUE(emit(2, nullptr));
  enable(probe, false);
  EXPECT_FALSE(emit(3, nullptr));
  EXPECT_EQ(recorded(), "p (user_events.e1) n=0x2;");
}

TEST_F(ProbesTest, TheBaseStaysAsLongAsTheProbe) {
  Event* const probe = define_one("n=$n");
  EXPECT_EQ(domain_->events().remove(*base_, kRoot).error().code, EBUSY);
  enable(probe);
  EXPECT_EQ(domain_->events().remove(*probe, kRoot).error().code, EBUSY);
  enable(probe, false);
  EXPECT_TRUE(domain_->events().remove(*probe, kRoot));
  EXPECT_TRUE(domain_->events().remove(*base_, kRoot));
}

TEST_F(ProbesTest, GoesOnInAnotherInstanceWhenItsFirstOneIsGone) {
  Event* const probe = define_one("n=$n");
  Instance* const other = *domain_->instances().create("other", domain_->top().place.geometry, true, true);
  ASSERT_TRUE(domain_->listening().set(*other, {probe}, true));
  enable(probe);
  EXPECT_TRUE(base_->file(other->index)->in_soft_mode());
  emit(1, nullptr);
  EXPECT_EQ(recorded(*other), recorded());
  domain::destroy_instance(other->index, domain_->listening(), domain_->instances());
  emit(2, nullptr);
  EXPECT_EQ(recorded(), "p (user_events.e1) n=0x1;p (user_events.e1) n=0x2;");
  EXPECT_TRUE(base_->file(0)->in_soft_mode());
  enable(probe, false);
  EXPECT_FALSE(base_->listeners.any());
}

TEST_F(ProbesTest, OfSyntheticEventsAndNotOfProbes) {
  const auto command = language::split_synthetic("lat char name[4]; u32 n; char who[]");
  Event* const lat = *define_synthetic(domain_->events(), domain_->registrar(), *command, kRoot);
  enable(define("e:g/l synthetic.lat name=$name:string n=$n:u32 who=$who:string"));
  std::string payload(lat->declaration()->min_size, '\0');
  std::memcpy(payload.data(), "longer", 7);
  payload[256] = 9;
  const auto location = static_cast<std::uint32_t>(3u << 16 | (payload.size() + 8));
  std::memcpy(payload.data() + 264, &location, sizeof location);
  payload.append("me", 3);
  const plan::Segment segment{payload.data(), payload.size()};
  EXPECT_TRUE(plan::emit(view_, thread_, lat->slot, &segment, 1, static_cast<std::uint32_t>(payload.size())));
  EXPECT_EQ(recorded(), "l (synthetic.lat) name=\"longer\" n=9 who=\"me\";");
  EXPECT_EQ(code_of(rules_.event_probes().define("e:g/q g.l x=$n", kRoot)), ENODEV);
  EXPECT_EQ(code_of(rules_.event_probes().define("e:g/l synthetic.lat", kRoot)), EEXIST);
}

TEST_F(ProbesTest, WhatNeedsTooMuchRoomIsRefused) {
  std::string arguments;
  for (int i = 0; i < 7; ++i) arguments += " a" + std::to_string(i) + "=+0($p):u64[64]";
  EXPECT_EQ(code_of(rules_.event_probes().define("e:g/p user_events.e1" + arguments, kRoot)), E2BIG);
  EXPECT_FALSE(base_->in_use());
}

}  // namespace
}  // namespace landtrace::rules
