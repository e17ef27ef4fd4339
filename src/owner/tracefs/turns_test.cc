// What takes more than one turn: others have the domain in between.
#include <gtest/gtest.h>

#include <algorithm>

#include "tracefs/context.hpp"
#include "tracefs/events/switching.hpp"
#include "tracefs/remove_all.hpp"
#include "tracefs/test_session.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {
namespace {

// Over before anything is done.
domain::Turn over() { return domain::Turn(std::chrono::microseconds(0)); }

class TurnsTest : public testing::Test {
 protected:
  Context& context() { return session_.tree().context(); }
  domain::Domain& domain() { return session_.domain(); }

  void make(const std::string& name) { ASSERT_EQ(session_.append("dynamic_events", "u:" + name), "ok"); }
  void make_many(unsigned count) {
    for (unsigned i = 0; i < count; ++i) make("e" + std::to_string(i));
  }
  std::size_t enabled() {
    const auto events = domain().events().all();
    return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [&](const domain::Event* event) {
      return event->listeners[domain().top().index];
    }));
  }
  Switching switching(bool on) { return {context().state_of(domain().top()), domain().events().all(), on}; }

  TestSession session_;
};

TEST_F(TurnsTest, ManyEventsAreEnabledSomeAtATime) {
  make_many(100);
  Switching on = switching(true);
  EXPECT_FALSE(*on.go_on(over()));
  const std::size_t some = enabled();
  EXPECT_GT(some, 0u);
  EXPECT_LT(some, 100u);
  EXPECT_FALSE(*on.go_on(over()));
  EXPECT_EQ(enabled(), 2 * some);
  EXPECT_TRUE(*on.go_on(domain::Turn(std::chrono::hours(1))));
  EXPECT_EQ(enabled(), 100u);
  Switching off = switching(false);
  while (!*off.go_on(over())) continue;
  EXPECT_EQ(enabled(), 0u);
}

TEST_F(TurnsTest, WhoeverComesInBetweenIsNotEnabled) {
  make_many(100);
  Switching on = switching(true);
  ASSERT_FALSE(*on.go_on(over()));
  const auto all = domain().events().all();
  const auto idle = std::find_if(all.begin(), all.end(),
                                 [&](const domain::Event* event) { return !event->listeners[domain().top().index]; });
  ASSERT_NE(idle, all.end());
  ASSERT_EQ(session_.append("dynamic_events", "-:" + (*idle)->name), "ok");
  while (domain().grace().is_waiting()) domain().maintain();
  make("another");
  make("and_another");
  while (!*on.go_on(over())) continue;
  EXPECT_EQ(enabled(), 99u);
}

TEST_F(TurnsTest, AnInstanceMayGoInBetween) {
  ASSERT_EQ(session_("mkdir instances/i"), "ok");
  make_many(100);
  Switching on(context().state_of(*domain().instances().find("i")), domain().events().all(), true);
  ASSERT_FALSE(*on.go_on(over()));
  ASSERT_EQ(session_("rmdir instances/i"), "ok");
  EXPECT_EQ(on.go_on(over()).error().code, ENODEV);
}

