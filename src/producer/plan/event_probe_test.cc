#include "plan/event_probe.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>

#include "plan/histogram.hpp"
#include "plan/test_domain.hpp"

namespace landtrace::plan {
namespace {


std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

// Event probes put together by hand: what is made of a payload, and of the program's memory.
class EventProbeTest : public testing::Test {
 protected:
  void SetUp() override { domain_.publish(kMade, {domain_.record()}); }

  static EventProbeArg arg(EventProbeSource source, EventProbeStore store, std::uint8_t size, std::uint32_t at = 0) {
    EventProbeArg made{};
    made.source = source;
    made.store = store;
    made.size = size;
    made.at = at;
    return made;
  }
  static EventProbeArg field(std::uint32_t at, std::uint8_t size, bool is_signed = false) {
    EventProbeArg made = arg(EventProbeSource::kField, EventProbeStore::kValue, size, at);
    made.source_size = size;
    made.is_signed = is_signed ? 1 : 0;
    return made;
  }
  static EventProbeArg number(std::uint64_t value, EventProbeStore store, std::uint8_t size) {
    EventProbeArg made = arg(EventProbeSource::kNumber, store, size);
    made.number = value;
    return made;
  }
  static EventProbeArg text_field(std::uint32_t at, std::uint32_t size) {
    EventProbeArg made = arg(EventProbeSource::kFieldText, EventProbeStore::kText, 4, at);
    made.number = size;
    return made;
  }
  // The argument after these steps: offsets, at each of which an address is read.
  EventProbeArg follow(EventProbeArg made, const std::vector<std::int64_t>& steps) {
    made.step_count = static_cast<std::uint32_t>(steps.size());
    steps_ = steps;
    return made;
  }

  // What `args` make of the payload, one behind the other.
  std::string make(std::vector<EventProbeArg> args, std::string_view payload = {}, const Thread* thread = nullptr,
                   std::uint32_t nesting = 0, std::string_view text = {}) {
    EventProbePlan plan{};
    plan.event = kMade;
    plan.arg_count = static_cast<std::uint32_t>(args.size());
    const auto steps_at = static_cast<std::uint32_t>(sizeof plan + args.size() * sizeof(EventProbeArg));
    for (EventProbeArg& arg : args) {
      arg.target = plan.values_size;
      plan.values_size += arg.size * std::max<std::uint32_t>(arg.count, 1);
      arg.steps = steps_at;
      if (arg.source == EventProbeSource::kText) {
        arg.at = steps_at + static_cast<std::uint32_t>(steps_.size() * sizeof(std::int64_t));
      }
    }
    const std::uint32_t at = domain_.put(plan, args);
    domain_.put(steps_);
    domain_.put(text.data(), text.size());
    View view = domain_.view();
    view.nesting = nesting;
    const Segment segment{payload.data(), payload.size()};
    arch::WriteRequest request;
    ring::describe(request, {TestDomain::kTid, kEvent, static_cast<std::uint32_t>(payload.size()), &segment, 1});
    const Section section(domain_.data().threads[0]);
    const std::size_t before = domain_.records().size();
    run_event_probe(view, thread == nullptr ? domain_.thread() : *thread,
                    *control_at<EventProbePlan>(domain_.view(), at), request);
    const auto records = domain_.records();
    if (records.size() == before) return "nothing";
    EXPECT_EQ(records.back().event, kMade);
    return records.back().payload;
  }
  // A text as it is found: the location at the beginning of the payload, and where it leads.
  std::string make_text(const EventProbeArg& arg, std::string_view payload = {}, std::string_view text = {}) {
    const std::string made = make({arg}, payload, nullptr, 0, text);
    return text_at(made, 0);
  }
  static std::string text_at(const std::string& made, std::size_t at) {
    std::uint32_t location = 0;
    std::memcpy(&location, made.data() + at, sizeof location);
    if (location == 0) return "none";
    const std::size_t size = location >> 16;
    const std::size_t begin = (location & 0xffff) - abi::kEntryHeaderSize;
    EXPECT_LE(begin + size, made.size());
    EXPECT_EQ(made[begin + size - 1], '\0');
    return made.substr(begin, size - 1);
  }

