// The control API against a domain that is served here.
#include <landtrace/control.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "host/server.hpp"

namespace landtrace {
namespace {

constexpr const char* kJob = "user_events:job";

class ControlTest : public testing::Test {
 protected:
  ControlTest() : path_("/tmp/landtrace-control-test-" + std::to_string(::getpid()) + ".sock") {
    domain_ = *domain::Domain::create({.ring_bytes = 1 << 18});
    rules_ = std::make_unique<rules::Rules>(*domain_);
    const auto slot = domain_->registrar().register_native("job u32 n", domain::kPersist, ::geteuid());
    domain_->events().drop_reference(*slot);
    serve();
  }
  ~ControlTest() override { stop(); }

  void serve() {
    server_ = *host::Server::create(*domain_, *rules_, path_);
    thread_ = std::thread([this] { server_->run(); });
    ASSERT_EQ(control_.open(path_), 0);
  }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
    server_.reset();
  }
  std::string filter(const std::string& instance = {}) {
    std::string text;
    EXPECT_EQ(control_.filter(kJob, text, instance), 0);
    return text;
  }
  std::string triggers(const std::string& instance = {}) {
    std::string text;
    EXPECT_EQ(control_.triggers(kJob, text, instance), 0);
    return text;
  }

  std::string path_;
  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<rules::Rules> rules_;
  std::unique_ptr<host::Server> server_;
  std::thread thread_;
  Control control_;
};

TEST_F(ControlTest, AFilterIsSetReadAndCleared) {
  EXPECT_EQ(control_.set_filter(kJob, "n > 5 "), 0);
  EXPECT_EQ(filter(), "n > 5\n");
  EXPECT_EQ(control_.clear_filter(kJob), 0);
  EXPECT_EQ(filter(), "none\n");
  EXPECT_EQ(control_.set_filter("user_events", "n > 6"), 0);
  EXPECT_EQ(filter(), "n > 6\n");
}

TEST_F(ControlTest, ARefusedFilterSaysWhyAndWhere) {
  EXPECT_EQ(control_.set_filter(kJob, "n == 5 && nosuch == 5"), -EINVAL);
  EXPECT_EQ(control_.failure().code, EINVAL);
  EXPECT_STREQ(control_.failure().sentence, "Field not found");
  EXPECT_EQ(control_.failure().position, 16);                // behind the name, as the kernel has it
  EXPECT_EQ(control_.set_filter(kJob, "(n == 5"), -ENOENT);  // so says the kernel
  EXPECT_STREQ(control_.failure().sentence, "Too many '('");
  EXPECT_EQ(control_.failure().position, 0);
  EXPECT_EQ(control_.set_filter(kJob, std::string(5000, ' ')), -EINVAL);
  EXPECT_EQ(control_.failure().position, -1);
  EXPECT_EQ(control_.set_filter(kJob, "n == 5"), 0);
  EXPECT_EQ(control_.failure().code, 0);
}

TEST_F(ControlTest, TriggersAreAddedAndRemoved) {
  EXPECT_EQ(control_.add_trigger(kJob, "traceoff:3 if n == 5"), 0);
  EXPECT_EQ(triggers(), "traceoff:count=3 if n == 5\n");
  EXPECT_EQ(control_.add_trigger(kJob, "traceon"), -EEXIST);
  EXPECT_EQ(control_.add_trigger(kJob, "enable_event:user_events:nosuch"), -EINVAL);
  EXPECT_EQ(control_.add_trigger(kJob, "stacktrace if n = 5"), -EINVAL);
  EXPECT_STREQ(control_.failure().sentence, "Invalid operator");
  EXPECT_EQ(control_.failure().position, 16);
  EXPECT_EQ(control_.add_trigger(kJob, "!traceoff"), -EINVAL);
  EXPECT_EQ(control_.add_trigger(kJob, ""), -EINVAL);
  EXPECT_EQ(control_.remove_trigger(kJob, "traceoff"), 0);
  EXPECT_EQ(control_.remove_trigger(kJob, "traceoff"), 0);
  EXPECT_EQ(control_.remove_trigger(kJob, "nonsense"), -EINVAL);
  EXPECT_EQ(triggers().find("traceoff:count"), std::string::npos);
}

TEST_F(ControlTest, InstancesHaveTheirOwn) {
  EXPECT_EQ(control_.make_instance("mine"), 0);
  EXPECT_EQ(control_.make_instance("mine"), -EEXIST);
  EXPECT_EQ(control_.set_filter(kJob, "n == 1", "mine"), 0);
  EXPECT_EQ(control_.enable(kJob, true, "mine"), 0);
  EXPECT_EQ(filter("mine"), "n == 1\n");
  EXPECT_EQ(filter(), "none\n");
  std::string text;
  EXPECT_EQ(control_.read("instances/mine/events/user_events/job/enable", text), 0);
  EXPECT_EQ(text, "1\n");
  EXPECT_EQ(control_.write("instances/mine/tracing_on", "0"), 0);
  EXPECT_EQ(control_.enable("user_events", false, "mine"), 0);
  EXPECT_EQ(control_.remove_instance("mine"), 0);
  EXPECT_EQ(control_.set_filter(kJob, "n == 1", "mine"), -ENOENT);
}

TEST_F(ControlTest, NamesAreNoPaths) {
  for (const char* event : {"", "user_events:", ":job", "user_events:../job", "..:job", "a/b:c", "user_events:."}) {
    EXPECT_EQ(control_.set_filter(event, "n == 1"), -EINVAL) << event;
  }
  EXPECT_EQ(control_.add_trigger("user_events", "traceoff"), -EINVAL);
  EXPECT_EQ(control_.enable("user_events:nosuch"), -ENOENT);
  EXPECT_EQ(control_.make_instance(".."), -EINVAL);
  EXPECT_EQ(control_.make_instance("a/b"), -EINVAL);
}

TEST_F(ControlTest, ATextIsCutToItsRoomAndItsLengthTold) {
  landtrace_control* control = nullptr;
  ASSERT_EQ(landtrace_control_open(&control, path_.c_str()), 0);
  EXPECT_EQ(landtrace_control_set_filter(control, nullptr, kJob, "n == 12345"), 0);
  char text[5] = "####";
  EXPECT_EQ(landtrace_control_filter(control, nullptr, kJob, text, sizeof text), 11);
  EXPECT_STREQ(text, "n ==");
  EXPECT_EQ(landtrace_control_filter(control, nullptr, kJob, nullptr, 0), 11);
  landtrace_control_close(control);
  landtrace_control_close(nullptr);
}

TEST_F(ControlTest, AnOwnerThatEndsIsSaid) {
  stop();
  EXPECT_EQ(control_.set_filter(kJob, "n == 1"), -EPIPE);
  EXPECT_NE(control_.open(path_), 0);
  EXPECT_FALSE(control_.is_open());
  EXPECT_EQ(control_.set_filter(kJob, "n == 1"), -EBADF);
  EXPECT_EQ(control_.failure().code, EBADF);
}

}  // namespace
}  // namespace landtrace
