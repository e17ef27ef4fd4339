#include "lttng_session.hpp"

#include <unistd.h>

#include <filesystem>

#include "rules.hpp"

namespace landtrace::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSession = "landtrace-bench";
constexpr int kSessionPatience_ms = 5000;

bool is_installed(const std::string& program) {
  for (const char* const folder : {"/usr/bin/", "/usr/local/bin/"}) {
    if (::access((folder + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

bool appears(const std::string& path) {
  for (int waited = 0; waited < kSessionPatience_ms; ++waited) {
    if (fs::exists(path)) return true;
    ::usleep(1000);
  }
  return false;
}

}  // namespace

std::string lttng(std::vector<std::string> arguments, const std::string& home) {
  arguments.insert(arguments.begin(), {"lttng", "--no-sessiond"});
  return run({std::move(arguments), {{"LTTNG_HOME", home}, {"LD_PRELOAD", ""}}, true});
}

LttngBytes lttng_snapshot_bytes(const std::string& session, const std::string& home) {
  const std::string output = home + "/snapshot";
  lttng({"snapshot", "record", "-s", session, output}, home);
  LttngBytes bytes{};
  for (const auto& file : fs::recursive_directory_iterator(output)) {
    if (!file.is_regular_file()) continue;
    const std::string name = file.path().filename().string();
    if (name.starts_with(std::string(LttngSession::kChannel) + "_")) bytes.recorded += file.file_size();
    if (name.starts_with(std::string(LttngSession::kEmptyChannel) + "_")) bytes.refused += file.file_size();
  }
  return bytes;
}

LttngSession::LttngSession(const std::string& folder, bool run_is_private) {
#ifndef LANDTRACE_LTTNG
  peer_.absent = "liblttng-ust-dev was not there at build time";
#endif
  if (peer_.absent.empty() && (!is_installed("lttng") || !is_installed("lttng-sessiond"))) {
    peer_.absent = "lttng-tools is not installed";
  }
  if (peer_.absent.empty() && ::geteuid() == 0 && !run_is_private) {
    peer_.absent = "root's daemon needs a private /run, for which there is no mount namespace";
  }
  if (!peer_.absent.empty()) return;
  try {
    start(folder);
    peer_.where = kSession;
  } catch (const Broken& error) {
    peer_.absent = error.what();
  }
}

void LttngSession::start(const std::string& folder) {
  daemon_.emplace(Command{{"lttng-sessiond", "--no-kernel"}, {{"LTTNG_HOME", folder}}, true});
  const std::string sockets = ::geteuid() == 0 ? "/run/lttng" : folder + "/.lttng";
  if (!appears(sockets + "/client-lttng-sessiond")) throw Broken("lttng-sessiond does not start");
  // 4 MiB per CPU that keep the newest, as the domain's rings.
  lttng({"create", "--snapshot", kSession, "--output", folder + "/lttng"}, folder);
  for (const std::string channel : {kChannel, kEmptyChannel}) {
    lttng({"enable-channel", "--userspace", "--overwrite", "--subbuf-size=1M", "--num-subbuf=4", channel}, folder);
  }
  const auto enable = [&](const char* channel, const std::string& event, const char* filter) {
    std::vector<std::string> command{"enable-event", "--userspace", std::string("--channel=") + channel,
                                     "landtrace_bench:" + event};
    if (filter != nullptr) command.insert(command.end(), {"--filter", filter});
    lttng(std::move(command), folder);
  };
  enable(kChannel, "sixteen", nullptr);
  enable(kChannel, "filtered_passed", rules::kPassed);
  enable(kEmptyChannel, "filtered_one", rules::kOne);
  enable(kEmptyChannel, "filtered_two", rules::kTwo);
  enable(kEmptyChannel, "filtered_inside", rules::kLttngInside);
  lttng({"start"}, folder);
}

// The daemon ends its consumer daemon itself.
LttngSession::~LttngSession() = default;

}  // namespace landtrace::bench
