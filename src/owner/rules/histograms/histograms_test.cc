// Histograms by what is written to a `trigger` file, and what the `trigger` and `hist` files say then.
#include "rules/histograms/histograms.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rules/histograms/search.hpp"
#include "rules/synthetic_events.hpp"
#include "rules/test_rules.hpp"

namespace landtrace::rules {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NumbersAsNames : public AddressNames {
 public:
  std::string symbol(std::uint64_t address) override { return fmt::format("f{:x}", address); }
  std::string symbol_with_offset(std::uint64_t address) override { return fmt::format("f{:x}+0x0", address); }
  std::string frame(std::uint64_t address, bool) override { return fmt::format("f{:x}", address); }
};

class RefusingClock : public domain::ClockKeeper {
 public:
  Result<void> select_clock(std::string_view name) override {
    asked = name;
    return fail(EINVAL, "there is no such clock");
  }
  std::string asked;
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}
// With one blank for any number of them.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

class HistogramsTest : public RulesFixture {
 protected:
  HistogramsTest() { event_ = make("e1 u32 id; u64 v; s32 s; char[8] name"); }

  void emit(std::uint32_t id, std::uint64_t v, std::int32_t s = 0, std::string name = "a") {
    name.resize(8, '\0');
    write(0, id, v, s, name);
  }
  // Seven events of four ids.
  void emit_some() {
    emit(1, 100, -1, "a"), emit(1, 200, -2, "a"), emit(2, 50, 3, "b"), emit(3, 8589934592, 0, "c");
    emit(2, 70, -5, "b"), emit(1, 1, 100, "abc"), emit(7, 4096, 7, "a");
  }
  std::string text(const Event* event) {
    NumbersAsNames names;
    return rules_.histograms().text(top(), *event, names);
  }
  std::string text() { return text(event_); }
  std::vector<std::string> rows(const Event* event) {
    std::vector<std::string> rows;
    for (const std::string& line : lines_of(text(event))) {
      if (line.starts_with("{ ")) rows.push_back(squeezed(line));
    }
    return rows;
  }
  std::vector<std::string> rows() { return rows(event_); }
  // What a command is refused with: the kernel's sentence and the place in the command.
  std::vector<std::string> complaints(const std::string& command, int code = EINVAL) {
    language::HistComplaints found;
    EXPECT_EQ(apply(event_, command, &found), code) << command;
    std::vector<std::string> sentences;
    for (const auto& one : found.all()) sentences.emplace_back(language::sentence_of(one.mistake));
    return sentences;
  }
  // As it is shown, without the rest of the line.
  std::string shown(const std::string& command) {
    EXPECT_EQ(apply(event_, command), 0) << command;
    const std::string line = triggers(event_);
    EXPECT_EQ(apply(event_, "!" + command), 0) << command;
    return line.substr(0, line.find(" ["));
  }

