// landtrace-fleet WHAT …: what Landtrace needs of NATS. landtraced and landtrace start it.
//
//   agent                        until SIGTERM, or its parent's end: a host in its fleet
//   collect                      until SIGTERM: keeps sums in memory, and answers
//   prepare                      makes what is kept where all hosts find it
//   hosts                        a status a line, as JSON; ?SUBJECT for what is none of that host
//   orders                       an order a line; ?ID for what is none
//   put ID ORDER [KEY]           gives an order, signed with the key in this file
//   end ID...                    ends orders
//   tail ORDER FD                until SIGTERM, or its parent's end: lines as hosts send them. FD is closed when it
//                                listens
//   key FILE                     makes a key: FILE, and FILE.pub
//   snapshot ID ORDER FOLDER PATIENCE [KEY]
//                                gives an order for snapshots, and fetches them: FOLDER/N.dat for a host, and in
//                                FOLDER/hosts a line each, as JSON, behind one with the moment. PATIENCE: how many
//                                milliseconds nothing may come of a host
//   follow                       until standard input ends, or its parent's end: what happens, as records
//                                (feed_record.hpp); lines there say whose frames are wanted
//   history QUESTION             what was counted in a period (history.hpp), from a collector
//   own EVENT WHERE BY           what hosts' own histograms of these events have counted, likewise
//   sums ORDER BY                what hosts counted for an order: frames, one for each event, as bytes. BY: labels
//
// An agent's or a collector's options, or the address of the others, are in $LANDTRACE_FLEET_OPTIONS. They, ORDER and
// QUESTION are JSON.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "arch/clock.hpp"
#include "base/end_with_parent.hpp"
#include "base/fd.hpp"
#include "fleet/history.hpp"
#include "fleet/order.hpp"
#include "fleet/roster.hpp"
#include "fleet/serving/agent.hpp"
#include "fleet/serving/collecting.hpp"
#include "fleet/serving/end_signals.hpp"
#include "fleet/serving/fetching.hpp"
#include "fleet/serving/following.hpp"
#include "fleet/serving/line_printer.hpp"
#include "fleet/serving/order_mirror.hpp"
#include "fleet/serving/own_sums.hpp"
#include "fleet/serving/signature.hpp"
#include "fleet/serving/transport.hpp"
#include "fleet/store_address.hpp"
#include "fleet/subjects.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::fleet;

constexpr int kBadUse = 2;

using Words = std::vector<std::string>;

int complain(const Error& error) {
  const std::string& why = error.message;
  std::fputs(fmt::format("landtrace: fleet: {}\n", why.empty() ? errno_text(error.code) : why).c_str(), stderr);
  return 1;
}

// Rounds as they are due, or as the link has something, until `stop` can be read or the domain's owner is gone.
Result<void> have_rounds(Agent& agent, int stop, int changed) {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  pollfd wanted[]{{stop, POLLIN, 0}, {changed, POLLIN, 0}};
  for (;;) {
    LT_TRY(const std::uint64_t due_ns, agent.round());
    const std::uint64_t now_ns = arch::monotonic_ns();
    const std::uint64_t left_ms = due_ns > now_ns ? (due_ns - now_ns + kNsPerMs - 1) / kNsPerMs : 0;
    const int ready = ::poll(wanted, std::size(wanted), static_cast<int>(std::min<std::uint64_t>(left_ms, INT_MAX)));
    if (ready < 0 && errno != EINTR) return fail_errno("poll");
    if (ready > 0 && wanted[0].revents != 0) return {};
    std::uint64_t count = 0;
    if (ready > 0 && wanted[1].revents != 0) std::ignore = ::read(changed, &count, sizeof count);
  }
}

Result<void> run_agent(const std::string& json) {
  LT_TRY(AgentOptions options, agent_options_of(json));
  end_with_parent();
  LT_TRY(const Fd stop, end_signals());
  LT_TRY(std::unique_ptr<AgentDomain> domain, SocketDomain::connect(options.socket));
  const Fd changed(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!changed) return fail_errno("eventfd");
  Rounds links;
  Agent agent(std::move(options), std::move(domain), [fd = changed.get()] {
    const std::uint64_t one = 1;
    std::ignore = ::write(fd, &one, sizeof one);
  });
  LT_CHECK(agent.start(links));
  const auto ended = have_rounds(agent, stop.get(), changed.get());
  agent.end();
  return ended;
}

