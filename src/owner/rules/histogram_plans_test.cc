// Histograms where they run: among an event's triggers, in the owner's own place in the data plane and in forked
// producers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/uio.h>

#include <cstring>

#include "domain/domain.hpp"
#include "domain/proxy.hpp"
#include "domain/test_users.hpp"
#include "language/histogram/plan_builder.hpp"
#include "language/histogram/table_reader.hpp"
#include "ring/reader.hpp"
#include "rules/rules.hpp"

namespace landtrace::rules {
namespace {

using domain::FileId;
using domain::Proxy;

using hist::Deed;
using hist::Handler;
using language::HistActionDescription;
using language::HistPlanDescription;
using testing::ElementsAre;
using testing::IsEmpty;

class HistogramPlansTest : public testing::Test {
 protected:
  HistogramPlansTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})), proxy_(*domain_) {
    file_ = *domain_->registrar().open_file(kUser);
    start_ = make("start u64 id; u64 value");
    done_ = make("done u64 id; u64 value");
    made_ = make("made u64 id; u64 value");
  }

  struct Made {
    HistPlanDescription what;
    language::TableShape shape;
    std::uint64_t table = 0;
    std::uint32_t plan = 0;
  };

  Event* make(const char* declaration) {
    Event* const event = domain_->events().register_event(declaration, 0, kUser)->event;
    EXPECT_TRUE(domain_->files().add_event(file_, *event));
    return event;
  }
  // Events by their number: 0 is start, 1 done, 2 made.
  ssize_t write(std::uint32_t event, std::uint64_t id, std::uint64_t value, std::uint32_t uid = kUser) {
    const std::uint64_t fields[] = {id, value};
    const iovec vectors[] = {{&event, sizeof event}, {const_cast<std::uint64_t*>(fields), sizeof fields}};
    return proxy_.write(file_, 7, uid, vectors);
  }

  static HistPlanDescription by_id() {
    HistPlanDescription what;
    what.elements = 128;
    what.keys.push_back(language::values::number({language::ops::field(0, 8)}));
    return what;
  }
  Made store(HistPlanDescription what) {
    Made made;
    made.shape = *language::shape_of(what);
    made.table = *domain_->users().allocate(made.shape.layout.bytes);
    made.plan = *domain_->control().store(language::build_hist_plan(what, made.shape, made.table));
    made.what = std::move(what);
    return made;
  }
  static plan::Trigger counting(const Made& made) {
    plan::Trigger trigger{};
    trigger.action = plan::TriggerAction::kHistogram;
    trigger.histogram = made.plan;
    return trigger;
  }
  static plan::Trigger throwing(plan::TriggerAction action, std::uint32_t cell) {
    plan::Trigger trigger{};
    trigger.action = action;
    trigger.target = cell;
    return trigger;
  }
  void install(Event* event, const std::vector<plan::Trigger>& triggers) {
    const plan::TriggerList header{static_cast<std::uint32_t>(triggers.size()), true};
    std::vector<std::byte> bytes(sizeof header + triggers.size() * sizeof triggers[0]);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, triggers.data(), triggers.size() * sizeof triggers[0]);
    event->files[top().index].trigger_list = *domain_->control().store(bytes);
    ASSERT_TRUE(domain_->listening().hold_soft(top(), *event));
  }
  void enable(Event* event) { ASSERT_TRUE(domain_->listening().set(top(), {event}, true)); }

  language::TableContents contents(const Made& made) {
    std::vector<std::byte*> segments;
    for (const User& user : domain_->users().all()) segments.push_back(reinterpret_cast<std::byte*>(&user.data()));
    return language::read_tables(*reinterpret_cast<const hist::HistPlan*>(
                                     reinterpret_cast<const std::byte*>(&domain_->control().segment()) + made.plan),
                                 segments);
  }
  // Event, id and value of all that was recorded, in order.
  std::vector<std::array<std::uint64_t, 3>> recorded() {
    std::vector<std::pair<std::uint64_t, std::array<std::uint64_t, 3>>> found;
    const auto& place = top().place;
    for (const User& user : domain_->users().all()) {
      for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
        ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
        for (const ring::RecordView& record : reader.read().records) {
          std::array<std::uint64_t, 3> fields{number_of(record.header.event)};
          std::memcpy(&fields[1], record.payload.data(), 16);
          found.emplace_back(record.header.clock, fields);
        }
      }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::array<std::uint64_t, 3>> all;
    for (const auto& [clock, fields] : found) all.push_back(fields);
    return all;
  }
  std::uint64_t number_of(std::uint16_t slot) const { return slot == start_->slot ? 0 : slot == done_->slot ? 1 : 2; }
  Instance& top() { return domain_->top(); }

  // start keeps its value; done, with what it has less than that, makes `made`.
  Made measure_from_start_to_done() {
    HistPlanDescription start = by_id();
    start.variables = {language::values::number({language::ops::field(8, 8)})};
    const Made started = store(start);
    install(start_, {counting(started)});
    HistPlanDescription done = by_id();
    done.references = {{started.table, started.shape.layout, started.shape.variables[0], true}};
    done.variables = {language::values::number(
        {language::ops::field(8, 8), language::ops::reference(0), language::ops::op(hist::OpCode::kSubtract)})};
    HistActionDescription trace;
    trace.target = made_->slot;
    trace.fixed_size = 16;
    trace.params = {{language::values::number({language::ops::field(0, 8)}), 0, 8, false},
                    {language::values::number({language::ops::variable(0)}), 8, 8, false}};
    done.actions = {trace};
    Made measured = store(done);
    install(done_, {counting(measured)});
    return measured;
  }

  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  Proxy proxy_;
  FileId file_;
  Event* start_ = nullptr;
  Event* done_ = nullptr;
  Event* made_ = nullptr;
};

