#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "domain/status.hpp"
#include "host/histogram_requests.hpp"
#include "host/probe_requests.hpp"
#include "host/request_context.hpp"
#include "host/session_requests.hpp"

namespace landtrace::host {
namespace {

using domain::Domain;
using ipc::Operation;
using ipc::Request;

// Events that one connection may hold; one counts as often as it is registered.
constexpr std::size_t kMaxHeldByOne = 1 << 16;

Response about() {
  Response response;
  response.reply.a = static_cast<std::uint64_t>(::getpid());
  response.reply.b = ::geteuid();
  response.text = "landtrace " LANDTRACE_VERSION;
  return response;
}

Response attach(const Context& c) {
  const auto user = c.domain.join(c.who.uid);
  if (!user) return error_response(user.error());
  c.domain.rules()->program_came(c.pid);
  if (c.who.uid == 0) c.domain.enable_words().remember(c.pid, c.who);
  Response response;
  response.reply.a = *user;
  response.reply.b = c.domain.users().data_bytes();
  response.reply.c = c.pid;
  response.fds[0] = c.domain.control().fd();
  response.fds[1] = c.domain.users().all()[*user].fd.get();
  return response;
}

Result<void> may_name_file(const Context& c) {
  return c.domain.registrar().check_named(c.file(), ipc::key_of(c.request), c.who.uid);
}

Response register_for_file(const Context& c) {
  constexpr std::uint64_t kMaxErrno = 4095;
  if (c.request.d >> 16 > kMaxErrno) return error_response(Error(EINVAL));
  if (auto may = may_name_file(c); !may) return error_response(may.error());
  Response response = respond(c.domain.registrar().register_for_file(
      c.file(), c.pid, c.who,
      {c.text, static_cast<std::uint16_t>(c.request.d), c.bit(), static_cast<std::uint8_t>(c.request.c),
       static_cast<int>(c.request.d >> 16), c.request.c >> 8}));
  response.reply.b = c.pid;
  return response;
}

Response register_status_bit(const Context& c) {
  if (auto may = may_name_file(c); !may) return error_response(may.error());
  const auto registered = c.domain.registrar().register_status_bit(c.file(), c.text, c.who.uid);
  if (!registered) return error_response(registered.error());
  Response response;
  response.reply.a = registered->index;
  response.reply.b = registered->bit;
  return response;
}

Response register_plain(const Context& c) {
  if (auto may = may_name_file(c); !may) return error_response(may.error());
  return respond(c.domain.registrar().register_plain(c.file(), c.text, c.who.uid));
}

Response status_page(const Context& c) {
  if (c.request.a > 1) return error_response(Error(EINVAL, "there are two status pages, 0 and 1"));
  Response response;
  response.fds[0] = c.domain.status_pages().fd(c.request.a == 0 ? domain::Page::kBits : domain::Page::kBytes);
  return response;
}

Response status_text(const Context& c) {
  if (c.request.a == 0) c.domain.maintain();
  const std::string text = domain::status_text(c.domain.events(), c.domain.abi());
  Response response;
  response.reply.a = text.size();
  if (c.request.a < text.size()) response.text = text.substr(c.request.a, ipc::kMaxText);
  return response;
}

Response register_native(const Context& c) {
  if (c.request.d > 0xffff) return error_response(Error(EINVAL));
  if (c.connection.native.size() >= kMaxHeldByOne) return error_response(Error(ENOSPC, "as many as one may hold"));
  const auto slot = c.domain.registrar().register_native(c.text, static_cast<std::uint16_t>(c.request.d), c.who.uid);
  if (slot) c.connection.native.push_back({*slot, c.who.uid});
  return respond(slot);
}

Response release_native(const Context& c) {
  auto& held = c.connection.native;
  const auto found =
      std::find_if(held.begin(), held.end(), [&](const HeldEvent& event) { return event.slot == c.request.a; });
  if (found == held.end()) return error_response(Error(ENOENT, "the process does not hold the event"));
  const HeldEvent gone = *found;
  held.erase(found);
  c.domain.events().drop_reference(gone.slot, gone.uid);
  return {};
}

Response describe_structs(const Context& c) {
  const auto& held = c.connection.native;
  if (std::none_of(held.begin(), held.end(), [&](const HeldEvent& event) { return event.slot == c.request.a; })) {
    return error_response(Error(ENOENT, "the process does not hold the event"));
  }
  domain::Event* const event = c.domain.events().at(static_cast<std::uint32_t>(c.request.a));
  if (event == nullptr || !event->is_user_event()) return error_response(Error(EINVAL));
  if (c.who.uid != event->uid && c.domain.registrar().is_guest(c.who.uid)) {
    return error_response(Error(EPERM, "the event is another user's"));
  }
  return respond(c.domain.events().describe_structs(*event, c.text));
}

Response hold_event(const Context& c) {
  if (c.domain.registrar().is_guest(c.who.uid))
    return error_response(Error(EACCES, "events are held by who runs the domain"));
  const auto [system, name] = texts_of<2>(c.text);
  const auto slot = c.domain.registrar().attach_native(system, name, c.who.uid);
  if (slot) c.connection.native.push_back({*slot, c.who.uid});
  return respond(slot);
}

char layout_kind(event::FieldKind kind) {
  switch (kind) {
    case event::FieldKind::kCharArray:
      return ipc::field_kind::kText;
    case event::FieldKind::kDataLocString:
      return ipc::field_kind::kDynamicText;
    case event::FieldKind::kDataLocStack:
      return ipc::field_kind::kStack;
    default:
      return ipc::field_kind::kNumber;
  }
}

Response event_layout(const Context& c) {
  const auto [system, name, instance_name] = texts_of<3>(c.text);
  const domain::Event* const event = c.domain.events().find(system, name);
  const domain::Instance* const instance = c.domain.instances().find(instance_name);
  if (event == nullptr || instance == nullptr) return error_response(Error(ENOENT, "no such event or instance"));
  Response response;
  response.reply.a = event->flavour() == event::Flavour::kSynthetic ? 1 : 0;
  response.reply.b = instance->index;
  const auto declaration = event->declaration();
  for (const event::Field& field : declaration->fields) {
    response.text += fmt::format("{} {} {} {}", field.offset - abi::kEntryHeaderSize, field.size,
                                 layout_kind(field.kind), field.name);
    response.text += '\0';
  }
  if (response.text.size() > ipc::kMaxText) return error_response(Error(E2BIG, "too many fields"));
  return response;
}

// Guests see themselves.
Response users(const Context& c) {
  Response response;
  Domain& domain = c.domain;
  const bool sees_all = may_consume(c).has_value();
  for (const domain::User& user : domain.users().all()) {
    if (!sees_all && user.uid != c.who.uid) continue;
    response.text +=
        fmt::format("uid {}  memory {} KiB  descriptors {}  events {}  files {}  write indices {}  enable words {}",
                    user.uid, user.memory() / 1024, domain.descriptors().taken_by(user.uid),
                    domain.events().count_of(user.uid), domain.files().count_of(user.uid),
                    domain.files().indices_of(user.uid), domain.enable_words().words_of(user.uid));
    if (const std::size_t held = domain.grace().held_by(user.uid); held > 0) {
      response.text += fmt::format("  waiting for a program that is stopped in an event {}", held);
    }
    response.text += '\n';
  }
  response.reply.a = plan::kMaxUsers;
  return response;
}

Response data_segment(const Context& c) {
  if (auto may = may_consume(c); !may) return error_response(may.error());
  const auto& users = c.domain.users().all();
  if (c.request.a >= users.size()) return error_response(Error(ENOENT, "no such user"));
  Response response;
  response.fds[0] = users[c.request.a].fd.get();
  response.reply.a = users[c.request.a].uid;
  response.reply.b = users[c.request.a].serial;
  return response;
}

}  // namespace

Response error_response(const Error& error) {
  Response response;
  response.reply.error = error.code;
  response.text = error.message;
  return response;
}

Response handle_request(Domain& domain, rules::Rules& rules, Connection& connection, std::uint32_t pid,
                        programs::Identity who, const Request& request, std::string_view text) {
  const Context c{domain, rules, connection, pid, who, request, text};
  if (request.version != ipc::kProtocolVersion) {
    return error_response(Error(EPROTO, fmt::format("the owner speaks version {} of the protocol, the client {}",
                                                    ipc::kProtocolVersion, request.version)));
  }
  if (auto answer = handle_session_request(c)) return *std::move(answer);
  switch (request.operation) {
    case Operation::kAttach:
      return attach(c);
    case Operation::kRegister:
      return register_for_file(c);
    case Operation::kUnregister:
      return request.b > 255 ? error_response(Error(EINVAL)) : respond(domain.enable_words().remove(pid, who, c.bit()));
    case Operation::kDelete:
      return respond(domain.registrar().remove_event(text, who.uid));
    case Operation::kForking:
      return respond(domain.enable_words().expect_child(pid, who));
    case Operation::kForked: {
      Response response = respond(domain.enable_words().duplicate(static_cast<std::uint32_t>(request.a), pid, who));
      response.reply.b = pid;
      return response;
    }
    case Operation::kRegisterNative:
      return register_native(c);
    case Operation::kReleaseNative:
      return release_native(c);
    case Operation::kDescribeStructs:
      return describe_structs(c);
    case Operation::kPlacesRefused:
      return places_refused(rules, pid, text);
    case Operation::kRefusedPlaces: {
      if (auto may = may_consume(c); !may) return error_response(may.error());
      const auto [system, name] = texts_of<2>(text);
      return refused_places(rules, domain.events().find(system, name), request.a);
    }
    case Operation::kHistograms:
      return histograms(c);
    case Operation::kHistogramEvents:
      return histogram_events(c);
    case Operation::kDataSegment:
      return data_segment(c);
    case Operation::kAbout:
      return about();
    case Operation::kUsers:
      return users(c);
    case Operation::kHoldEvent:
      return hold_event(c);
    case Operation::kEventLayout:
      return event_layout(c);
    case Operation::kRegisterStatusBit:
      return register_status_bit(c);
    case Operation::kRegisterPlain:
      return register_plain(c);
    case Operation::kStatusPage:
      return status_page(c);
    case Operation::kStatusText:
      return status_text(c);
    case Operation::kOpenSession:
    case Operation::kSessionEvents:
    case Operation::kSessionSelect:
    case Operation::kSessionThreads:
    case Operation::kSessionState:
    case Operation::kSessionRecord:
    case Operation::kSessionStop:
    case Operation::kConsumed:
      break;  // see session_requests.hpp
    case Operation::kOpenFile:
    case Operation::kReopenFile:
    case Operation::kOfferMount:
    case Operation::kServeMount:
      break;  // the server's own
    case Operation::kTreeStat:
    case Operation::kTreeList:
    case Operation::kTreeOpen:
    case Operation::kTreeRead:
    case Operation::kTreeWrite:
    case Operation::kTreeMakeFolder:
    case Operation::kTreeRemoveFolder:
    case Operation::kTreeClose:
    case Operation::kTreeWriteAtEnd:
      break;  // see tree_requests.hpp
    case Operation::kBpfMap:
    case Operation::kBpfCode:
    case Operation::kBpfLoad:
    case Operation::kBpfLog:
    case Operation::kBpfAttach:
    case Operation::kBpfDrop:
    case Operation::kBpfLines:
    case Operation::kBpfList:
      break;  // see bpf_requests.hpp
  }
  return error_response(Error(EOPNOTSUPP, "no such operation"));
}

}  // namespace landtrace::host
