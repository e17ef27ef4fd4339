#include "buffer/event_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "domain/domain.hpp"

namespace landtrace::buffer {
namespace {

class EventTableTest : public ::testing::Test {
 protected:
  EventTableTest() : domain_(*domain::Domain::create({})), table_(domain_->control().segment()) {}
  std::uint32_t add(const std::string& declaration, std::uint16_t flags = domain::kPersist) {
    return *domain_->registrar().register_native(declaration, flags, 0);
  }

  std::unique_ptr<domain::Domain> domain_;
  EventTable table_;
};

TEST_F(EventTableTest, SlotTellsNameIdAndFields) {
  const auto* const type = table_.find(add("job u32 id;__rel_loc char[] name"));
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->system, "user_events");
  EXPECT_EQ(type->name, "job");
  EXPECT_EQ(type->id, 16384);
  EXPECT_EQ(event::fields_text(type->declaration), "u32 id; __rel_loc char[] name");
  EXPECT_EQ(type->declaration.min_size, 8u);
}

TEST_F(EventTableTest, EventWithoutFields) {
  const auto* const type = table_.find(add("bare"));
  ASSERT_NE(type, nullptr);
  EXPECT_TRUE(type->declaration.fields.empty());
}

TEST_F(EventTableTest, RefreshLearnsEachEventOnce) {
  add("a");
  add("b");
  table_.refresh();
  ASSERT_EQ(table_.types().size(), 2u);
  table_.refresh();
  EXPECT_EQ(table_.types().size(), 2u);
  add("c");
  table_.refresh();
  ASSERT_EQ(table_.types().size(), 3u);
  EXPECT_EQ(table_.types()[2].name, "c");
}

TEST_F(EventTableTest, EventThatIsGoneKeepsItsMeaning) {
  const std::uint32_t slot = add("brief u8 x", 0);
  domain_->events().drop_reference(slot);
  const auto* const type = table_.find(slot);
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->name, "brief");
}

TEST_F(EventTableTest, SlotsThatNeverWereAreNothing) {
  EXPECT_EQ(table_.find(0), nullptr);
  EXPECT_EQ(table_.find(plan::kMaxEvents), nullptr);
  EXPECT_EQ(table_.find(0xfffe), nullptr);
}

TEST_F(EventTableTest, SlotWithAnotherEventGetsAnotherId) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t i = plan::kFirstEventSlot; i < plan::kMaxEvents; ++i)
    slots.push_back(add("e" + std::to_string(i), 0));
  table_.refresh();
  domain_->events().drop_reference(slots[7]);
  domain_->grace().drain(std::chrono::seconds(5));
  ASSERT_EQ(add("other u64 y"), slots[7]);
  table_.refresh();
  const auto* const type = table_.find(slots[7]);
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->name, "other");
  EXPECT_NE(type->id, table_.types()[7].id);
  EXPECT_EQ(table_.types()[7].name, "e" + std::to_string(plan::kFirstEventSlot + 7));
}

// The owner of a domain may be another user.
TEST_F(EventTableTest, OffsetsOutsideTheSegmentAreRefused) {
  const std::uint32_t slot = add("job u32 id");
  plan::EventSlot& shared = domain_->control().segment().events[slot];
  shared.text = 0xffffffff;
  EXPECT_EQ(table_.find(slot), nullptr);
  shared.text = static_cast<std::uint32_t>(plan::kControlBytes - 4);
  EXPECT_EQ(table_.find(slot), nullptr);
  shared.text = 64;  // inside the tables
  EXPECT_EQ(table_.find(slot), nullptr);
}

TEST_F(EventTableTest, TextThatIsNoDeclarationIsRefused) {
  for (const std::string& text :
       {std::string("user_events"), std::string("s\0n\0nonsense here\0", 18), std::string("s\0\0u32 a\0", 9)}) {
    EXPECT_FALSE(type_of({1, 60000, text}));
  }
}

TEST_F(EventTableTest, StructsThatAreDescribedHaveMembers) {
  const std::uint32_t slot = add("moved struct position to 8");
  ASSERT_TRUE(domain_->events().describe_structs(*domain_->events().at(slot), "position 8{s32 x 0 4;s32 y 4 4}"));
  const auto* const type = table_.find(slot);
  ASSERT_NE(type, nullptr);
  ASSERT_EQ(type->declaration.fields[0].members.size(), 2u);
  EXPECT_EQ(type->declaration.fields[0].members[1].name, "y");
  EXPECT_TRUE(table_.take_redescribed().empty());
}