TEST_F(HistogramPlansTest, AnEventIsCountedWhetherItIsRecordedOrNot) {
  HistPlanDescription what = by_id();
  what.values = {language::values::number({language::ops::field(8, 8)})};
  const Made made = store(what);
  install(start_, {counting(made)});
  write(0, 1, 10);
  enable(start_);
  write(0, 1, 20);
  write(0, 2, 5);
  const language::TableContents all = contents(made);
  EXPECT_EQ(all.hits, 3u);
  ASSERT_EQ(all.rows.size(), 2u);
  EXPECT_THAT(all.rows[0].sums, ElementsAre(30));
  EXPECT_EQ(recorded().size(), 2u);
}

TEST_F(HistogramPlansTest, UsersCountInTablesOfTheirOwn) {
  const Made made = store(by_id());
  install(start_, {counting(made)});
  write(0, 1, 0, kUser);
  write(0, 1, 0, kOtherUser);
  write(0, 2, 0, kOtherUser);
  const language::TableContents all = contents(made);
  EXPECT_EQ(all.hits, 3u);
  EXPECT_EQ(all.rows.size(), 2u);
}

TEST_F(HistogramPlansTest, APausedHistogramCountsNothing) {
  const std::uint32_t cell = *domain_->cells().take_switch(true);
  HistPlanDescription what = by_id();
  what.pause_cell = cell;
  const Made made = store(what);
  install(start_, {counting(made)});
  install(done_, {throwing(plan::TriggerAction::kContinueHistogram, cell)});
  install(made_, {throwing(plan::TriggerAction::kPauseHistogram, cell)});
  write(0, 1, 0);
  EXPECT_EQ(contents(made).hits, 0u);
  write(1, 1, 0);
  write(0, 1, 0);
  write(2, 1, 0);
  write(0, 1, 0);
  EXPECT_EQ(contents(made).hits, 1u);
}

TEST_F(HistogramPlansTest, TriggersThatContinueAHistogramAreCountedEachTime) {
  const std::uint32_t cell = *domain_->cells().take_switch(true);
  plan::Trigger limited = throwing(plan::TriggerAction::kContinueHistogram, cell);
  limited.count = *domain_->cells().take_counter();
  domain_->cells().add_writer(limited.count, done_->slot);
  limited.limit = 5;
  install(done_, {limited});
  for (int i = 0; i < 3; ++i) write(1, 1, 0);
  EXPECT_EQ(domain_->cells().count_of(limited.count), 3u);
}