  Event* event_ = nullptr;
};

TEST_F(HistogramsTest, EventsAreCountedByTheirKeys) {
  ASSERT_EQ(apply(event_, "hist:keys=id"), 0);
  emit_some();
  EXPECT_EQ(text(),
            "# event histogram\n#\n"
            "# trigger info: hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n"
            "{ id:          3 } hitcount:          1\n"
            "{ id:          7 } hitcount:          1\n"
            "{ id:          2 } hitcount:          2\n"
            "{ id:          1 } hitcount:          3\n"
            "\nTotals:\n    Hits: 7\n    Entries: 4\n    Dropped: 0\n");
  EXPECT_EQ(triggers(event_), "hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]\n");
}

TEST_F(HistogramsTest, AnEventWithoutHistogramsHasNoText) {
  EXPECT_EQ(text(), "");
  ASSERT_EQ(apply(event_, "traceoff:1"), 0);
  EXPECT_EQ(text(), "");
}

TEST_F(HistogramsTest, ValuesAreAddedUp) {
  ASSERT_EQ(apply(event_, "hist:keys=id:values=v,s"), 0);
  emit_some();
  EXPECT_THAT(rows(), ElementsAre("{ id: 3 } hitcount: 1 v: 8589934592 s: 0", "{ id: 7 } hitcount: 1 v: 4096 s: 7",
                                  "{ id: 2 } hitcount: 2 v: 120 s: 18446744073709551614",
                                  "{ id: 1 } hitcount: 3 v: 301 s: 97"));
}

TEST_F(HistogramsTest, EntriesAreSortedByAnyOfTheirFields) {
  const auto first_by = [&](const std::string& sort) {
    const std::string command = "hist:keys=id:vals=v:sort=" + sort;
    EXPECT_EQ(apply(event_, command), 0) << sort;
    emit_some();
    std::string ids;
    for (const std::string& row : rows()) ids += row.substr(6, 1);
    EXPECT_EQ(apply(event_, "!" + command), 0);
    return ids;
  };
  EXPECT_EQ(first_by("id"), "1237");
  EXPECT_EQ(first_by("id.descending"), "7321");
  EXPECT_EQ(first_by("v"), "2173");
  EXPECT_EQ(first_by("v.descending"), "3712");
  EXPECT_EQ(first_by("hitcount.descending,id.descending"), "1273");
  EXPECT_EQ(first_by("hitcount,v.descending"), "3721");
}

TEST_F(HistogramsTest, TextsAreKeysAndSortedAsTexts) {
  ASSERT_EQ(apply(event_, "hist:keys=name:sort=name"), 0);
  emit_some();
  EXPECT_THAT(rows(), ElementsAre("{ name: a } hitcount: 3", "{ name: abc } hitcount: 1", "{ name: b } hitcount: 2",
                                  "{ name: c } hitcount: 1"));
}

TEST_F(HistogramsTest, SignedKeysAreSortedByTheirSign) {
  ASSERT_EQ(apply(event_, "hist:keys=s:sort=s"), 0);
  emit_some();
  ASSERT_EQ(rows().size(), 7u);
  EXPECT_EQ(rows().front(), "{ s: 18446744073709551611 } hitcount: 1") << "the kernel shows it without";
  EXPECT_EQ(rows().back(), "{ s: 100 } hitcount: 1");
}

TEST_F(HistogramsTest, SeveralKeysMakeOne) {
  ASSERT_EQ(apply(event_, "hist:keys=id,name:sort=id,name"), 0);
  emit_some();
  EXPECT_THAT(rows(), ElementsAre("{ id: 1, name: a } hitcount: 2", "{ id: 1, name: abc } hitcount: 1",
                                  "{ id: 2, name: b } hitcount: 2", "{ id: 3, name: c } hitcount: 1",
                                  "{ id: 7, name: a } hitcount: 1"));
}

TEST_F(HistogramsTest, AFieldMayBeSeenInOtherWays) {
  const auto row_of = [&](const std::string& key) {
    EXPECT_EQ(apply(event_, "hist:keys=" + key), 0) << key;
    emit(300, 4096);
    const auto found = rows();
    EXPECT_EQ(apply(event_, "!hist:keys=" + key), 0);
    return found.empty() ? "" : found[0];
  };
  EXPECT_EQ(row_of("id.hex"), "{ id: 12c } hitcount: 1");
  EXPECT_EQ(row_of("id.log2"), "{ id: ~ 2^9 } hitcount: 1");
  EXPECT_EQ(row_of("id.log2=32"), "{ id: ~ 296-303 } hitcount: 1");
  EXPECT_EQ(row_of("v.log2=2"), "{ v: ~ 4096-6143 } hitcount: 1");
  EXPECT_EQ(row_of("id.buckets=100"), "{ id: ~ 300-399 } hitcount: 1");
  EXPECT_EQ(row_of("v.sym").substr(0, 10), "{ v: [1000");
  EXPECT_NE(row_of("v.sym").find("f1000"), std::string::npos);
  EXPECT_NE(row_of("v.sym-offset").find("f1000+0x0"), std::string::npos);
  EXPECT_EQ(row_of("common_pid"), "{ common_pid: 7 } hitcount: 1");
  EXPECT_NE(row_of("id.syscall").find("[300]"), std::string::npos);
}

TEST_F(HistogramsTest, StepsArePowersOfTwo) {
  EXPECT_EQ(shown("hist:keys=id.log2=32"), "hist:keys=id.log2=32:vals=hitcount:sort=hitcount:size=2048");
  for (const char* const steps : {"", "0", "1", "3", "33", "2048", "x", "-2"}) {
    EXPECT_NE(apply(event_, std::string("hist:keys=id.log2=") + steps), 0) << steps;
  }
  EXPECT_NE(apply(event_, "hist:keys=id:vals=v.log2=32"), 0) << "it is for keys";
}

TEST_F(HistogramsTest, ACommandIsShownInTheKernelsOrder) {
  EXPECT_EQ(shown("hist:vals=v:key=id:size=256:sort=v.descending"),
            "hist:keys=id:vals=hitcount,v:sort=v.descending:size=256");
  EXPECT_EQ(shown("hist:keys=id.hex:vals=v.hex"), "hist:keys=id.hex:vals=hitcount,v.hex:sort=hitcount:size=2048");
  EXPECT_EQ(shown("hist:keys=id:x=v:y=$x+1"), "hist:keys=id:vals=hitcount:x=v,y=v+1:sort=hitcount:size=2048");
  EXPECT_EQ(shown("hist:name=foo:keys=id"), "hist:name=foo:keys=id:vals=hitcount:sort=hitcount:size=2048");
  EXPECT_EQ(shown("hist:keys=id:size=100"), "hist:keys=id:vals=hitcount:sort=hitcount:size=128")
      << "the next power of two";
}

TEST_F(HistogramsTest, OnlyWhatPassesItsFilterIsCounted) {
  ASSERT_EQ(apply(event_, "hist:keys=id:sort=id if v > 60 && id != 7"), 0);
  emit_some();
  EXPECT_THAT(rows(), ElementsAre("{ id: 1 } hitcount: 2", "{ id: 2 } hitcount: 1", "{ id: 3 } hitcount: 1"));
  EXPECT_EQ(triggers(event_), "hist:keys=id:vals=hitcount:sort=id:size=2048 if v > 60 && id != 7 [active]\n");
  EXPECT_EQ(apply(event_, "hist:keys=v if nosuch > 1"), EINVAL);
}

TEST_F(HistogramsTest, AHistogramIsPausedContinuedAndCleared) {
  ASSERT_EQ(apply(event_, "hist:keys=id"), 0);
  emit(1, 0);
  ASSERT_EQ(apply(event_, "hist:keys=id:pause"), 0);
  emit(1, 0);
  EXPECT_NE(triggers(event_).find("[paused]"), std::string::npos);
  EXPECT_THAT(rows(), ElementsAre("{ id: 1 } hitcount: 1"));
  ASSERT_EQ(apply(event_, "hist:keys=id:cont"), 0);
  emit(1, 0);
  EXPECT_NE(triggers(event_).find("[active]"), std::string::npos);
  EXPECT_THAT(rows(), ElementsAre("{ id: 1 } hitcount: 2"));
  ASSERT_EQ(apply(event_, "hist:keys=id:clear"), 0);
  EXPECT_THAT(rows(), IsEmpty());
  emit(2, 0);
  EXPECT_THAT(rows(), ElementsAre("{ id: 2 } hitcount: 1"));
  EXPECT_EQ(complaints("hist:keys=id", EEXIST), std::vector<std::string>{"Hist trigger already exists"});
  EXPECT_EQ(complaints("hist:keys=v:clear", ENOENT),
            std::vector<std::string>{"Can't clear or continue a nonexistent hist trigger"});
}

// What a cleared histogram counted in is somebody else's soon.
TEST_F(HistogramsTest, WhatIsClearedIsCountedInNoMoreAlsoOfMarkers) {
  const auto counts_in_its_table = [this](const Event& event) {
    const EventTrigger& trigger = find_rules(event, top())->triggers.front();
    const auto& plan = *reinterpret_cast<const hist::HistPlan*>(domain_->control().at(trigger.plan));
    return plan.table == trigger.histogram->table->range->offset;
  };
  Event& print = domain_->events().print();
  for (const auto& [cleared, name] : {std::pair{&print, ""}, {&print, ":name=both"}, {event_, ":name=both"}}) {
    const std::string command = std::string("hist:keys=common_pid") + name;
    ASSERT_EQ(apply(&print, command), 0);
    ASSERT_EQ(apply(event_, command), 0);
    ASSERT_EQ(apply(cleared, command + ":clear"), 0);
    EXPECT_TRUE(counts_in_its_table(print)) << command;
    EXPECT_TRUE(counts_in_its_table(*event_)) << command;
    ASSERT_EQ(apply(&print, "!" + command), 0);
    ASSERT_EQ(apply(event_, "!" + command), 0);
  }
}

TEST_F(HistogramsTest, OnlyEventsOfListedThreadsAreCounted) {
  constexpr std::uint32_t kWriter = 7, kOther = 9;
  // The second one's action has it stand behind the record.
  ASSERT_EQ(apply(event_, "hist:keys=id"), 0);
  ASSERT_EQ(apply(event_, "hist:keys=id.hex:x=v:onmax($x).save(common_pid)"), 0);
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::vector{kOther}, {}));
  emit(1, 0);
  EXPECT_THAT(rows(), IsEmpty());
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::vector{kOther, kWriter}, {}));
  emit(2, 0);
  EXPECT_EQ(rows().size(), 2u);
  ASSERT_TRUE(domain_->thread_lists().set(top(), {}, std::vector{kWriter}));
  emit(3, 0);
  EXPECT_EQ(rows().size(), 2u);
  // In a list, with other triggers.
  ASSERT_EQ(apply(event_, "traceoff if id == 4"), 0);
  emit(4, 0);
  EXPECT_EQ(rows().size(), 2u);
  EXPECT_TRUE(domain_->instances().is_tracing(top()));
  ASSERT_TRUE(domain_->thread_lists().set(top(), {}, {}));
  emit(4, 0);
  EXPECT_EQ(rows().size(), 4u);
  EXPECT_FALSE(domain_->instances().is_tracing(top()));
}

