// What the control API asks an owner for, and what it makes of answers that a real one rarely gives.
#include <landtrace/control.h>

#include <fcntl.h>

#include <cstring>

#include "client/fake_owner.hpp"

namespace landtrace::client {
namespace {

using ipc::Operation;
using Kind = FakeAnswer::Kind;

class ControlApiTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    owner_.emplace(path());
    ASSERT_EQ(landtrace_control_open(&control_, path().c_str()), 0);
    // As a file that takes all.
    owner_->answer(Operation::kTreeWrite, [](const Asked& asked) { return FakeAnswer::number(asked.text.size()); });
  }
  void TearDown() override {
    landtrace_control_close(control_);
    owner_.reset();
    ClientTest::TearDown();
  }
  // A file with this in it, given out in pieces.
  void answer_reads(std::string content, std::size_t piece) {
    owner_->answer(Operation::kTreeRead, [content = std::move(content), piece](const Asked& asked) {
      FakeAnswer answer;
      answer.text = content.substr(std::min<std::size_t>(asked.request.b, content.size()), piece);
      return answer;
    });
  }
  [[nodiscard]] std::string last_text(Operation operation) const {
    const auto asked = owner_->asked(operation);
    return asked.empty() ? "not asked" : asked.back().text;
  }
  [[nodiscard]] const landtrace_failure& failure() const { return *landtrace_control_failure(control_); }

  std::optional<FakeOwner> owner_;
  landtrace_control* control_ = nullptr;
};

TEST_F(ControlApiTest, WithoutAnOwnerThereIsNoConnection) {
  landtrace_control* none = control_;
  EXPECT_EQ(landtrace_control_open(&none, (folder() + "/nowhere").c_str()), -ENOENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(landtrace_control_open(&none, std::string(200, 'x').c_str()), -ENAMETOOLONG);
}

TEST_F(ControlApiTest, AWriteIsAnOpenAWriteAndAClose) {
  EXPECT_EQ(landtrace_control_write(control_, "tracing_on", "0"), 0);
  const auto asked = owner_->asked();
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].request.operation, Operation::kTreeOpen);
  EXPECT_EQ(asked[0].text, "tracing_on");
  EXPECT_EQ(asked[0].request.a, static_cast<std::uint64_t>(O_WRONLY | O_APPEND));
  EXPECT_EQ(asked[1].request.operation, Operation::kTreeWrite);
  EXPECT_EQ(asked[1].text, "0");
  EXPECT_EQ(asked[2].request.operation, Operation::kTreeClose);
}

TEST_F(ControlApiTest, EachCallHasItsFile) {
  const auto path_of = [&](int result) {
    EXPECT_EQ(result, 0);
    return last_text(Operation::kTreeOpen) + " " + last_text(Operation::kTreeWrite);
  };
  EXPECT_EQ(path_of(landtrace_control_enable(control_, nullptr, "sys:event", 1)), "events/sys/event/enable 1");
  EXPECT_EQ(path_of(landtrace_control_enable(control_, "", "sys", 0)), "events/sys/enable 0");
  EXPECT_EQ(path_of(landtrace_control_enable(control_, "mine", "sys:event", 7)),
            "instances/mine/events/sys/event/enable 1");
  EXPECT_EQ(path_of(landtrace_control_set_filter(control_, "mine", "sys", "a > 1")),
            "instances/mine/events/sys/filter a > 1");
  EXPECT_EQ(path_of(landtrace_control_set_filter(control_, nullptr, "sys:event", nullptr)),
            "events/sys/event/filter 0");
  EXPECT_EQ(path_of(landtrace_control_add_trigger(control_, nullptr, "sys:event", "traceoff")),
            "events/sys/event/trigger traceoff");
  EXPECT_EQ(path_of(landtrace_control_remove_trigger(control_, nullptr, "sys:event", "traceoff")),
            "events/sys/event/trigger !traceoff");
  EXPECT_EQ(landtrace_control_make_instance(control_, "mine"), 0);
  EXPECT_EQ(last_text(Operation::kTreeMakeFolder), "instances/mine");
  EXPECT_EQ(landtrace_control_remove_instance(control_, "mine"), 0);
  EXPECT_EQ(last_text(Operation::kTreeRemoveFolder), "instances/mine");
}

TEST_F(ControlApiTest, WhatIsNoNameIsNotAskedFor) {
  EXPECT_EQ(landtrace_control_make_instance(control_, nullptr), -EINVAL);
  EXPECT_EQ(landtrace_control_remove_instance(control_, "."), -EINVAL);
  EXPECT_EQ(landtrace_control_enable(control_, "a/b", "sys:event", 1), -EINVAL);
  EXPECT_EQ(landtrace_control_enable(control_, nullptr, nullptr, 1), -EINVAL);
  EXPECT_EQ(landtrace_control_enable(control_, nullptr, "sys:event/..", 1), -EINVAL);
  EXPECT_STREQ(failure().sentence, "want SYSTEM:EVENT");
  EXPECT_EQ(landtrace_control_filter(control_, nullptr, "sys", nullptr, 0), -EINVAL);
  EXPECT_EQ(landtrace_control_add_trigger(control_, nullptr, "sys:event", nullptr), -EINVAL);
  EXPECT_EQ(landtrace_control_add_trigger(control_, nullptr, "sys:event", " \t\n"), -EINVAL);
  EXPECT_EQ(landtrace_control_remove_trigger(control_, nullptr, "sys:event", "!traceoff"), -EINVAL);
  EXPECT_TRUE(owner_->asked().empty());
}