TEST_F(HistogramPlansTest, ALatencyIsAnEventBehindTheOneThatEndsIt) {
  const Made measured = measure_from_start_to_done();
  enable(done_);
  enable(made_);
  write(1, 1, 100);  // was not started
  write(0, 1, 40);
  write(0, 2, 50);
  write(1, 1, 100);
  write(1, 1, 200);  // ends no second time
  using Fields = std::array<std::uint64_t, 3>;
  EXPECT_THAT(recorded(), ElementsAre(Fields{1, 1, 100}, Fields{1, 1, 100}, Fields{2, 1, 60}, Fields{1, 1, 200}));
  EXPECT_EQ(contents(measured).hits, 1u);
}

TEST_F(HistogramPlansTest, WhatAHistogramMakesHasHistogramsOfItsOwn) {
  measure_from_start_to_done();
  HistPlanDescription what = by_id();
  what.keys = {language::values::number({language::ops::field(8, 8), language::ops::bucket(10)})};
  const Made made = store(what);
  install(made_, {counting(made)});
  for (std::uint64_t id = 1; id <= 4; ++id) {
    write(0, id, 0);
    write(1, id, 5 * id);
  }
  const language::TableContents all = contents(made);
  EXPECT_EQ(all.hits, 4u);
  EXPECT_EQ(all.rows.size(), 3u);  // 0, 10, 20
  EXPECT_THAT(recorded(), IsEmpty());
}

TEST_F(HistogramPlansTest, AHistogramThatMakesItsOwnEventEnds) {
  HistPlanDescription what = by_id();
  HistActionDescription trace;
  trace.target = start_->slot;
  trace.fixed_size = 16;
  trace.params = {{language::values::number(
                       {language::ops::field(0, 8), language::ops::constant(1), language::ops::op(hist::OpCode::kAdd)}),
                   0, 8, false}};
  what.actions = {trace};
  const Made made = store(what);
  install(start_, {counting(made)});
  write(0, 1, 0);
  const language::TableContents all = contents(made);
  EXPECT_GT(all.hits, 1u);
  EXPECT_LE(all.hits, 10u);
  EXPECT_EQ(all.lost, 1u);
}

TEST_F(HistogramPlansTest, ASnapshotIsCountedOnTheInstancesCell) {
  const std::uint32_t cell = *domain_->cells().take_counter();
  domain_->cells().add_writer(cell, start_->slot);
  HistPlanDescription what = by_id();
  what.variables = {language::values::number({language::ops::field(8, 8)})};
  HistActionDescription snapshot;
  snapshot.handler = Handler::kOnMax;
  snapshot.deed = Deed::kSnapshot;
  snapshot.tracked = language::values::number({language::ops::variable(0)});
  snapshot.target = cell;
  what.actions = {snapshot};
  const Made made = store(what);
  install(start_, {counting(made)});
  write(0, 1, 5);
  write(0, 2, 4);
  write(0, 2, 6);
  EXPECT_EQ(domain_->cells().count_of(cell), 2u);
  EXPECT_EQ(contents(made).snapshots[0].value, 6u);
}

TEST_F(HistogramPlansTest, AStackIsThatOfTheThreadAsFarAsItCanBeSeen) {
  HistPlanDescription what = by_id();
  what.keys = {language::values::thread_stack()};
  const Made made = store(what);
  install(start_, {counting(made)});
  write(0, 1, 0);
  EXPECT_EQ(contents(made).hits, 1u);
}

TEST_F(HistogramPlansTest, TheThreadsNameAndIdAreThoseOfTheWriter) {
  HistPlanDescription what = by_id();
  what.keys = {language::values::number({language::ops::header(4, 4, true)}), language::values::comm(),
               language::values::number({language::ops::header(0, 2)})};
  const Made made = store(what);
  install(start_, {counting(made)});
  write(0, 1, 0);
  const language::TableContents all = contents(made);
  ASSERT_EQ(all.rows.size(), 1u);
  std::uint64_t numbers[4];
  std::memcpy(numbers, all.rows[0].key.data(), sizeof numbers);
  EXPECT_EQ(numbers[0], 7u);
  EXPECT_EQ(numbers[3], domain_->control().segment().events[start_->slot].id);
}

}  // namespace
}  // namespace landtrace::rules
