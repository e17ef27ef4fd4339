#include "host/session_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "language/trigger/command.hpp"
#include "ring/reader.hpp"
#include "rules/selection.hpp"

namespace landtrace::host {
namespace {

using ipc::Operation;

// Of what is free a modest session takes one part in so many: then there is room for as many as a domain may have.
constexpr std::uint64_t kRoomForOthers = 32;

// As large as is wanted; or, for who can do with less, so that many more find room behind it.
ring::Geometry geometry_for(const Context& c) {
  ring::Geometry geometry = ring::Geometry::holding(c.request.a);
  if (c.request.c == 0) return geometry;
  const std::uint64_t fair = c.domain.users().free_bytes() / kRoomForOthers;
  const std::uint32_t least = ring::Geometry::holding(c.request.c).size_log2;
  while (geometry.size_log2 > least && geometry.stride() * c.domain.instances().rings_per_set() > fair) {
    --geometry.size_log2;
  }
  return geometry;
}

Response open_session(const Context& c) {
  if (auto may = may_consume(c); !may) return error_response(may.error());
  if (c.connection.session != 0) return error_response(Error(EBUSY, "this connection has a session"));
  const auto instance = c.domain.instances().create(fmt::format("session-{}-{}", c.pid, c.connection.fd.get()),
                                                    geometry_for(c), c.request.b != 0);
  if (!instance) return error_response(instance.error());
  c.connection.session = (*instance)->index;
  Response response;
  response.reply.a = (*instance)->place.rings;
  response.reply.b = (*instance)->place.geometry.size_log2;
  response.reply.c = (*instance)->index;
  return response;
}

Response session_events(const Context& c, domain::Instance& instance) {
  const auto pattern = event::Pattern::parse(c.text);
  if (!pattern) return error_response(pattern.error());
  return respond(c.rules.selections().listen(instance, *pattern, c.request.a != 0));
}

// The next of the texts that each end in a NUL.
std::string_view take_text(std::string_view& texts) {
  const std::string_view text = texts.substr(0, texts.find('\0'));
  texts.remove_prefix(std::min(text.size() + 1, texts.size()));
  return text;
}

// Only an instance of the tree has a snapshot: the rings of a session are emptied while they fill.
bool wants_snapshot(const std::string& text) {
  const auto command = language::parse_trigger(text);
  return command && command->kind == language::TriggerKind::kSnapshot;
}

Response session_select(const Context& c, domain::Instance& instance) {
  std::string_view texts = c.text;
  auto pattern = event::Pattern::parse(take_text(texts));
  if (!pattern) return error_response(pattern.error());
  rules::Selection selection{*std::move(pattern), std::string(take_text(texts)), {}};
  while (!texts.empty()) selection.triggers.emplace_back(take_text(texts));
  if (std::any_of(selection.triggers.begin(), selection.triggers.end(), wants_snapshot)) {
    return error_response(Error(EINVAL, "a recording has no snapshot; instances of the tree have one"));
  }
  return respond(c.rules.selections().select(instance, std::move(selection)));
}

// Whose events are not for it. All at once: a list that came in pieces would leave out some of them meanwhile.
Response session_threads(const Context& c, domain::Instance& instance) {
  if (c.text.size() % sizeof(std::uint32_t) != 0) return error_response(Error(EINVAL));
  std::vector<std::uint32_t> never(c.text.size() / sizeof(std::uint32_t));
  if (!never.empty()) std::memcpy(never.data(), c.text.data(), c.text.size());
  domain::Threads list;
  if (!never.empty()) list = std::move(never);
  return respond(c.domain.thread_lists().set(instance, std::nullopt, std::move(list)));
}

Response session_state(const Context& c, domain::Instance& instance) {
  Response response;
  response.reply.a = c.domain.instances().is_tracing(instance) ? 1 : 0;
  const std::vector<rules::Unfit>& all_unfit = rules::Selections::unfit_of(instance);
  for (std::size_t i = c.request.a; i < all_unfit.size(); ++i) {
    const rules::Unfit& unfit = all_unfit[i];
    const std::string entry = fmt::format("{}{:c}{}{}{:c}{}{:c}", unfit.event, '\0', unfit.is_trigger ? 't' : 'f',
                                          unfit.rule, '\0', unfit.reason, '\0');
    if (response.text.size() + entry.size() > ipc::kMaxText) {
      response.reply.b = i;
      break;
    }
    response.text += entry;
  }
  return response;
}

Response session_record(const Context& c, domain::Instance& instance) {
  c.domain.instances().set_tracing(instance, c.request.a != 0);
  return {};
}

Response session_stop(const Context& c, domain::Instance& instance) {
  domain::quiesce(instance, c.domain.listening(), c.domain.grace());
  return {};
}

// A recorder may not know yet that the index is another user's, whose ring is empty.
bool is_in_ring(const Context& c, const domain::Instance& instance, const ipc::ConsumedPosition& position) {
  const auto& users = c.domain.users().all();
  if (position.user >= users.size() || position.ring >= c.domain.instances().rings_per_set()) return false;
  const domain::RingPlace& place = instance.place;
  const std::byte* const ring =
      users[position.user].mapping.data() + place.rings + position.ring * place.geometry.stride();
  return (position.position & ~ring::kOddTurn) <= ring::Reader(ring, place.geometry, {}).end().position;
}

Response consumed(const Context& c, domain::Instance& instance) {
  for (std::size_t at = 0; at + sizeof(ipc::ConsumedPosition) <= c.text.size(); at += sizeof(ipc::ConsumedPosition)) {
    ipc::ConsumedPosition position;
    std::memcpy(&position, c.text.data() + at, sizeof position);
    if (!is_in_ring(c, instance, position)) continue;
    c.domain.instances().set_consumed(instance, position.user, position.ring, position.position);
  }
  return {};
}

}  // namespace

domain::Instance* session_of(const Context& c) {
  return c.connection.session == 0 ? nullptr : c.domain.instances().at(c.connection.session);
}

std::optional<Response> handle_session_request(const Context& c) {
  using Handler = Response (*)(const Context&, domain::Instance&);
  const auto in_session = [&c](Handler handle) {
    domain::Instance* const instance = session_of(c);
    return instance != nullptr ? handle(c, *instance) : error_response(Error(EINVAL, "this connection has no session"));
  };
  switch (c.request.operation) {
    case Operation::kOpenSession:
      return open_session(c);
    case Operation::kSessionEvents:
      return in_session(session_events);
    case Operation::kSessionSelect:
      return in_session(session_select);
    case Operation::kSessionThreads:
      return in_session(session_threads);
    case Operation::kSessionState:
      return in_session(session_state);
    case Operation::kSessionRecord:
      return in_session(session_record);
    case Operation::kSessionStop:
      return in_session(session_stop);
    case Operation::kConsumed:
      return in_session(consumed);
    default:
      return std::nullopt;
  }
}

}  // namespace landtrace::host