TEST_F(HistogramsTest, AHistogramThatBeginsPausedCountsWhenItIsContinued) {
  ASSERT_EQ(apply(event_, "hist:keys=id:pause"), 0);
  emit(1, 0);
  EXPECT_THAT(rows(), IsEmpty());
  ASSERT_EQ(apply(event_, "hist:keys=id:continue"), 0);
  emit(1, 0);
  EXPECT_THAT(rows(), ElementsAre("{ id: 1 } hitcount: 1"));
}

TEST_F(HistogramsTest, AnEventHasSeveralHistogramsInTheOrderOfTheirMaking) {
  ASSERT_EQ(apply(event_, "hist:keys=id"), 0);
  ASSERT_EQ(apply(event_, "hist:keys=name"), 0);
  emit(1, 0);
  EXPECT_THAT(rows(), ElementsAre("{ id: 1 } hitcount: 1", "{ name: a } hitcount: 1"));
  EXPECT_EQ(lines_of(triggers(event_)).size(), 2u);
  ASSERT_EQ(apply(event_, "!hist:keys=id"), 0);
  EXPECT_THAT(rows(), ElementsAre("{ name: a } hitcount: 1"));
  ASSERT_EQ(apply(event_, "!hist:keys=id"), 0) << "one that is not there need not be taken away";
}