TEST_F(EventTableTest, AnEventCanBeDescribedLaterAndAgain) {
  const std::uint32_t slot = add("moved struct position to 8");
  domain::Event& event = *domain_->events().at(slot);
  const auto* const type = table_.find(slot);
  table_.refresh();
  EXPECT_TRUE(type->declaration.fields[0].members.empty());
  for (const std::string name : {"x", "z"}) {
    ASSERT_TRUE(domain_->events().describe_structs(event, "position 8{s32 " + name + " 0 4}"));
    table_.refresh();
    EXPECT_THAT(table_.take_redescribed(), testing::ElementsAre(type));
    EXPECT_EQ(type->declaration.fields[0].members.at(0).name, name);
  }
  ASSERT_TRUE(domain_->events().describe_structs(event, "position 8{s32 z 0 4}"));  // nothing new
  table_.refresh();
  EXPECT_TRUE(table_.take_redescribed().empty());
  EXPECT_EQ(table_.types().size(), 1u);
}

TEST_F(EventTableTest, AnotherEventInTheSlotIsNotDescribed) {
  std::uint32_t slot = add("moved struct position to 8", 0);
  ASSERT_TRUE(domain_->events().describe_structs(*domain_->events().at(slot), "position 8{s32 x 0 4}"));
  domain_->events().drop_reference(slot);
  domain_->grace().drain(std::chrono::seconds(5));
  for (std::uint32_t i = plan::kFirstEventSlot + 1; i < plan::kMaxEvents; ++i) add("filler" + std::to_string(i));
  const std::uint32_t again = add("moved struct position to 8");
  ASSERT_EQ(again, slot);
  EXPECT_TRUE(table_.find(slot)->declaration.fields[0].members.empty());
}

// For a second, and longer where nothing has been copied yet.
bool goes_on(std::chrono::steady_clock::time_point begin, int copies) {
  const auto took = std::chrono::steady_clock::now() - begin;
  return took < std::chrono::seconds(1) || (copies == 0 && took < std::chrono::seconds(30));
}

TEST_F(EventTableTest, DescriptionsAreCopiedWhole) {
  const std::uint32_t slot = add("moved struct position to 8");
  domain::Event& event = *domain_->events().at(slot);
  std::atomic<bool> stop = false;
  std::thread owner([&] {
    for (int i = 0; !stop; ++i) {
      std::ignore =
          domain_->events().describe_structs(event, std::string(1 + i % 200, static_cast<char>('a' + i % 26)));
    }
  });
  int copies = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (goes_on(begin, copies)) {
    const auto copy = copy_description(domain_->control().segment(), slot);
    if (!copy || copy->text.empty()) continue;
    EXPECT_EQ(copy->text, std::string(copy->text.size(), copy->text[0]));
    ++copies;
  }
  stop = true;
  owner.join();
  EXPECT_GT(copies, 0);
}

TEST_F(EventTableTest, CopyIsOfOneEventWhileTheSlotChanges) {
  for (std::uint32_t i = plan::kFirstEventSlot + 1; i < plan::kMaxEvents; ++i) add("filler" + std::to_string(i));
  std::atomic<bool> stop = false;
  std::thread owner([&] {
    for (int i = 0; !stop; ++i) {
      const std::string field = std::string(1 + i % 60, static_cast<char>('a' + i % 26));
      domain_->events().drop_reference(add(field + " u32 " + field, 0));
      domain_->grace().drain(std::chrono::seconds(5));
    }
  });
  int copies = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (goes_on(begin, copies)) {
    for (std::uint32_t slot = plan::kMaxEvents - 1; slot < plan::kMaxEvents; ++slot) {
      const auto copy = copy_slot_text(domain_->control().segment(), slot);
      if (!copy || copy->text.empty()) continue;
      const auto type = type_of(*copy);
      ASSERT_TRUE(type) << copy->text;
      EXPECT_EQ(type->name, type->declaration.fields.at(0).name);
      ++copies;
    }
  }
  stop = true;
  owner.join();
  EXPECT_GT(copies, 0);
}

}  // namespace
}  // namespace landtrace::buffer
