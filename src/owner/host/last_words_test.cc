#include "host/last_words.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace landtrace::host {
namespace {

using namespace std::chrono_literals;

// Takes what is written when it has refused so many times.
class Refusing : public tracefs::OpenFile {
 public:
  Refusing(int times, int error, std::string& log) : times_(times), error_(error), log_(log) {}
  Result<std::size_t> write(const tracefs::Caller& caller, std::string_view bytes, std::uint64_t) override {
    log_ += times_ > 0 ? "-" : std::to_string(caller.who.uid) + std::string(bytes);
    if (times_-- > 0) return fail(error_, "not now");
    return bytes.size();
  }

 private:
  int times_;
  int error_;
  std::string& log_;
};

// Takes a byte at a time, and now and then none. Once, long after its beginning, it is in use for a moment.
class Slow : public tracefs::OpenFile {
 public:
  explicit Slow(std::string& log) : log_(log) {}
  Result<std::size_t> write(const tracefs::Caller&, std::string_view bytes, std::uint64_t) override {
    constexpr std::size_t kInUse = 500;
    log_ += bytes.front();
    if (log_.size() == kInUse) return fail(EBUSY, "not now");
    return log_.size() % 2;
  }

 private:
  std::string& log_;
};

class LastWordsTest : public testing::Test {
 protected:
  void take(int times, int error) {
    std::vector<LastWord> all;
    all.push_back({std::make_unique<Refusing>(times, error, log_), {1, {7, 7}}, "a"});
    words_.take(std::move(all), begin_);
  }
  void speak_for(std::chrono::milliseconds time) {
    for (auto now = begin_; now <= begin_ + time; now += 10ms) words_.speak(now);
  }

  LastWords::Time begin_{1h};
  std::string log_;
  LastWords words_;
};

TEST_F(LastWordsTest, AreWrittenOnceAndAsTheirCaller) {
  EXPECT_FALSE(words_.due());
  take(0, 0);
  EXPECT_EQ(words_.due(), begin_);
  speak_for(100ms);
  EXPECT_EQ(log_, "7a");
  EXPECT_FALSE(words_.due());
}

TEST_F(LastWordsTest, WaitUntilWhatIsInUseIsNot) {
  take(3, EBUSY);
  words_.speak(begin_);
  EXPECT_EQ(words_.due(), begin_ + 10ms);
  words_.speak(begin_ + 9ms);
  EXPECT_EQ(log_, "-");
  speak_for(100ms);
  EXPECT_EQ(log_, "---7a");
}

TEST_F(LastWordsTest, MayTakeManyTurns) {
  std::vector<LastWord> all;
  all.push_back({std::make_unique<Slow>(log_), {1, {7, 7}}, std::string(400, 'a') + "b"});
  words_.take(std::move(all), begin_);
  speak_for(7s);
  EXPECT_TRUE(words_.due());
  speak_for(9s);
  EXPECT_FALSE(words_.due());
  EXPECT_TRUE(log_.ends_with("aabb")) << log_;
}

TEST_F(LastWordsTest, AreGivenUpWhereTheyAreOfNoUse) {
  take(3, ENOENT);
  speak_for(100ms);
  EXPECT_EQ(log_, "-");
  take(1000, EBUSY);
  speak_for(2s);
  EXPECT_FALSE(words_.due());
  EXPECT_EQ(log_.size(), 202u);
}

}  // namespace
}  // namespace landtrace::host
