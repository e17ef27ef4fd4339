#include "cli/fleet/trial_store.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/fd.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"

namespace landtrace::cli {
namespace {

constexpr int kLook_ms = 50;
constexpr int kMostLooks = 400;

sockaddr_in here(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Result<std::uint16_t> free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = here(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (!fd || ::bind(fd.get(), any, size) != 0 || ::getsockname(fd.get(), any, &size) != 0) return fail_errno("a port");
  return ntohs(address.sin_port);
}

std::string in_xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&' || c == '<') {
      out += c == '&' ? "&amp;" : "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

// Users come from this machine alone, and have no password, as all of a trial.
std::string users_text() {
  return "<yandex>\n"
         "  <profiles><default/></profiles><quotas><default/></quotas>\n"
         "  <users><default><password></password><networks><ip>127.0.0.1</ip></networks>\n"
         "    <profile>default</profile><quota>default</quota></default></users>\n"
         "</yandex>\n";
}

std::string config_text(const std::string& folder, std::uint16_t port) {
  return fmt::format(
      "<yandex>\n"
      "  <logger><level>warning</level><log>{0}/log</log><errorlog>{0}/errors</errorlog>\n"
      "    <size>10M</size><count>2</count></logger>\n"
      "  <http_port>{1}</http_port><listen_host>127.0.0.1</listen_host>\n"
      "  <path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path>\n"
      "  <users_config>users.xml</users_config>\n"
      "  <default_profile>default</default_profile><default_database>default</default_database>\n"
      "  <mark_cache_size>67108864</mark_cache_size>\n"
      "</yandex>\n",
      in_xml(folder), port);
}

Result<void> write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) return fail(EIO, path + ": cannot be written");
  return {};
}

}  // namespace

bool TrialStore::answers() const {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = here(port_);
  return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

Result<std::optional<TrialStore>> TrialStore::start(const std::string& folder, const sigset_t& mask) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(error.value(), folder + ": " + error.message());
  LT_TRY(const std::uint16_t port, free_port());
  LT_CHECK(write(folder + "/users.xml", users_text()));
  LT_CHECK(write(folder + "/config.xml", config_text(folder, port)));
  auto server = Child::start_bound({"clickhouse-server", "--config-file=" + folder + "/config.xml"}, own_environment(),
                                   mask, Child::Output::kDropped);
  if (!server && server.error().code == ENOENT) return std::optional<TrialStore>();
  if (!server) return fail(server.error().code, "clickhouse-server: " + sentence(server.error()));
  TrialStore store(*std::move(server), port, folder + "/errors");
  for (int i = 0; i < kMostLooks && !store.server_.has_ended(); ++i) {
    if (store.answers()) return std::optional<TrialStore>(std::move(store));
    ::usleep(kLook_ms * 1000);
  }
  if (!store.server_.has_ended()) store.server_.send(SIGKILL);
  return fail(EIO, "clickhouse-server does not answer: see " + store.log_);
}

}  // namespace landtrace::cli
