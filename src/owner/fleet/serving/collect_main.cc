// landtrace-collect: what `landtrace collect --store` becomes: the collector of landtrace-fleet, and a store besides.
// It alone has libcurl. Its options are in $LANDTRACE_FLEET_OPTIONS (CollectOptions, as JSON).
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "base/fd.hpp"
#include "fleet/history.hpp"
#include "fleet/serving/collecting.hpp"
#include "fleet/serving/end_signals.hpp"
#include "fleet/serving/questions.hpp"
#include "fleet/serving/storing.hpp"
#include "fleet/store_history.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::fleet;

constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kLook = std::chrono::milliseconds(50);

Result<StoreAddress> store_of(const CollectOptions& options) {
  LT_TRY(StoreAddress address, StoreAddress::parse(options.store));
  if (options.store_user.empty()) return address;
  std::ifstream file(options.store_user);
  std::string line;
  if (!std::getline(file, line)) return fail(EINVAL, options.store_user + ": cannot be read: want USER:PASSWORD in it");
  if (!address.read_user(line)) return fail(EINVAL, options.store_user + ": want USER:PASSWORD in its first line");
  return address;
}

// Without what does not come in time: the answer says so.
Result<std::string> answer(const Transport& transport, const StoreAddress& address, ClickHouse& store,
                           const std::string& text) {
  LT_TRY(const HistoryQuestion question, history_question_of(text));
  const auto end = std::chrono::steady_clock::now() + kPatience;
  bool has_all = question.sequence == 0;
  while (!has_all && std::chrono::steady_clock::now() < end) {
    has_all = Storing::has_all(transport, address, question.sequence).value_or(false);
    if (!has_all) std::this_thread::sleep_for(kLook);
  }
  const StoreQuery query = [&](const std::string& sql, const std::string& picked) { return store.query(sql, picked); };
  LT_TRY(History history, ask_store(query, question));
  history.is_behind = !has_all;
  return bytes_of(history);
}

Result<void> run(const std::string& json) {
  LT_TRY(const CollectOptions options, collect_options_of(json));
  LT_TRY(const StoreAddress address, store_of(options));
  LT_TRY(const Fd stop, end_signals());
  LT_TRY(Transport transport, Transport::connect(options.address, "landtrace collect"));
  LT_CHECK(transport.prepare());
  ClickHouse store(address);
  Questions questions;
  LT_CHECK(questions.listen(transport, kStoreQuestions,
                            [&](const std::string& text) { return answer(transport, address, store, text); }));
  Storing storing(transport, options, address, stop.get());
  Result<void> stored;
  std::thread thread([&] {
    stored = storing.run();
    if (!stored) ::kill(::getpid(), SIGTERM);
  });
  const Result<void> collected = collect(transport, options.memory, stop.get());
  if (!collected) ::kill(::getpid(), SIGTERM);
  thread.join();
  return stored ? collected : stored;
}

}  // namespace

int main() {
  const char* const json = std::getenv(kOptionsVariable);
  if (json == nullptr) {
    std::fputs("usage: landtrace-collect (landtrace starts it)\n", stderr);
    return 2;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const Result<void> done = run(json);
  if (done) end_program(0);
  const std::string& why = done.error().message;
  const std::string said = why.empty() ? errno_text(done.error().code) : why;
  std::fputs(fmt::format("landtrace: collect: {}\n", said).c_str(), stderr);
  end_program(1);
}