TEST_F(HistogramsTest, OtherEventsSwitchAllHistogramsOfAnEvent) {
  Event* const other = make("e2 u32 x");
  ASSERT_EQ(apply(event_, "hist:keys=id"), 0);
  ASSERT_EQ(apply(event_, "hist:keys=v"), 0);
  ASSERT_EQ(apply(other, "disable_hist:user_events:e1 if x == 1"), 0);
  emit(1, 1);
  write(1, 1u);
  emit(1, 1);
  EXPECT_THAT(rows(), ElementsAre("{ id: 1 } hitcount: 1", "{ v: 1 } hitcount: 1"));
  ASSERT_EQ(apply(other, "enable_hist:user_events:e1 if x == 2"), EEXIST) << "one of the family for each event";
  ASSERT_EQ(apply(other, "!disable_hist:user_events:e1"), 0);
  ASSERT_EQ(apply(other, "enable_hist:user_events:e1 if x == 2"), 0);
  write(1, 2u);
  emit(1, 1);
  EXPECT_THAT(rows(), ElementsAre("{ id: 1 } hitcount: 2", "{ v: 1 } hitcount: 2"));
}

TEST_F(HistogramsTest, HistogramsOfOneNameCountTogether) {
  Event* const other = make("e2 u32 id");
  ASSERT_EQ(apply(event_, "hist:name=both:keys=id:sort=id"), 0);
  ASSERT_EQ(apply(other, "hist:name=both:keys=id:sort=id"), 0);
  emit(1, 0), emit(2, 0);
  write(1, 1u);
  EXPECT_THAT(rows(), ElementsAre("{ id: 1 } hitcount: 2", "{ id: 2 } hitcount: 1"));
  EXPECT_EQ(rows(other), rows());
  ASSERT_EQ(apply(event_, "!hist:name=both:keys=id:sort=id"), 0);
  EXPECT_EQ(rows(other).size(), 2u) << "the table is there as long as one of them";
}