Result<void> run_collector(const std::string& json) {
  LT_TRY(const CollectOptions options, collect_options_of(json));
  LT_TRY(const Fd stop, end_signals());
  LT_TRY(Transport transport, Transport::connect(options.address, "landtrace collect"));
  return collect(transport, options.memory, stop.get());
}

// Also of servers that do not answer now.
Result<void> run_follower(const std::string& json) {
  LT_TRY(const Address address, address_of(json));
  end_with_parent();
  ::signal(SIGPIPE, SIG_IGN);
  LT_TRY(Transport transport, Transport::keep_connecting(address, "landtrace fleet follow"));
  return Following(std::move(transport), without_users(address.servers)).run(STDIN_FILENO);
}

Result<void> print(const std::string& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) return fail_errno("standard output");
  return {};
}

Result<void> print_hosts(Transport& transport, const Words&) {
  std::ignore = transport.prepare();  // who may, so that hosts can join
  LT_TRY(const std::vector<Outbox::Letter> said, transport.read(kStatusSubjects, Transport::From::kNewest));
  std::set<std::string> refused;
  std::map<std::pair<std::string, std::string>, Status> newest;
  for (const Outbox::Letter& one : said) {
    auto status = status_in(one.subject, one.bytes);
    if (!status) refused.insert(one.subject);
    if (!status) continue;
    const auto [known, is_first] = newest.try_emplace({status->host, status->domain}, *status);
    if (!is_first && is_newer(*status, known->second)) known->second = *std::move(status);
  }
  for (const auto& [name, status] : newest) LT_CHECK(print(json_of(status) + "\n"));
  for (const std::string& subject : refused) LT_CHECK(print(kRefusedLine + subject + "\n"));
  return {};
}

// Written anew: what others have written may have any form.
Result<void> print_orders(Transport& transport, const Words&) {
  LT_TRY(const auto orders, orders_of(transport));
  for (const auto& [id, json] : orders) {
    auto order = order_of(json);
    if (order) order->id = id;  // as hosts take it
    LT_CHECK(print((order ? json_of(*order) : kRefusedLine + id) + "\n"));
  }
  return {};
}

Result<void> prepare(Transport& transport, const Words&) { return transport.prepare(); }

// Those that have ended a day ago.
Result<void> remove_old(Transport& transport) {
  constexpr std::uint64_t kKept_ns = 86'400'000'000'000;
  LT_TRY(const auto orders, orders_of(transport));
  for (const auto& [id, json] : orders) {
    const auto order = order_of(json);
    if (order && order->has_ended(wall_ns() - kKept_ns)) LT_CHECK(transport.remove_order(id));
  }
  return {};
}

Result<void> put(Transport& transport, const Words& words) {
  LT_CHECK(transport.prepare());
  std::string order = words.at(1);
  if (words.size() > 2) {
    LT_TRY(order, sign_order(order, words[2]));
  }
  LT_CHECK(transport.put_order(words.at(0), order));
  return remove_old(transport);
}

Result<void> end(Transport& transport, const Words& words) {
  std::string unknown;
  bool may_ask = true;  // who may end orders but not ask for them ends what is there or not
  for (const std::string& id : words) {
    const auto is_there = may_ask ? transport.has_order(id) : true;
    if (!is_there && is_there.error().code != EACCES) return tl::unexpected<Error>(is_there.error());
    may_ask = is_there.has_value();
    if (is_there.value_or(true)) {
      LT_CHECK(transport.remove_order(id));
    } else {
      unknown += (unknown.empty() ? "" : ", ") + id;
    }
  }
  if (unknown.empty()) return {};
  return fail(ENOENT, fmt::format("there is no order {}: landtrace fleet orders lists them", unknown));
}

// By a collector that knows all that is in the stream now.
std::optional<std::string> ask_collector(Transport& transport, const std::string& order, const std::string& by) {
  const auto newest = transport.newest_of(frames_of(order));
  if (!newest) return std::nullopt;
  const auto answer = transport.ask(kQuestions, fmt::format("{} {} {}", *newest, order, by));
  if (!answer || !answer->starts_with(kAnswered)) return std::nullopt;
  return answer->substr(1);
}

// Where no collector can say it, the stream is read.
Result<void> print_sums(Transport& transport, const Words& words) {
  if (const auto answer = ask_collector(transport, words.at(0), words.at(1))) return print(*answer);
  Sums sums;
  LT_TRY(const std::vector<Outbox::Letter> frames, transport.read(frames_of(words.at(0))));
  for (const Outbox::Letter& frame : frames) std::ignore = sums.add(frame.subject, frame.bytes);
  return print(encode(answer_of(sums, words.at(0), words.at(1))));
}

