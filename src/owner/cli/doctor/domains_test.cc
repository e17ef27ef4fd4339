#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "cli/doctor/check.hpp"
#include "cli/test_environment.hpp"
#include "daemon/hosted_domain.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DoctorDomainsTest : public testing::Test {
 protected:
  static std::vector<std::string> ids() {
    std::vector<std::string> found;
    for (const Check& check : check_domains()) found.push_back(check.id);
    return found;
  }

  output::TempDir dir_;
  std::string socket_ = dir_.file("d.sock");
  Variable runtime_{"XDG_RUNTIME_DIR", dir_.file("").c_str()};
  Variable named_{ipc::kSocketVariable, nullptr};
};

TEST_F(DoctorDomainsTest, NobodyIsNoFault) {
  const Check check = check_domain("user_domain", socket_);
  EXPECT_EQ(check.state, State::kAbsent);
  EXPECT_EQ(check.detail, "nobody serves " + socket_);
  EXPECT_EQ(check.advice, "");
}

TEST_F(DoctorDomainsTest, ADomainSaysWhoServesIt) {
  const auto hosted = daemon::HostedDomain::start({.socket = socket_});
  ASSERT_TRUE(hosted);
  const Check check = check_domain("user_domain", socket_);
  EXPECT_EQ(check.state, State::kWorks);
  EXPECT_EQ(check.id, "user_domain");
  EXPECT_THAT(check.detail, HasSubstr("process " + std::to_string(::getpid()) + " of user " +
                                      std::to_string(::geteuid()) + ", at " + socket_));
}

TEST_F(DoctorDomainsTest, WhoDoesNotSpeakTheProtocolIsToBeEnded) {
  const auto listener = ipc::listen_at(socket_);
  ASSERT_TRUE(listener);
  std::thread stranger([&] {
    Fd client;
    while (!client) client = Fd(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::ignore = ::write(client.get(), "what?", 5);
    char request[4096];
    std::ignore = ::read(client.get(), request, sizeof request);
  });
  const Check check = check_domain("user_domain", socket_);
  stranger.join();
  EXPECT_EQ(check.state, State::kMissing);
  EXPECT_THAT(check.detail, HasSubstr(socket_ + ": "));
  EXPECT_THAT(check.advice, HasSubstr("start it again"));
}

TEST_F(DoctorDomainsTest, ADomainThatWasNamedIsLookedAtToo) {
  EXPECT_THAT(ids(), ElementsAre("user_domain", "system_domain"));
  named_.set(socket_.c_str());
  EXPECT_THAT(ids(), ElementsAre("named_domain", "user_domain", "system_domain"));
  EXPECT_THAT(check_domains()[0].detail, HasSubstr(socket_));
}

}  // namespace
}  // namespace landtrace::cli::doctor