TEST_F(HistogramsTest, AFullTableDropsWhatIsNew) {
  ASSERT_EQ(apply(event_, "hist:keys=v:size=128"), 0);
  for (std::uint64_t v = 0; v < 1000; ++v) emit(1, v);
  const auto lines = lines_of(text());
  EXPECT_EQ(rows().size(), 128u);
  EXPECT_EQ(lines[lines.size() - 1], "    Dropped: 872");
}

TEST_F(HistogramsTest, AVariableIsFoundByTheKeyOfAnotherEvent) {
  Event* const end = make("end u32 id; u64 when");
  ASSERT_EQ(apply(event_, "hist:keys=id:start=v"), 0);
  ASSERT_EQ(apply(end, "hist:keys=id:lat=when-$start:vals=when:sort=id"), 0);
  emit(1, 100), emit(2, 1000);
  write(1, 1u, std::uint64_t{130});
  write(1, 2u, std::uint64_t{1500});
  write(1, 3u, std::uint64_t{7});
  EXPECT_THAT(rows(end), ElementsAre("{ id: 1 } hitcount: 1 when: 130", "{ id: 2 } hitcount: 1 when: 1500"))
      << "an event without a beginning counts nothing";
  EXPECT_EQ(apply(event_, "!hist:keys=id:start=v"), EBUSY) << "its variable is used";
  ASSERT_EQ(apply(end, "!hist:keys=id:lat=when-$start:vals=when:sort=id"), 0);
  EXPECT_EQ(apply(event_, "!hist:keys=id:start=v"), 0);
}

TEST_F(HistogramsTest, AMatchMakesASyntheticEvent) {
  Event* const end = make("end u32 id; u64 when");
  const auto command = language::split_synthetic("lat u32 id; u64 lat");
  Event* const made = *define_synthetic(domain_->events(), domain_->registrar(), *command, ::geteuid());
  listen(made);
  ASSERT_EQ(apply(event_, "hist:keys=id:start=v"), 0);
  ASSERT_EQ(apply(end, "hist:keys=id:lat=when-$start:onmatch(user_events.e1).lat(id,$lat)"), 0);
  emit(5, 100);
  write(1, 5u, std::uint64_t{130});
  write(1, 6u, std::uint64_t{130});
  EXPECT_EQ(recorded().size(), 1u);
  EXPECT_EQ(domain_->events().remove(*made, ::geteuid()).error().code, EBUSY) << "the histogram keeps it";
  ASSERT_EQ(apply(end, "!hist:keys=id:lat=when-$start:onmatch(user_events.e1).lat(id,$lat)"), 0);
  listen(made, false);
  EXPECT_TRUE(domain_->events().remove(*made, ::geteuid()));
}

TEST_F(HistogramsTest, TheLargestIsKeptWithWhatWasThereThen) {
  Event* const end = make("end u32 id; u64 when");
  ASSERT_EQ(apply(event_, "hist:keys=id:start=v"), 0);
  ASSERT_EQ(apply(end, "hist:keys=id:lat=when-$start:onmax($lat).save(when)"), 0);
  for (const std::uint64_t when : {150u, 190u, 120u}) {
    emit(1, 100);
    write(1, 1u, when);
  }
  const std::string said = squeezed(text(end));
  EXPECT_NE(said.find("max: 90 when: 190"), std::string::npos) << said;
}