Result<void> print_own(Transport& transport, const Words& words) {
  LT_TRY(const std::vector<Frame> sums, own_sums(transport, words.at(0), words.at(1), words.at(2)));
  return print(encode(sums));
}

// A collector with a store knows more than the others; if the store is away, they may know something.
Result<void> print_history(Transport& transport, const Words& words) {
  constexpr std::int64_t kAnswer_ms = 120'000;
  LT_TRY(HistoryQuestion question, history_question_of(words.at(0)));
  if (!question.order.empty()) question.sequence = transport.newest_of(frames_of(question.order)).value_or(0);
  auto stored = transport.ask_for_long(kStoreQuestions, json_of(question), kAnswer_ms);
  if (stored) return print(*stored);
  const Error& error = stored.error();
  const auto known = transport.ask_for_long(kMemoryQuestions, json_of(question), kAnswer_ms);
  if (!known && error.code == ECONNREFUSED && known.error().code == ECONNREFUSED) {
    return fail(ECONNREFUSED, "no collector answers, and nobody else knows what was counted when: landtrace collect");
  }
  if (!known) return tl::unexpected<Error>(error.code == ECONNREFUSED ? known.error() : error);
  LT_TRY(History history, history_of(*known));
  if (error.code != ECONNREFUSED) history.note = error.message;
  return print(bytes_of(history));
}

Result<void> print_lines_of(Transport& transport, const Words& words) {
  return print_lines(transport, words.at(0), std::atoi(words.at(1).c_str()));
}

Result<void> fetch(Transport& transport, const Words& words) {
  LT_TRY(Order order, order_of(words.at(1)));
  order.id = words.at(0);
  return fetch_snapshots(transport, order,
                         {.folder = words.at(2),
                          .patience_ms = std::strtoull(words.at(3).c_str(), nullptr, 10),
                          .key = words.size() > 4 ? words[4] : ""});
}

struct Verb {
  std::size_t words;  // that it takes at least
  Result<void> (*run)(Transport&, const Words&);
  bool ends_with_parent = false;
};

Result<void> run_verb(const Verb& verb, const std::string& json, const Words& words) {
  LT_TRY(const Address address, address_of(json));
  if (words.size() < verb.words) return fail(EINVAL, "want more words");
  // Before libnats has threads: in one of those a signal would end this.
  if (verb.run == print_lines_of) LT_CHECK(term_signal());
  if (verb.ends_with_parent) end_with_parent();
  LT_TRY(Transport transport, Transport::connect(address, "landtrace fleet"));
  const auto done = verb.run(transport, words);
  const bool is_written = std::fflush(stdout) == 0;
  const int status = !done ? complain(done.error()) : is_written ? 0 : complain(Error(errno));
  // Without an end of the connection: with libnats 3.4 what comes meanwhile may be its end, or make it wait for ever.
  end_program(status);
}

int run(const std::string& what, const Words& words) {
  static const std::map<std::string, Verb> kVerbs{{"hosts", {0, print_hosts}},
                                                  {"orders", {0, print_orders}},
                                                  {"prepare", {0, prepare}},
                                                  {"put", {2, put}},
                                                  {"end", {0, end}},
                                                  {"tail", {2, print_lines_of, true}},
                                                  {"snapshot", {4, fetch, true}},
                                                  {"history", {1, print_history}},
                                                  {"own", {3, print_own}},
                                                  {"sums", {2, print_sums}}};
  const std::set<std::string> others{"agent", "collect", "follow", "key"};
  const auto verb = kVerbs.find(what);
  const char* const json = std::getenv(kOptionsVariable);
  if (json == nullptr || (verb == kVerbs.end() && !others.contains(what))) {
    std::fputs("usage: landtrace-fleet WHAT WORDS... (landtrace starts it)\n", stderr);
    return kBadUse;
  }
  const Result<void> done = what == "agent"     ? run_agent(json)
                            : what == "collect" ? run_collector(json)
                            : what == "follow"  ? run_follower(json)
                            : what == "key"     ? make_key(words.empty() ? "" : words[0])
                                                : run_verb(verb->second, json, words);
  return done ? 0 : complain(done.error());
}

}  // namespace

int main(int argc, char** argv) {
  end_program(run(argc > 1 ? argv[1] : "", Words(argv + std::min(argc, 2), argv + argc)));
}
