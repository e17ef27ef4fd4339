// <landtrace/reader.hpp> as programs have it: with the shared library. Domains are read in tests/cli/reader_test.py.
#include <landtrace/reader.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "output/trace_dat/test_support.hpp"

namespace landtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReaderTest : public testing::Test {
 protected:
  // "number" 11 at 1 s, then one lost and 22 at 2 s; on CPU 1 "other" 33 at 1.5 s, and two lost behind it.
  void SetUp() override {
    output::TraceDatWriter writer = output::create_writer(path_, 2);
    writer.add_event(output::number_type());
    writer.add_event(output::make_type(7, "other u32 m"));
    writer.set_task(100, {"app", 90});
    put(writer, output::number_record(1'000'000'000, 0, 11));
    writer.lost(0, 1);
    put(writer, output::number_record(2'000'000'000, 0, 22));
    const std::uint32_t m = 33;
    output::Record other = output::number_record(1'500'000'000, 1, m, 200);
    other.event_id = 7;
    put(writer, other);
    writer.lost(1, 2);
    ASSERT_EQ(output::message_of(writer.finish()), "");
  }

  static void put(output::TraceDatWriter& writer, const output::Record& record) {
    ASSERT_EQ(output::message_of(writer.append(record)), "");
  }

  // "NAME FIELD=VALUE" of each event.
  std::vector<std::string> read() {
    std::vector<std::string> events;
    for (const Record& record : reader_) {
      std::string text = record.name();
      for (const FieldValue& field : record.fields()) text += std::string(" ") + field.name() + '=' + field.to_string();
      events.push_back(text);
    }
    return events;
  }

  output::TempDir folder_;
  std::string path_ = folder_.file("t.dat");
  Reader reader_;
};

TEST_F(ReaderTest, EventsComeInTheOrderOfTimeWithWhoEmittedThem) {
  ASSERT_EQ(reader_.open(path_), 0) << reader_.failure();
  const Record* record = reader_.next();
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->time_ns(), 1'000'000'000u);
  EXPECT_STREQ(record->system(), "user_events");
  EXPECT_STREQ(record->name(), "number");
  EXPECT_STREQ(record->comm(), "app");
  EXPECT_EQ(record->tid(), 100u);
  EXPECT_EQ(record->tgid(), 90u);
  EXPECT_EQ(record->id(), output::kNumberId);
  EXPECT_EQ(record->payload().size(), 4u);
  EXPECT_EQ(record->lost(), 0u);
  record = reader_.next();
  ASSERT_NE(record, nullptr);
  EXPECT_STREQ(record->name(), "other");
  EXPECT_STREQ(record->comm(), "");
  EXPECT_EQ(record->tgid(), 0u);
  EXPECT_EQ(record->cpu(), 1u);
  record = reader_.next();
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->lost(), 1u);
  EXPECT_EQ(reader_.lost(), 1u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(reader_.next(), nullptr);
    EXPECT_EQ(reader_.code(), 0);
    EXPECT_EQ(reader_.lost(), 3u);
  }
}

TEST_F(ReaderTest, AFieldIsGivenAsWhatItIsWhereItFits) {
  ASSERT_EQ(reader_.open(path_), 0);
  const Record* const record = reader_.next();
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->get<int>("n"), 11);
  EXPECT_EQ(record->get<double>("n"), 11.0);
  EXPECT_EQ(record->get<std::string_view>("n"), std::nullopt);
  EXPECT_EQ(record->get<int>("m"), std::nullopt);
  EXPECT_FALSE(record->field("nosuch"));
  EXPECT_STREQ(record->field("n")->type(), "u32");
  EXPECT_EQ(record->fields().size(), 1u);
}

TEST_F(ReaderTest, EveryKindOfFieldHasItsValue) {
  output::TraceDatWriter writer = output::create_writer(path_, 1);
  writer.add_event(output::make_type(
      9,
      "kinds s8 small; u64 large; struct double real 8; char[4] name; __rel_loc char[] text; __rel_loc u8[] bytes; "
      "struct pair both 2; u32 last"));
  std::string payload;
  const auto add = [&payload](const auto& value) {
    payload.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  add(std::int8_t{-5});
  add(~std::uint64_t{0});
  add(2.5);
  payload += "abcd";
  add(std::uint32_t{3 << 16 | 10});  // behind `last`
  add(std::uint32_t{2 << 16 | 9});
  payload += "\x0a\xff";
  add(std::uint32_t{7});
  payload += std::string("x\xfe\0\x01\x02", 5);
  output::Record record{.time_ns = 1, .cpu = 0, .tid = 1, .event_id = 9, .payload = output::bytes_of(payload)};
  put(writer, record);
  const std::string little = payload.substr(0, 3);
  record.payload = output::bytes_of(little);
  put(writer, record);
  ASSERT_EQ(output::message_of(writer.finish()), "");

  ASSERT_EQ(reader_.open(path_), 0);
  const Record* event = reader_.next();
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->get<int>("small"), -5);
  EXPECT_EQ(event->get<unsigned>("small"), std::nullopt);
  EXPECT_EQ(event->get<std::uint64_t>("large"), ~std::uint64_t{0});
  EXPECT_EQ(event->get<std::int64_t>("large"), std::nullopt);
  EXPECT_EQ(event->get<float>("real"), 2.5f);
  EXPECT_EQ(event->get<int>("real"), std::nullopt);
  EXPECT_EQ(event->get<std::string>("name"), "abcd");
  EXPECT_EQ(event->get<std::string_view>("text"), "x\xfe");
  EXPECT_EQ(event->field("bytes")->kind(), LANDTRACE_VALUE_JSON);
  EXPECT_EQ(event->field("bytes")->text(), "[1,2]");
  EXPECT_EQ(event->field("both")->text(), "\"0aff\"");
  event = reader_.next();
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->get<int>("small"), -5);
  EXPECT_EQ(event->field("large")->kind(), LANDTRACE_VALUE_NONE);
  EXPECT_EQ(event->field("text")->to_string(), "");
}

TEST_F(ReaderTest, PatternsAndFilterChooseForTheNextFileAlone) {
  ASSERT_EQ(reader_.add_pattern("user_events:num*"), 0);
  ASSERT_EQ(reader_.set_filter("n > 11"), 0);
  ASSERT_EQ(reader_.open(path_), 0) << reader_.failure();
  EXPECT_THAT(read(), ElementsAre("number n=22"));
  EXPECT_EQ(reader_.lost(), 3u);
  ASSERT_EQ(reader_.open(path_), 0);
  EXPECT_THAT(read(), ElementsAre("number n=11", "other m=33", "number n=22"));
}

TEST_F(ReaderTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(reader_.open(folder_.file("nosuch")), -ENOENT);
  EXPECT_THAT(reader_.failure(), HasSubstr("nosuch"));
  EXPECT_EQ(reader_.next(), nullptr);
  EXPECT_EQ(reader_.code(), EBADF);
  EXPECT_EQ(reader_.add_pattern("a:[b"), -EINVAL);
  EXPECT_STRNE(reader_.failure(), "");
  for (const char* const filter : {"n >", "nosuch == 1"}) {
    ASSERT_EQ(reader_.set_filter(filter), 0);
    EXPECT_EQ(reader_.open(path_), -EINVAL);
    EXPECT_THAT(reader_.failure(), HasSubstr(filter));
  }
  output::write_text(path_, "no trace file");
  EXPECT_EQ(reader_.open(path_), -EBADMSG);
  EXPECT_EQ(reader_.listen(folder_.file("nosuch.sock")), -ENOENT);
}

TEST_F(ReaderTest, ADamagedCpuIsAnErrorAndTheOthersGoOn) {
  std::string bytes = output::read_text(path_);
  const std::uint32_t n = 11;
  const std::size_t at = bytes.rfind(std::string(reinterpret_cast<const char*>(&n), sizeof n));
  ASSERT_NE(at, std::string::npos);
  bytes[at - 12] = 31;  // the record's length: more than the page holds
  output::write_text(path_, bytes);
  ASSERT_EQ(reader_.open(path_), 0);
  std::vector<std::string> names;
  int failures = 0;
  while (true) {
    if (const Record* const record = reader_.next()) {
      names.emplace_back(record->name());
    } else if (reader_.code() == 0) {
      break;
    } else {
      EXPECT_EQ(reader_.code(), EBADMSG);
      ++failures;
    }
  }
  EXPECT_EQ(failures, 1);
  EXPECT_THAT(names, testing::Contains("other"));
}

TEST_F(ReaderTest, LinesAreThoseOfReport) {
  ASSERT_EQ(reader_.open(path_), 0);
  const Record* const record = reader_.next();
  ASSERT_NE(record, nullptr);
  EXPECT_STREQ(record->text(), "             app-100     [000] .....     1.000000: number: n=0xb (11)");
  EXPECT_STREQ(record->json(),
               "{\"time\":1000000000,\"cpu\":0,\"pid\":100,\"tgid\":90,\"comm\":\"app\",\"system\":\"user_events\","
               "\"event\":\"number\",\"fields\":{\"n\":11}}");
  EXPECT_EQ(record->get<int>("n"), 11) << "lines do not disturb";
}

class FollowTest : public ReaderTest {
 protected:
  // What a recorder has written, and goes on with.
  void SetUp() override {
    writer_.emplace(output::create_writer(path_, 1));
    writer_->add_event(output::number_type());
    append(1);
    publish(1);
  }

  void append(std::uint32_t number) { put(*writer_, output::number_record(number, 0, number)); }
  void publish(std::uint64_t time_ns) { ASSERT_EQ(output::message_of(writer_->publish(time_ns)), ""); }
  // What is there until nothing comes for so long, or the end.
  std::vector<int> more(std::chrono::milliseconds pause = std::chrono::milliseconds{60}) {
    std::vector<int> numbers;
    while (const Record* const record = reader_.next(pause)) numbers.push_back(record->get<int>("n").value_or(-1));
    return numbers;
  }

  std::optional<output::TraceDatWriter> writer_;
};

TEST_F(FollowTest, WaitsForWhatARecorderWrites) {
  ASSERT_EQ(reader_.follow(path_), 0) << reader_.failure();
  EXPECT_THAT(more(), ElementsAre(1));
  EXPECT_EQ(reader_.code(), ETIMEDOUT);
  append(2);
  writer_->add_event(output::make_type(7, "later u32 n"));
  const std::uint32_t n = 3;
  output::Record later = output::number_record(3, 0, n);
  later.event_id = 7;
  put(*writer_, later);
  publish(3);
  EXPECT_THAT(more(), ElementsAre(2, 3));
  EXPECT_EQ(reader_.code(), ETIMEDOUT);
  append(4);
  writer_->lost(0, 5);
  ASSERT_EQ(output::message_of(writer_->finish()), "");
  EXPECT_THAT(more(), ElementsAre(4));
  EXPECT_EQ(reader_.code(), 0) << reader_.failure();
  EXPECT_EQ(reader_.lost(), 5u);
}

TEST_F(FollowTest, WhatALookFindsIsGivenThoughTheTimeIsOver) {
  ASSERT_EQ(reader_.follow(path_), 0) << reader_.failure();
  EXPECT_THAT(more(std::chrono::milliseconds(0)), ElementsAre(1));
  for (std::uint32_t number = 2; number < 20; ++number) {
    ::usleep(20'000);  // it looks again no sooner
    append(number);
    publish(number);
    EXPECT_THAT(more(std::chrono::milliseconds(0)), ElementsAre(static_cast<int>(number)));
  }
}

TEST_F(FollowTest, ComesToTheEndWhenTheRecorderHasGone) {
  ASSERT_EQ(reader_.follow(path_), 0);
  EXPECT_THAT(more(), ElementsAre(1));
  writer_.reset();
  EXPECT_THAT(more(std::chrono::seconds(60)), ElementsAre());
  EXPECT_EQ(reader_.code(), 0) << reader_.failure();
}

TEST_F(FollowTest, AFinishedRecordingIsReadToItsEnd) {
  ASSERT_EQ(output::message_of(writer_->finish()), "");
  ASSERT_EQ(reader_.follow(path_), 0);
  EXPECT_THAT(more(std::chrono::seconds(60)), ElementsAre(1));
  EXPECT_EQ(reader_.code(), 0) << reader_.failure();
}

TEST_F(FollowTest, OpenGivesWhatIsThereAndDoesNotWait) {
  ASSERT_EQ(reader_.open(path_), 0);
  EXPECT_THAT(more(std::chrono::seconds(60)), ElementsAre(1));
  EXPECT_EQ(reader_.code(), 0);
}

TEST_F(FollowTest, AFilterMayFitAnEventThatComesLater) {
  reader_.set_filter("nosuch ==");
  EXPECT_EQ(reader_.follow(path_), -EINVAL);
  reader_.set_filter("m > 4");
  ASSERT_EQ(reader_.follow(path_), 0) << reader_.failure();
  EXPECT_THAT(more(), ElementsAre());
  EXPECT_EQ(reader_.code(), ETIMEDOUT);
  writer_->add_event(output::make_type(7, "later u32 m"));
  const std::uint32_t m = 5;
  output::Record later = output::number_record(3, 0, m);
  later.event_id = 7;
  put(*writer_, later);
  ASSERT_EQ(output::message_of(writer_->finish()), "");
  const Record* const record = reader_.next(std::chrono::seconds(60));
  ASSERT_NE(record, nullptr) << reader_.failure();
  EXPECT_STREQ(record->name(), "later");
  EXPECT_EQ(reader_.next(), nullptr);
  EXPECT_EQ(reader_.code(), 0);
}

TEST_F(FollowTest, AFilterThatFittedNothingIsToldAtTheEnd) {
  reader_.set_filter("nosuch == 1");
  ASSERT_EQ(reader_.follow(path_), 0);
  ASSERT_EQ(output::message_of(writer_->finish()), "");
  EXPECT_EQ(reader_.next(), nullptr);
  EXPECT_EQ(reader_.code(), EINVAL);
  EXPECT_THAT(reader_.failure(), HasSubstr("nosuch"));
  EXPECT_EQ(reader_.next(), nullptr);
  EXPECT_EQ(reader_.code(), 0);
}

TEST_F(FollowTest, IsStoppedWhileItWaits) {
  ASSERT_EQ(reader_.follow(path_), 0);
  EXPECT_THAT(more(), ElementsAre(1));
  std::thread stopper([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    reader_.stop();
  });
  EXPECT_EQ(reader_.next(), nullptr);
  EXPECT_EQ(reader_.code(), 0);
  stopper.join();
}

TEST_F(ReaderTest, AStoppedReaderGivesNothing) {
  ASSERT_EQ(reader_.open(path_), 0);
  std::thread([this] { reader_.stop(); }).join();
  EXPECT_EQ(reader_.next(), nullptr);
  EXPECT_EQ(reader_.code(), 0);
}

TEST_F(ReaderTest, WhatWasMovedFromHasNothingAndMayBeAskedAllTheSame) {
  ASSERT_EQ(reader_.open(path_), 0);
  const Reader other = std::move(reader_);
  reader_.stop();  // NOLINT(bugprone-use-after-move): that is what is asked
  EXPECT_EQ(reader_.next(), nullptr);
  EXPECT_EQ(reader_.code(), ENOMEM);
  EXPECT_EQ(reader_.lost(), 0u);
  EXPECT_STREQ(reader_.clock(), "");
  EXPECT_FALSE(reader_.wall_offset_ns());
  EXPECT_EQ(other.code(), 0);
}

TEST_F(ReaderTest, AReaderIsMoved) {
  ASSERT_EQ(reader_.open(path_), 0);
  ASSERT_NE(reader_.next(), nullptr);
  Reader other = std::move(reader_);
  reader_ = Reader();
  EXPECT_EQ(reader_.next(), nullptr);
  const Record* const record = other.next();
  ASSERT_NE(record, nullptr);
  EXPECT_STREQ(record->name(), "other");
}

}  // namespace
}  // namespace landtrace
