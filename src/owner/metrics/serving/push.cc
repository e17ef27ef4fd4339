#include "metrics/serving/push.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "metrics/otlp.hpp"

namespace landtrace::metrics {
namespace {

constexpr long kPatience_s = 10;

std::size_t pass_over(char*, std::size_t size, std::size_t count, void*) { return size * count; }

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

class Sender {
 public:
  explicit Sender(std::string url)
      : url_(std::move(url)),
        headers_(curl_slist_append(nullptr, "Content-Type: application/json"), curl_slist_free_all),
        curl_(curl_easy_init(), curl_easy_cleanup) {}

  // "" or why not.
  std::string send(const std::string& json) {
    CURL* const curl = curl_.get();
    curl_easy_setopt(curl, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json.c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, pass_over);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, kPatience_s);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    if (const CURLcode code = curl_easy_perform(curl); code != CURLE_OK) return curl_easy_strerror(code);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status < 300 ? "" : fmt::format("it answers with status {}", status);
  }

 private:
  std::string url_;
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers_;
  std::unique_ptr<CURL, void (*)(CURL*)> curl_;
};

void say(const std::string& what) {
  std::fputs(fmt::format("landtraced: {}\n", what).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

void push_until(int stop, Current& current, const Push& push) {
  Sender sender(push.url);
  const std::uint64_t started = now_ns();
  const std::string host = host_name();
  bool was_well = true;
  pollfd wanted{stop, POLLIN, 0};
  const int interval = static_cast<int>(std::chrono::milliseconds(push.interval).count());
  for (;;) {
    const int ready = ::poll(&wanted, 1, interval);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;
    const auto families = current.families();
    if (!families) continue;  // its owner is gone: the end is near
    const std::string why = sender.send(otlp_json(*families, {started, now_ns()}, host));
    if (why.empty() != was_well) {
      say(why.empty() ? push.url + " takes metrics again" : push.url + " does not take metrics: " + why);
    }
    was_well = why.empty();
  }
}

}  // namespace landtrace::metrics