TEST_F(ControlApiTest, ARefusalIsToldWithItsSentenceAndPlaceUntilTheNextCall) {
  FakeAnswer refusal = FakeAnswer::error(EINVAL, "Field not found");
  refusal.reply.a = 6;
  owner_->answer(Operation::kTreeWrite, refusal);
  EXPECT_EQ(landtrace_control_set_filter(control_, nullptr, "sys:event", "a > 1"), -EINVAL);
  EXPECT_EQ(failure().code, EINVAL);
  EXPECT_EQ(failure().position, 5);
  EXPECT_STREQ(failure().sentence, "Field not found");
  EXPECT_EQ(owner_->asked().back().request.operation, Operation::kTreeClose);
  owner_->answer(Operation::kTreeOpen, FakeAnswer::error(EACCES));
  EXPECT_EQ(landtrace_control_set_filter(control_, nullptr, "sys:event", "a > 1"), -EACCES);
  EXPECT_EQ(failure().position, -1);
  EXPECT_STREQ(failure().sentence, "Permission denied");  // without one of the owner's the system's
  owner_->answer(Operation::kTreeMakeFolder, FakeAnswer());
  EXPECT_EQ(landtrace_control_make_instance(control_, "mine"), 0);
  EXPECT_EQ(failure().code, 0);
  EXPECT_STREQ(failure().sentence, "");
}

TEST_F(ControlApiTest, AMistakeAtTheFirstByteHasAPlaceToo) {
  FakeAnswer refusal = FakeAnswer::error(EINVAL);
  refusal.reply.a = 1;
  owner_->answer(Operation::kTreeWrite, refusal);
  EXPECT_EQ(landtrace_control_write(control_, "set_event", "?"), -EINVAL);
  EXPECT_EQ(failure().position, 0);
  refusal.reply.a = 0;
  owner_->answer(Operation::kTreeWrite, refusal);
  EXPECT_EQ(landtrace_control_write(control_, "set_event", "?"), -EINVAL);
  EXPECT_EQ(failure().position, -1);
}

TEST_F(ControlApiTest, AFileThatTakesAPartOnlyIsAnError) {
  owner_->answer(Operation::kTreeWrite, FakeAnswer::number(2));
  EXPECT_EQ(landtrace_control_write(control_, "set_event", "abc"), -EIO);
  EXPECT_EQ(landtrace_control_write(control_, "set_event", "ab"), 0);
}

TEST_F(ControlApiTest, WhatNoFileTakesIsNotSent) {
  EXPECT_EQ(landtrace_control_write(control_, "set_event", std::string(ipc::kMaxText, 'x').c_str()), 0);
  const std::size_t before = owner_->asked().size();
  EXPECT_EQ(landtrace_control_write(control_, "set_event", std::string(ipc::kMaxText + 1, 'x').c_str()), -EINVAL);
  EXPECT_EQ(owner_->asked().size(), before);
}

TEST_F(ControlApiTest, AFileIsReadToItsEndAndCutToTheRoom) {
  answer_reads("0123456789", 3);
  char text[16];
  EXPECT_EQ(landtrace_control_read(control_, "trace", text, sizeof text), 10);
  EXPECT_STREQ(text, "0123456789");
  EXPECT_EQ(owner_->asked(Operation::kTreeOpen).back().request.a, static_cast<std::uint64_t>(O_RDONLY));
  for (std::size_t size = 1; size < sizeof text; ++size) {
    std::memset(text, '#', sizeof text);
    EXPECT_EQ(landtrace_control_read(control_, "trace", text, size), 10);
    EXPECT_EQ(std::string(text), std::string("0123456789").substr(0, size - 1)) << size;
    EXPECT_EQ(text[size], '#');
  }
  EXPECT_EQ(landtrace_control_read(control_, "trace", nullptr, 0), 10);
  EXPECT_EQ(owner_->asked().back().request.operation, Operation::kTreeClose);
}

TEST_F(ControlApiTest, AReadThatFailsIsItsError) {
  owner_->answer(Operation::kTreeRead, FakeAnswer::error(EBUSY));
  char text[16];
  EXPECT_EQ(landtrace_control_triggers(control_, nullptr, "sys:event", text, sizeof text), -EBUSY);
  EXPECT_EQ(owner_->asked().back().request.operation, Operation::kTreeClose);
}

TEST_F(ControlApiTest, AnOwnerThatEndsOrTalksNonsenseIsAnError) {
  owner_->answer(Operation::kTreeOpen, FakeAnswer::of(Kind::kGarbage));
  EXPECT_EQ(landtrace_control_write(control_, "set_event", "x"), -EPROTO);
  owner_->answer(Operation::kTreeOpen, FakeAnswer::of(Kind::kHangUp));
  EXPECT_EQ(landtrace_control_write(control_, "set_event", "x"), -EPIPE);
  EXPECT_EQ(failure().code, EPIPE);
}

}  // namespace
}  // namespace landtrace::client