// Many more than go in one turn, whatever the machine.
TEST_F(TurnsTest, AGroupGoesAsAWhole) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(session_.append("uprobe_events", "p:g/e" + std::to_string(i) + " /bin/true:0x40"), "ok");
  }
  make("other");
  ASSERT_EQ(session_.append("uprobe_events", "-:g/e1*"), "ok");
  EXPECT_EQ(domain().events().all().size(), 301u - 111u);
  ASSERT_EQ(session_.put("events/g/e299/enable", "1"), "ok");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/*"), "-EBUSY");
  EXPECT_EQ(domain().events().all().size(), 301u - 111u);
  ASSERT_EQ(session_.put("events/g/e299/enable", "0"), "ok");
  ASSERT_EQ(session_.append("dynamic_events", "-:g/*"), "ok");
  EXPECT_EQ(domain().events().all().size(), 1u);
  EXPECT_EQ(session_.append("uprobe_events", "-:g/*"), "-ENOENT");
}

TEST_F(TurnsTest, AllGoOneByOne) {
  make_many(3);
  ASSERT_EQ(session_.append("dynamic_events", "e:probes/of_e0 user_events.e0"), "ok");
  const auto remove = [&] {
    return remove_all(
        context(), TestSession::caller(), [](const auto&) { return true; }, std::chrono::microseconds(0));
  };
  EXPECT_EQ(remove().error().code, kNotYet);
  EXPECT_EQ(domain().events().all().size(), 3u) << "the probe goes first";
  EXPECT_EQ(domain().events().find("probes", "of_e0"), nullptr);
  EXPECT_EQ(remove().error().code, kNotYet);
  EXPECT_EQ(remove().error().code, kNotYet);
  EXPECT_TRUE(remove());
  EXPECT_TRUE(remove()) << "nothing is left";
  EXPECT_TRUE(domain().events().all().empty());
}

// Takes so many turns.
class Counting final : public Work {
 public:
  Counting(int turns, int error, int& alive) : turns_(turns), error_(error), alive_(alive) { ++alive_; }
  ~Counting() override { --alive_; }
  Result<bool> go_on(const domain::Turn&) override {
    if (--turns_ > 0) return false;
    if (error_ != 0) return fail(error_);
    return true;
  }

 private:
  int turns_;
  int error_;
  int& alive_;
};

// Each write takes three turns, one of "bad" fails then.
class SlowFile : public TextFile {
 public:
  explicit SlowFile(int& begun, int& alive) : TextFile(0640), begun_(begun), alive_(alive) {}

 protected:
  Result<std::size_t> store_in_turns(const Caller&, std::string_view bytes, Rest& rest) override {
    if (!rest.is_of(bytes)) ++begun_;
    LT_TRY(const bool done, rest.is_of(bytes) ? rest.go_on() : rest.begin(bytes, work_for(bytes)));
    return done ? bytes.size() : 0;
  }

 private:
  std::unique_ptr<Work> work_for(std::string_view bytes) {
    return std::make_unique<Counting>(3, bytes == "bad" ? EBUSY : 0, alive_);
  }

  int& begun_;
  int& alive_;
};

class RestTest : public testing::Test {
 protected:
  Result<std::size_t> write(std::string_view bytes) { return open_->write(Caller(), bytes, 0); }

  int begun_ = 0;
  int alive_ = 0;
  std::shared_ptr<SlowFile> file_ = std::make_shared<SlowFile>(begun_, alive_);
  std::unique_ptr<OpenFile> open_ = *file_->open(Caller(), O_WRONLY);
};

TEST_F(RestTest, TheSameBytesGoOnWithWhatWasBegun) {
  EXPECT_EQ(*write("one"), 0u);
  EXPECT_TRUE(open_->takes_turns());
  EXPECT_EQ(*write("one"), 0u);
  EXPECT_EQ(*write("one"), 3u);
  EXPECT_FALSE(open_->takes_turns());
  EXPECT_EQ(begun_, 1);
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(*write("one"), 0u) << "it begins anew";
  EXPECT_EQ(begun_, 2);
}

TEST_F(RestTest, OtherBytesEndWhatWasBegunInTheMiddle) {
  EXPECT_EQ(*write("one"), 0u);
  EXPECT_EQ(*write("other"), 0u);
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(*write("other"), 0u);
  EXPECT_EQ(*write("other"), 5u);
  EXPECT_EQ(begun_, 2);
}

TEST_F(RestTest, WhatFailsIsOver) {
  EXPECT_EQ(*write("bad"), 0u);
  EXPECT_EQ(*write("bad"), 0u);
  EXPECT_EQ(write("bad").error().code, EBUSY);
  EXPECT_FALSE(open_->takes_turns());
  EXPECT_EQ(alive_, 0);
}

TEST_F(RestTest, WhatIsLeftGoesWithTheOpenFile) {
  EXPECT_EQ(*write("one"), 0u);
  const auto other = *file_->open(Caller(), O_WRONLY);
  EXPECT_EQ(*other->write(Caller(), "one", 0), 0u) << "of another open file it is its own";
  EXPECT_EQ(begun_, 2);
  EXPECT_EQ(alive_, 2);
  open_.reset();
  EXPECT_EQ(alive_, 1);
}

// A text that is there when the test says so.
class SlowText : public TextFile {
 public:
  explicit SlowText(int& alive) : TextFile(0440), alive_(alive) {}
  bool is_there = false;
  int begun = 0;
  int error = 0;

 protected:
  Result<std::string> begin_text(std::unique_ptr<TextToCome>& to_come) override {
    class Slow final : public TextToCome {
     public:
      explicit Slow(SlowText& file) : file_(file) { ++file_.alive_; }
      ~Slow() override { --file_.alive_; }
      [[nodiscard]] bool is_there() const override { return file_.is_there; }
      Result<std::string> take() override {
        if (file_.error != 0) return fail(file_.error);
        return "text " + std::to_string(file_.begun);
      }

     private:
      SlowText& file_;
    };
    ++begun;
    to_come = std::make_unique<Slow>(*this);
    return std::string();
  }

 private:
  int& alive_;
};

class TextToComeTest : public testing::Test {
 protected:
  std::string read(OpenFile& open, std::uint64_t offset = 0) {
    char bytes[100];
    const auto got = open.read(Caller(), bytes, offset);
    return got ? std::string(bytes, *got) : got.error().code == kNotYet ? "(not yet)" : "(error)";
  }

  int alive_ = 0;
  std::shared_ptr<SlowText> file_ = std::make_shared<SlowText>(alive_);
  std::unique_ptr<OpenFile> open_ = *file_->open(Caller(), O_RDONLY);
};

TEST_F(TextToComeTest, IsReadOnceItIsThere) {
  EXPECT_TRUE(open_->has_input());
  EXPECT_EQ(read(*open_), "(not yet)");
  EXPECT_EQ(read(*open_), "(not yet)");
  EXPECT_FALSE(open_->has_input());
  file_->is_there = true;
  EXPECT_TRUE(open_->has_input());
  EXPECT_EQ(read(*open_), "text 1");
  EXPECT_EQ(read(*open_, 5), "1");
  EXPECT_EQ(read(*open_, 6), "");
  EXPECT_EQ(file_->begun, 1);
  EXPECT_EQ(alive_, 0);
}

TEST_F(TextToComeTest, IsMadeAnewForWhoeverReadsFromTheBeginning) {
  file_->is_there = true;
  EXPECT_EQ(read(*open_), "text 1");
  file_->is_there = false;
  EXPECT_EQ(read(*open_), "(not yet)");
  EXPECT_EQ(read(*open_, 5), "(not yet)") << "the one before is gone";
  file_->is_there = true;
  EXPECT_EQ(read(*open_, 5), "2");
}

TEST_F(TextToComeTest, IsOneForEachOpenFileAndGoesWithIt) {
  const auto other = *file_->open(Caller(), O_RDONLY);
  EXPECT_EQ(read(*open_), "(not yet)");
  EXPECT_EQ(read(*other), "(not yet)");
  EXPECT_EQ(alive_, 2);
  open_.reset();
  EXPECT_EQ(alive_, 1);
}

TEST_F(TextToComeTest, ThatFailsIsToldAndMadeAnew) {
  file_->is_there = true;
  file_->error = ENOMEM;
  char byte = 0;
  EXPECT_EQ(open_->read(Caller(), {&byte, 1}, 0).error().code, ENOMEM);
  file_->error = 0;
  EXPECT_EQ(read(*open_), "text 2");
}

}  // namespace
}  // namespace landtrace::tracefs