TEST_F(HistogramsTest, WhatIsWrongIsSaidInTheKernelsWords) {
  using Said = std::vector<std::string>;
  EXPECT_EQ(complaints("hist:keys=nosuch"), Said{"Couldn't find field"});
  EXPECT_EQ(complaints("hist:keys=id:vals=nosuch"), Said{"Couldn't find field"});
  EXPECT_EQ(complaints("hist:keys=id:vals=hitcount.percent"), Said{"Invalid field modifier"});
  EXPECT_EQ(complaints("hist:keys=id.nosuch"), Said{"Invalid field modifier"});
  EXPECT_EQ(complaints("hist:keys=id:sort=nosuch"), Said{"Sort field must be a key or a val"});
  EXPECT_EQ(complaints("hist:keys=id:sort="), Said{"Empty assignment"});
  EXPECT_EQ(complaints("hist:keys=id:x=v,x=id"), Said{"Variable already defined"});
  EXPECT_EQ(complaints("hist:keys=id:x=v/0", EDOM), Said{"Division by zero"});
  EXPECT_THAT(complaints("hist:keys=id:x=$nosuch"), testing::Contains("Couldn't find variable"));
  RefusingClock clock;
  top().clock = &clock;
  EXPECT_EQ(complaints("hist:keys=id:x=common_timestamp:clock=nosuch"), Said{"Couldn't set trace_clock"});
  EXPECT_EQ(clock.asked, "");
  EXPECT_EQ(complaints("hist:keys=id:x=common_timestamp:clock=global"), Said{"Couldn't set trace_clock"});
  EXPECT_EQ(clock.asked, "global");
  top().clock = nullptr;
  EXPECT_EQ(triggers(event_), language::no_trigger_text()) << "what is refused leaves nothing";
  EXPECT_FALSE(event_->listeners.any());
}

TEST_F(HistogramsTest, WhatIsRefusedOrTakenAwayLeavesNoMemory) {
  ASSERT_EQ(apply(event_, "hist:keys=id:x=v"), 0);
  ASSERT_EQ(apply(event_, "!hist:keys=id:x=v"), 0);
  ASSERT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
  const std::uint64_t before = domain_->control().bytes_in_use();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(apply(event_, "hist:keys=id,name:vals=v if v > 1"), 0);
    ASSERT_EQ(apply(event_, "hist:keys=id,name:vals=v:clear if v > 1"), 0);
    ASSERT_EQ(apply(event_, "hist:keys=id:y=$nosuch if v > 1"), EINVAL);
    ASSERT_EQ(apply(event_, "!hist:keys=id,name:vals=v if v > 1"), 0);
  }
  ASSERT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
  EXPECT_EQ(domain_->control().bytes_in_use(), before);
}

TEST_F(HistogramsTest, AFileThatIsTruncatedHasNoHistogramsButItsOtherTriggers) {
  ASSERT_EQ(apply(event_, "hist:keys=id"), 0);
  ASSERT_EQ(apply(event_, "hist:keys=name"), 0);
  ASSERT_EQ(apply(event_, "traceoff:3"), 0);
  rules_.triggers().truncate(top(), *event_);
  EXPECT_EQ(triggers(event_), "traceoff:count=3\n");
  ASSERT_EQ(apply(event_, "hist:keys=id:x=v"), 0);
  Event* const other = make("e2 u32 id");
  ASSERT_EQ(apply(other, "hist:keys=id:vals=$x"), 0);
  rules_.triggers().truncate(top(), *event_);
  EXPECT_EQ(lines_of(triggers(event_)).size(), 2u) << "its variable is used";
}

TEST_F(HistogramsTest, VariablesSayWhetherAnInstanceNeedsTheClockThatItHas) {
  EXPECT_FALSE(has_variables(domain_->events(), top().index));
  ASSERT_EQ(apply(event_, "hist:keys=id"), 0);
  EXPECT_FALSE(has_variables(domain_->events(), top().index));
  ASSERT_EQ(apply(event_, "hist:keys=id:x=v"), 0);
  EXPECT_TRUE(has_variables(domain_->events(), top().index));
  EXPECT_FALSE(has_variables(domain_->events(), top().index + 1));
}

}  // namespace
}  // namespace landtrace::rules
