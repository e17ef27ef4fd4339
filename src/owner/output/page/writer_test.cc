// What is in the data tests/cli/view_test.py looks at, in a browser by the page's own decoder. Here: the file.
#include "output/page/writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "base/fd.hpp"
#include "output/page/parts.hpp"

namespace landtrace::output {
namespace {

class PageWriterTest : public testing::Test {
 protected:
  PageWriterTest() {
    job_.id = 16384;
    job_.system = "user_events";
    job_.name = "job";
    job_.declaration = *event::parse_declaration("job u32 id; char[32] text");
    done_ = job_;
    done_.id = 16385;
    done_.name = "done";
  }
  void SetUp() override {
    std::string path = testing::TempDir() + "page_XXXXXX";
    file_ = Fd(::mkstemp(path.data()));
    ASSERT_TRUE(file_);
    ::unlink(path.c_str());
    target_.emplace(file_.get());
  }
  void begin(PageWriter::Options options = {}) { writer_.emplace(*target_, std::move(options)); }
  void emit(const EventType& type, std::uint64_t time, std::uint32_t id, const std::string& text = "text") {
    std::string payload(reinterpret_cast<const char*>(&id), sizeof id);
    payload += text;
    payload.resize(36);
    const Record record{
        .time_ns = time, .cpu = 3, .tid = 12, .event_id = type.id, .payload = std::as_bytes(std::span(payload))};
    const Task task{comm_, 10};
    writer_->event({record, type, &task, nullptr});
  }
  std::string finish() {
    writer_->end();
    target_->flush();
    EXPECT_TRUE(target_->result());
    std::string page(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(file_.get(), page.data(), page.size(), 0), static_cast<ssize_t>(page.size()));
    return page;
  }
  // The page without its data, which are nothing but base64.
  static std::string frame_of(std::string page) {
    for (std::size_t at = 0; (at = page.find(page::kDataBegin, at)) != std::string::npos;) {
      const std::size_t begin = at + page::kDataBegin.size();
      const std::size_t end = page.find(page::kDataEnd, begin);
      const std::string data = page.substr(begin, end - begin);
      EXPECT_EQ(data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
                std::string::npos);
      page.erase(at, end + page::kDataEnd.size() - at);
    }
    return page;
  }
  static std::string empty_frame() { return std::string(page::page_begin()) + std::string(page::page_end()); }

  EventType job_;
  EventType done_;
  std::string comm_ = "app";
  Fd file_;
  std::optional<Target> target_;
  std::optional<PageWriter> writer_;
};

TEST_F(PageWriterTest, NothingOfTheRecordingStandsInThePageButAsBase64) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>";
  begin({.about = {{"file", hostile}, {hostile, "-->"}}});
  comm_ = "<img src=x>";
  job_.name = "</script><b>";
  job_.declaration.fields[0].name = "<!--<script>";
  writer_->task(12, {comm_, 10});
  emit(job_, 1000, 1, hostile);
  emit(done_, 2000, 1, "\xff\xfe \x1b[31m \xe2\x80\xa8");
  writer_->lost(3, 5, 2500);
  EXPECT_EQ(frame_of(finish()), empty_frame());
}

TEST_F(PageWriterTest, APageIsKnownByItsBeginning) {
  begin();
  EXPECT_TRUE(finish().starts_with(page::kSignature));
  EXPECT_EQ(writer_->shown(), 0u);
}

TEST_F(PageWriterTest, WhatIsBehindTheLimitIsCounted) {
  begin({.spans = {{"user_events:job", "user_events:done", "id"}}, .limit = 2});
  emit(job_, 1000, 1);
  emit(job_, 2000, 2);
  emit(done_, 3000, 1);
  emit(done_, 4000, 2);
  emit(done_, 5000, 3);
  EXPECT_EQ(frame_of(finish()), empty_frame());
  EXPECT_EQ(writer_->shown(), 2u);
  EXPECT_EQ(writer_->not_shown(), 3u);
  EXPECT_EQ(writer_->complaint(), "spans without an end: 2; ends without a begin: 0");
}

TEST_F(PageWriterTest, SpansThatHaveBothEndsAreNoComplaint) {
  begin({.spans = {{"user_events:job", "user_events:done", "id"}}});
  emit(job_, 1000, 1);
  emit(done_, 3000, 1);
  EXPECT_EQ(frame_of(finish()), empty_frame());
  EXPECT_EQ(writer_->complaint(), "");
}

TEST_F(PageWriterTest, ManyEventsAreSeveralBlocks) {
  begin();
  for (std::uint32_t i = 0; i < 200'000; ++i) emit(i % 3 == 0 ? done_ : job_, 1000 + i, i, std::to_string(i % 1000));
  const std::string page = finish();
  EXPECT_EQ(frame_of(page), empty_frame());
  std::size_t blocks = 0;
  for (std::size_t at = 0; (at = page.find(page::kDataBegin, at)) != std::string::npos; ++at) ++blocks;
  EXPECT_EQ(blocks, 5u);  // four of events, the last not full; what stands behind all
  // Time, type and each field take few bytes.
  EXPECT_LT(page.size(), empty_frame().size() + 200'000 * 10);
}

}  // namespace
}  // namespace landtrace::output
