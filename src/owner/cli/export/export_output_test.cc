#include "cli/export/export_output.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

class FoldedTest : public testing::Test {
 protected:
  FoldedTest() {
    output_.emplace(ExportOutput::open(**export_format("folded"), path_, "", {.lasts = true}).value());
    count(3);
    output_->exporter().checkpoint();
    output_->flush();
    count(4);
  }
  void count(int events) {
    const std::uint32_t number = 1;
    const output::Record record = output::number_record(1, 0, number);
    const output::Task task{"app", 1};
    for (int i = 0; i < events; ++i) output_->exporter().event({record, type_, &task, nullptr});
  }

  const output::EventType type_ = output::number_type();
  output::TempDir dir_ = output::TempDir::in_memory();
  const std::string path_ = dir_.file("out");
  std::optional<ExportOutput> output_;
};

TEST_F(FoldedTest, WhatItHasStaysUntilTheEndIsInItsPlace) {
  output_->exporter().end();
  output_->flush();
  EXPECT_EQ(output::read_text(path_ + ".partial"), "app;user_events:number 3\napp;user_events:number 4\n");
  output::write_text(path_, "older");
  ASSERT_TRUE(output_->keep());
  EXPECT_EQ(output::read_text(path_), "app;user_events:number 7\n");
  EXPECT_EQ(output::read_text(path_ + ".old"), "older");
  EXPECT_THAT(dir_.list(), testing::ElementsAre("out", "out.old"));
}

TEST_F(FoldedTest, WhatItHasStaysWhereTheEndHasNoRoom) {
  output_->exporter().checkpoint();
  output_->flush();
  const std::string written = output::read_text(path_ + ".partial");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit nothing{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &nothing), 0);
  output_->exporter().end();
  const auto kept = output_->keep();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  testing::internal::CaptureStderr();
  output_->leave();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("what was written until then is " + path_));
  EXPECT_FALSE(kept);
  output_.reset();
  EXPECT_EQ(output::read_text(path_ + ".partial"), written);
  EXPECT_THAT(dir_.list(), testing::ElementsAre("out.partial"));
}

}  // namespace
}  // namespace landtrace::cli