  TestDomain domain_;
  std::vector<std::int64_t> steps_;
};

// -- values -----------------------------------------------------------------------------------------------------------
TEST_F(EventProbeTest, AFieldsValueIsWidenedAndCutToItsPlace) {
  const std::string payload = bytes_of(std::int16_t{-2}, std::uint16_t{0xffff}, std::uint32_t{0x12345678});
  EventProbeArg wide = field(0, 8, true);
  wide.source_size = 2;
  EXPECT_EQ(make({wide}, payload), bytes_of(std::int64_t{-2}));
  wide.is_signed = 0;
  EXPECT_EQ(make({wide}, payload), bytes_of(std::uint64_t{0xfffe}));
  EventProbeArg narrow = field(4, 2);
  narrow.source_size = 4;
  EXPECT_EQ(make({narrow, field(2, 2)}, payload), bytes_of(std::uint16_t{0x5678}, std::uint16_t{0xffff}));
}

TEST_F(EventProbeTest, ValuesStandOneBehindTheOther) {
  EXPECT_EQ(make({number(0x1111, EventProbeStore::kValue, 8), field(0, 4), number(7, EventProbeStore::kValue, 4)},
                 bytes_of(5)),
            bytes_of(std::uint64_t{0x1111}, 5, 7));
}

TEST_F(EventProbeTest, ABitFieldIsShiftedAndMasked) {
  EventProbeArg bits = field(0, 4);
  bits.bits = 5;
  bits.first_bit = 3;
  EXPECT_EQ(make({bits}, bytes_of(0b1010'1101'1110)), bytes_of(0b1'1011));
  bits = field(0, 8);
  bits.bits = 64;
  EXPECT_EQ(make({bits}, bytes_of(~0ull)), bytes_of(~0ull));
}

TEST_F(EventProbeTest, WhatIsNotInThePayloadIsZero) {
  EXPECT_EQ(make({field(0, 8)}, bytes_of(5)), bytes_of(5, 0));
  EXPECT_EQ(make({field(100, 4)}, bytes_of(5)), bytes_of(0));
}

// -- the program's memory ---------------------------------------------------------------------------------------------
TEST_F(EventProbeTest, StepsLeadThroughTheProgramsMemory) {
  struct Node {
    std::uint64_t padding;
    const void* next;
  };
  const std::uint32_t value[] = {11, 22, 33};
  const Node second{0, value + 1};
  const Node first{0, &second};
  EventProbeArg end = field(0, 4);
  end.source_size = 8;
  end.store = EventProbeStore::kMemory;
  end.store_offset = 4;
  EXPECT_EQ(make({follow(end, {8, 8})}, bytes_of(address_of(&first))), bytes_of(33));
  end.store_offset = -4;
  EXPECT_EQ(make({follow(end, {8, 8})}, bytes_of(address_of(&first))), bytes_of(11));
}

TEST_F(EventProbeTest, AnAddressCanBeTheValueItself) {
  const std::uint64_t word = 0x1234;
  const void* const pointer = &word;
  EventProbeArg end = field(0, 8);
  EXPECT_EQ(make({follow(end, {0})}, bytes_of(address_of(&pointer))), bytes_of(address_of(&word)));
}

TEST_F(EventProbeTest, MemoryThatIsNotThereIsZeroAndHarmless) {
  EventProbeArg end = number(8, EventProbeStore::kMemory, 8);
  errno = EDOM;
  EXPECT_EQ(make({end}), bytes_of(0ull));
  EXPECT_EQ(make({follow(end, {0})}), bytes_of(0ull));
  end.number = 1ull << 60;
  EXPECT_EQ(make({follow(end, {0, 0})}), bytes_of(0ull));
  EXPECT_EQ(errno, EDOM);
}

TEST_F(EventProbeTest, WhatABitFieldIsCutFromMustBeThere) {
  const std::uint32_t word = 0xabcd;
  EventProbeArg bits = number(address_of(&word), EventProbeStore::kMemory, 4);
  bits.bits = 8;
  bits.first_bit = 4;
  EXPECT_EQ(make({bits}), bytes_of(0xbc));
}

TEST_F(EventProbeTest, AnArrayIsReadElementByElement) {
  const std::uint16_t words[] = {1, 2, 3};
  EventProbeArg array = number(address_of(words), EventProbeStore::kMemory, 2);
  array.count = 3;
  EXPECT_EQ(make({array, number(9, EventProbeStore::kValue, 2)}),
            bytes_of(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}, std::uint16_t{9}));
}

TEST_F(EventProbeTest, OfAnArrayAtTheEndOfMemoryTheRestIsZero) {
  auto* const pages =
      static_cast<char*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::munmap(pages + 4096, 4096);
  std::memset(pages, 7, 4096);
  EventProbeArg array = number(address_of(pages + 4096 - 2), EventProbeStore::kMemory, 1);
  array.count = 4;
  EXPECT_EQ(make({array}), std::string("\7\7\0\0", 4));
  ::munmap(pages, 4096);
}

TEST_F(EventProbeTest, OfAProgramBehindAMountNoMemoryIsRead) {
  const std::uint32_t word = 5;
  Thread proxy = domain_.thread();
  proxy.is_proxy = true;
  EXPECT_EQ(make({number(address_of(&word), EventProbeStore::kMemory, 4), field(0, 4)}, bytes_of(6), &proxy),
            bytes_of(0, 6));
}

// -- texts ------------------------------------------------------------------------------------------------------------
TEST_F(EventProbeTest, TextsStandBehindAllValues) {
  const std::string made =
      make({text_field(0, 8), field(8, 4), text_field(12, 4)}, std::string("first\0\0\0", 8) + bytes_of(42) + "abcd");
  EXPECT_EQ(text_at(made, 0), "first");
  EXPECT_EQ(made.substr(4, 4), bytes_of(42));
  EXPECT_EQ(text_at(made, 8), "abcd");
}

TEST_F(EventProbeTest, ATextOfThePayloadEndsWithItsFieldOrThePayload) {
  EXPECT_EQ(make_text(text_field(0, 4), "abcdef"), "abcd");
  EXPECT_EQ(make_text(text_field(4, 4), "abcdef"), "ef");
  EXPECT_EQ(make_text(text_field(6, 4), "abcdef"), "");
  EventProbeArg further = text_field(0, 4);
  further.store_offset = 1;
  EXPECT_EQ(make_text(further, "abcdef"), "bcde");
}

TEST_F(EventProbeTest, ATextAtALocationIsFound) {
  const auto at = [](std::uint32_t size, std::uint32_t begin) { return bytes_of(size << 16 | begin); };
  const EventProbeArg data_loc = arg(EventProbeSource::kDataLocText, EventProbeStore::kText, 4, 4);
  const EventProbeArg rel_loc = arg(EventProbeSource::kRelLocText, EventProbeStore::kText, 4, 4);
  EXPECT_EQ(make_text(data_loc, bytes_of(0) + at(3, abi::kEntryHeaderSize + 8) + "abcdef"), "abc");
  EXPECT_EQ(make_text(data_loc, bytes_of(0) + at(100, abi::kEntryHeaderSize + 8) + "abcdef"), "abcdef");
  EXPECT_EQ(make_text(data_loc, bytes_of(0) + at(3, abi::kEntryHeaderSize - 1) + "abcdef"), "");
  EXPECT_EQ(make_text(data_loc, "head" + at(4, abi::kEntryHeaderSize) + "abcdef"), "head");
  EXPECT_EQ(make_text(rel_loc, bytes_of(0) + at(3, 2) + "abcdef"), "cde");
}

TEST_F(EventProbeTest, ATextOfThePayloadCanBeReadAsMemory) {
  EventProbeArg bytes = text_field(2, 4);
  bytes.store = EventProbeStore::kMemory;
  EXPECT_EQ(make({bytes}, "abcdef"), "cdef");
  EXPECT_EQ(make({bytes}, "abcde"), bytes_of(0));  // not all of it is there
}

TEST_F(EventProbeTest, TheThreadsNameIsAText) {
  char before[16];
  ::prctl(PR_GET_NAME, before);
  ::prctl(PR_SET_NAME, "prober");
  EXPECT_EQ(make_text(arg(EventProbeSource::kComm, EventProbeStore::kText, 4)), "prober");
  ::prctl(PR_SET_NAME, before);
}

TEST_F(EventProbeTest, ATextOfTheProbesOwnIsGivenAsItIs) {
  EventProbeArg own = arg(EventProbeSource::kText, EventProbeStore::kText, 4);
  own.number = 5;
  EXPECT_EQ(make_text(own, {}, "words and more"), "words");
  own.store = EventProbeStore::kMemory;  // as memory it is not the program's
  EXPECT_EQ(make({own}, {}, nullptr, 0, "words and more"), bytes_of(0));
  own.store = EventProbeStore::kValue;
  EXPECT_EQ(make({own}, {}, nullptr, 0, "words and more"), bytes_of(0));
}

TEST_F(EventProbeTest, ATextOfTheProgramIsReadFromPageToPage) {
  constexpr std::size_t kPage = 4096;
  auto* const pages =
      static_cast<char*>(::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::munmap(pages + 2 * kPage, kPage);
  const std::string text(100, 't');
  std::memcpy(pages + kPage - 50, text.c_str(), text.size() + 1);
  EXPECT_EQ(make_text(number(address_of(pages + kPage - 50), EventProbeStore::kText, 4)), text);
  // At the very end of what is there.
  std::memcpy(pages + 2 * kPage - 4, "end", 4);
  EXPECT_EQ(make_text(number(address_of(pages + 2 * kPage - 4), EventProbeStore::kText, 4)), "end");
  std::memcpy(pages + 2 * kPage - 4, "endx", 4);
  EXPECT_EQ(make_text(number(address_of(pages + 2 * kPage - 4), EventProbeStore::kText, 4)), "none");
  ::munmap(pages, 2 * kPage);
}

TEST_F(EventProbeTest, TextsAreCutToTheRoomThereIs) {
  const std::string huge(3 * kMaxEventProbePayload, 'x');
  const EventProbeArg text = number(address_of(huge.c_str()), EventProbeStore::kText, 4);
  const std::string made = make({text, text});
  EXPECT_EQ(made.size(), kMaxEventProbePayload);
  EXPECT_EQ(text_at(made, 0), std::string(kMaxEventProbePayload - 8 - 1, 'x'));
  EXPECT_EQ(text_at(made, 4), "none");
}

TEST_F(EventProbeTest, TextsOfThePayloadAreCutTheSameWay) {
  const std::string huge(2 * kMaxEventProbePayload, 'y');
  const std::string made = make({text_field(0, 2 * kMaxEventProbePayload), text_field(0, 4)}, huge);
  EXPECT_EQ(text_at(made, 0), std::string(kMaxEventProbePayload - 8 - 1, 'y'));
  EXPECT_EQ(text_at(made, 4), "none");
  EventProbeArg own = arg(EventProbeSource::kText, EventProbeStore::kText, 4);
  own.number = huge.size();
  EXPECT_EQ(make_text(own, {}, huge), std::string(kMaxEventProbePayload - 4 - 1, 'y'));
}

TEST_F(EventProbeTest, AnAddressIsWrittenInHexadecimal) {
  EXPECT_EQ(make_text(number(0xdeadbeef, EventProbeStore::kSymbolText, 4)), "0xdeadbeef");
  EXPECT_EQ(make_text(number(0, EventProbeStore::kSymbolText, 4)), "0x0");
}

TEST_F(EventProbeTest, AnAddressForWhichThereIsNoRoomIsLeftOut) {
  // Of 4096 bytes 8 belong to the locations; 0x1234 and its NUL need 7.
  const auto with_room = [&](std::uint32_t room) {
    const std::string text(kMaxEventProbePayload - 8 - room - 1, 'x');
    return text_at(
        make({text_field(0, static_cast<std::uint32_t>(text.size())), number(0x1234, EventProbeStore::kSymbolText, 4)},
             text),
        4);
  };
  EXPECT_EQ(with_room(7), "0x1234");
  EXPECT_EQ(with_room(6), "none");
}

TEST_F(EventProbeTest, AnArrayOfTextsIsOneOfPointers) {
  const char* const words[] = {"one", nullptr, "three"};
  EventProbeArg array = number(address_of(words), EventProbeStore::kText, 4);
  array.count = 3;
  const std::string made = make({follow(array, {0})});
  EXPECT_EQ(text_at(made, 0), "one");
  EXPECT_EQ(text_at(made, 4), "none");
  EXPECT_EQ(text_at(made, 8), "three");
  const void* const indirect[] = {nullptr, words};
  array.number = address_of(indirect);
  EXPECT_EQ(text_at(make({follow(array, {8, 16})}), 0), "three");
  array.number = 8;
  EXPECT_EQ(text_at(make({follow(array, {8, 16})}), 0), "none");
  array.number = address_of("direct");
  EXPECT_EQ(text_at(make({follow(array, {})}), 0), "direct");
}

// -- whether it is made -----------------------------------------------------------------------------------------------
TEST_F(EventProbeTest, AnEventThatNobodyListensToIsNotMade) {
  domain_.control().events[kMade].plan = 0;
  EXPECT_EQ(make({field(0, 4)}, bytes_of(5)), "nothing");
  EXPECT_EQ(domain_.data().slotless, 0u);
}

TEST_F(EventProbeTest, WhatIsTooDeepInOthersIsCountedAsLost) {
  EXPECT_EQ(make({field(0, 4)}, bytes_of(5), nullptr, kMaxNesting - 1), bytes_of(5));
  EXPECT_EQ(make({field(0, 4)}, bytes_of(5), nullptr, kMaxNesting), "nothing");
  EXPECT_EQ(domain_.data().slotless, 1u);
}

TEST_F(EventProbeTest, AsATriggerItsEventStandsBehindTheOneThatItIsAttachedTo) {
  const EventProbeArg value = field(0, 4);
  const std::uint32_t plan = domain_.put(EventProbePlan{kMade, 1, 4, 0}, std::vector<EventProbeArg>{value});
  const Trigger probe{TriggerAction::kEventProbe, false, 0, plan, 0, 0, 0};
  domain_.publish(kEvent, {domain_.triggers({probe}, /*is_conditional=*/true), domain_.record()});
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(5)));
  EXPECT_EQ(domain_.records(),
            (std::vector<TestRecord>{{kEvent, TestDomain::kTid, bytes_of(5)}, {kMade, TestDomain::kTid, bytes_of(5)}}));
}

TEST_F(EventProbeTest, ProbesThatMakeOneAnothersEventsEnd) {
  const std::uint32_t to_made = domain_.put(EventProbePlan{kMade, 0, 0, 0}, std::vector<EventProbeArg>());
  const std::uint32_t to_event = domain_.put(EventProbePlan{kEvent, 0, 0, 0}, std::vector<EventProbeArg>());
  const auto publish = [&](std::uint32_t event, std::uint32_t plan) {
    const Trigger probe{TriggerAction::kEventProbe, false, 0, plan, 0, 0, 0};
    domain_.publish(event, {domain_.triggers({probe}, true), domain_.record()});
  };
  publish(kEvent, to_made);
  publish(kMade, to_event);
  EXPECT_TRUE(domain_.happens(kEvent));
  EXPECT_EQ(domain_.events(), (std::vector<std::uint32_t>{kEvent, kMade, kEvent, kMade, kEvent}));
  EXPECT_EQ(domain_.data().slotless, 1u);
}

}  // namespace
}  // namespace landtrace::plan
