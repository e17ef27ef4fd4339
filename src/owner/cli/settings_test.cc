#include "cli/settings.hpp"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/test_environment.hpp"
#include "ipc/path.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SettingsTest : public testing::Test {
 protected:
  // What landtraced's command line says, with an empty configuration file unless there is one.
  std::string parse(std::vector<const char*> words, const std::string& config = "/nosuch.conf") {
    Program program("landtraced", "", "");
    add_settings(program.itself(), settings_, config);
    words.insert(words.begin(), "landtraced");
    const auto parsed = program.parse(static_cast<int>(words.size()), words.data());
    return parsed ? "" : parsed.error().message;
  }
  std::string refusal() {
    const auto checked = check_settings(settings_);
    if (checked) return "";
    EXPECT_EQ(checked.error().code, EINVAL);
    return checked.error().message;
  }

  output::TempDir dir_;
  Settings settings_;
};

TEST_F(SettingsTest, DefaultsAreSound) {
  const auto options = check_settings(settings_);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->abi, daemon::HostedDomain::kAbi6_12);
  EXPECT_EQ(options->ring_bytes, 1408u * 1024);
  EXPECT_TRUE(options->events.empty());
  EXPECT_FALSE(options->group_records);
}

TEST_F(SettingsTest, AllOptionsAreRead) {
  EXPECT_EQ(parse({"--system", "--daemonize",   "--allow-other", "--socket",      "/s", "--group", "0",  "--mode",
                   "0711",     "--abi",         "6.1",           "--buffer-size", "2M", "--mount", "/a", "--mount",
                   "/b",       "--trace-event", "x,y",           "--trace-event", "z"}),
            "");
  EXPECT_TRUE(settings_.system && settings_.daemonize && settings_.allow_other);
  EXPECT_EQ(settings_.socket, "/s");
  EXPECT_THAT(settings_.mounts, ElementsAre("/a", "/b"));
  EXPECT_THAT(settings_.trace_event, ElementsAre("x,y", "z"));
  const auto options = check_settings(settings_);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->abi, daemon::HostedDomain::kAbi6_1);
  EXPECT_EQ(options->ring_bytes, 2u << 20);
  EXPECT_EQ(options->events.size(), 3u);
  EXPECT_EQ(options->permissions.gid, 0u);
  EXPECT_TRUE(options->group_records);
  EXPECT_EQ(options->permissions.root_mode, 0711u);
}

TEST_F(SettingsTest, TheConfigurationFileHasTheSameNames) {
  output::write_text(dir_.file("conf"), "group=5\nbuffer-size=1M\nmount=[\"/a\"]\nallow-other=true\n");
  EXPECT_EQ(parse({"--buffer-size", "3M"}, dir_.file("conf")), "");
  EXPECT_EQ(settings_.group, "5");
  EXPECT_EQ(settings_.buffer_size, "3M") << "the command line overrides it";
  EXPECT_THAT(settings_.mounts, ElementsAre("/a"));
  EXPECT_TRUE(settings_.allow_other);
  output::write_text(dir_.file("conf"), "grup=5\n");
  EXPECT_THAT(parse({}, dir_.file("conf")), HasSubstr("grup"));
}

TEST_F(SettingsTest, AGroupIsANameOrANumber) {
  const struct group* const first = ::getgrgid(0);
  ASSERT_NE(first, nullptr);
  settings_.group = first->gr_name;
  EXPECT_EQ(check_settings(settings_)->permissions.gid, 0u);
  settings_.group = "4711";
  EXPECT_EQ(check_settings(settings_)->permissions.gid, 4711u);
  settings_.group = "no such group";
  EXPECT_EQ(refusal(), "--group: there is no group 'no such group'");
}

TEST_F(SettingsTest, AModeIsOctalPermissions) {
  settings_.mode = "777";
  EXPECT_EQ(check_settings(settings_)->permissions.root_mode, 0777u);
  for (const char* const mode : {"1000", "8", "rwx", "-1", "0x1"}) {
    settings_.mode = mode;
    EXPECT_THAT(refusal(), HasSubstr("not '" + std::string(mode) + "'"));
  }
}

TEST_F(SettingsTest, WhatIsWrongIsNamed) {
  settings_.abi = "5.4";
  EXPECT_THAT(refusal(), HasSubstr("5.4"));
  settings_ = {};
  settings_.buffer_size = "much";
  EXPECT_THAT(refusal(), HasSubstr("'much'"));
  settings_.buffer_size = "17G";
  EXPECT_EQ(refusal(), "--buffer-size: the limit is 16G");
  settings_.buffer_size = "16G";
  EXPECT_EQ(refusal(), "");
  settings_.trace_event = {"good,[bad"};
  EXPECT_THAT(refusal(), HasSubstr("[bad"));
}

TEST_F(SettingsTest, EventsAreListsWithCommas) {
  settings_.trace_event = {",user_events:a,,b,", "", "c"};
  const auto options = check_settings(settings_);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->events.size(), 3u);
  EXPECT_TRUE(options->events[0].matches("user_events", "a"));
  EXPECT_FALSE(options->events[0].matches("sched", "a"));
  EXPECT_TRUE(options->events[1].matches("user_events", "b"));
}

TEST_F(SettingsTest, TheConfigurationFileIsTheSystemsOrTheUsers) {
  EXPECT_EQ(default_config(true), "/etc/landtrace/landtraced.conf");
  Variable home("HOME", "/home/u");
  Variable folder("XDG_CONFIG_HOME", nullptr);
  EXPECT_EQ(default_config(false), "/home/u/.config/landtrace/landtraced.conf");
  folder.set("/conf");
  EXPECT_EQ(default_config(false), "/conf/landtrace/landtraced.conf");
  folder.set("relative");
  EXPECT_EQ(default_config(false), "/home/u/.config/landtrace/landtraced.conf") << "only a full path counts";
}

TEST_F(SettingsTest, TheSocketIsTheNamedOneOrTheUsers) {
  settings_.socket = "/named";
  EXPECT_EQ(*socket_of(settings_), "/named");
  settings_.socket.clear();
  const Variable runtime("XDG_RUNTIME_DIR", dir_.file("").c_str());
  EXPECT_EQ(*socket_of(settings_), ipc::user_socket());
  EXPECT_THAT(dir_.list(), ElementsAre("landtrace")) << "its folder is made";
}

TEST_F(SettingsTest, OnlyRootServesAllUsers) {
  settings_.system = true;
  settings_.socket = "/named";
  const auto socket = socket_of(settings_);
  if (::geteuid() == 0) {
    EXPECT_EQ(*socket, "/named");
  } else {
    EXPECT_EQ(socket.error().code, EPERM);
  }
}

}  // namespace
}  // namespace landtrace::cli
