#include "host/bpf_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ipc/bpf_requests.hpp"

namespace landtrace::host {
namespace bpf_calls {
namespace {

using bpf_objects::Objects;
using ipc::Operation;

// A program with all that belongs to it, as it comes in pieces.
constexpr std::size_t kMaxPending = sizeof(ipc::BpfProgramWish) + bpf::kMaxMaps * 4 + bpf::kMaxInstructions * 8;
constexpr std::uint32_t kLineBytes = 64 << 10;
constexpr std::size_t kMaxLinks = 4096;  // of one connection

struct Context {
  Objects& objects;
  domain::Domain& domain;
  Connection& connection;
  std::uint32_t pid;
  programs::Identity who;
  const ipc::Request& request;
  std::string_view text;
};

Response numbered(std::uint32_t number) {
  Response response;
  response.reply.a = number;
  return response;
}

// What names may have: the kernel's rule, and nothing that a terminal takes for more than text.
std::string name_of(const char (&name)[ipc::kBpfNameSize]) {
  std::string text(name, ::strnlen(name, sizeof name));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '.'; }, '?');
  return text;
}

template <typename T>
std::string bytes_of(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// Its own data segment is where a user's maps are.
Result<bpf_objects::Owner> owner_of(const Context& c) {
  LT_TRY(const std::uint32_t index, c.domain.join(c.who.uid));
  return bpf_objects::Owner{c.who.uid, index};
}

Response create_map(const Context& c) {
  ipc::BpfMapWish wish;
  if (c.text.size() != sizeof wish) return error_response(Error(EINVAL));
  std::memcpy(&wish, c.text.data(), sizeof wish);
  const auto owner = owner_of(c);
  if (!owner) return error_response(owner.error());
  const auto map = c.objects.create_map({wish.kind, wish.key_size, wish.value_size, wish.max_entries, wish.flags},
                                        name_of(wish.name), *owner);
  if (!map) return error_response(map.error());
  c.connection.bpf.maps.emplace((*map)->number, *map);
  Response response = numbered((*map)->number);
  response.text = bytes_of((*map)->layout);
  return response;
}

void drop_pending(bpf_objects::Holdings& held) {
  held.pending = {};
  held.pending_charge = {};
}

Response take_code(const Context& c) {
  std::string& pending = c.connection.bpf.pending;
  if (c.request.a == 0) {
    drop_pending(c.connection.bpf);
    c.connection.bpf.loading.reset();
    c.connection.bpf.pending_charge = c.objects.charge(c.who.uid);
  }
  if (c.request.a != pending.size()) return error_response(Error(EINVAL, "a piece is missing"));
  if (pending.size() + c.text.size() > kMaxPending) return error_response(Error(E2BIG, "too many instructions"));
  const auto counted = c.connection.bpf.pending_charge.set(pending.size() + c.text.size());
  if (!counted) return error_response(counted.error());
  pending += c.text;
  return {};
}

// The wish that has come in pieces, with its maps and instructions.
struct Parsed {
  ipc::BpfProgramWish wish;
  std::vector<bpf_objects::MapRef> maps;
  std::vector<bpf::Instruction> code;
};

Result<Parsed> parse(const bpf_objects::Holdings& held, std::string_view bytes) {
  Parsed parsed;
  if (bytes.size() < sizeof parsed.wish) return fail(EINVAL);
  std::memcpy(&parsed.wish, bytes.data(), sizeof parsed.wish);
  bytes.remove_prefix(sizeof parsed.wish);
  const std::uint64_t wanted =
      std::uint64_t{parsed.wish.map_count} * 4 + std::uint64_t{parsed.wish.instruction_count} * 8;
  if (parsed.wish.map_count > bpf::kMaxMaps || parsed.wish.instruction_count > bpf::kMaxInstructions)
    return fail(E2BIG);
  if (bytes.size() != wanted) return fail(EINVAL);
  for (std::uint32_t i = 0; i < parsed.wish.map_count; ++i) {
    std::uint32_t number;
    std::memcpy(&number, bytes.data() + std::size_t{i} * 4, sizeof number);
    const auto found = held.maps.find(number);
    if (found == held.maps.end()) return fail(EBADF, "the connection does not have that map");
    parsed.maps.push_back(found->second);
  }
  parsed.code.resize(parsed.wish.instruction_count);
  if (!parsed.code.empty()) {
    std::memcpy(parsed.code.data(), bytes.data() + std::size_t{parsed.wish.map_count} * 4, parsed.code.size() * 8);
  }
  return parsed;
}

void drop_log(bpf_objects::Holdings& held) {
  held.log = {};
  held.log_charge = {};
}

Result<bpf_objects::MemoryAccount::Charge> charge_for_loading(const Context& c, const bpf_objects::ProgramWish& wish,
                                                              const bpf_objects::Owner& owner) {
  LT_TRY(const std::uint64_t bytes, c.objects.bytes_of_loading(wish, owner));
  auto charge = c.objects.charge(c.who.uid);
  LT_CHECK(charge.set(bytes));
  return charge;
}

// EINPROGRESS: another program of this user is being verified, and what was sent is kept.
Result<bpf_objects::Loading> begin_loading(const Context& c) {
  bpf_objects::Holdings& held = c.connection.bpf;
  drop_log(held);
  auto parsed = parse(held, held.pending);
  if (!parsed) drop_pending(held);
  LT_CHECK(parsed);
  LT_TRY(const bpf_objects::Owner owner, owner_of(c));
  bpf_objects::ProgramWish wish{
      name_of(parsed->wish.name), parsed->wish.kind, std::move(parsed->maps), held.lines, parsed->code,
      parsed->wish.log_level};
  auto charge = charge_for_loading(c, wish, owner);
  if (!charge) {
    drop_pending(held);
    return tl::unexpected<Error>(std::move(charge).error());
  }
  auto begun = c.objects.begin_load(wish, owner);
  if (begun && *begun == nullptr) return fail(EINPROGRESS);
  drop_pending(held);
  LT_CHECK(begun);
  wish.code = (*begun)->code();
  return bpf_objects::Loading{std::move(wish), owner, *std::move(begun), *std::move(charge)};
}

Response load_program(const Context& c) {
  bpf_objects::Holdings& held = c.connection.bpf;
  if (!held.loading) {
    auto begun = begin_loading(c);
    if (!begun) return error_response(begun.error());
    held.loading = *std::move(begun);
  }
  if (!held.loading->verification->is_done()) return error_response(Error(EINPROGRESS));
  bpf_objects::Loading done = *std::exchange(held.loading, std::nullopt);
  const auto program = c.objects.finish_load(done.wish, done.owner, *done.verification, held.log);
  std::ignore = done.charge.set(held.log.size());  // it was counted with what was loaded
  held.log_charge = std::move(done.charge);
  if (!program) {
    Response refused = error_response(program.error());
    refused.reply.c = held.log.size();
    return refused;
  }
  held.programs.emplace((*program)->number, *program);
  Response response = numbered((*program)->number);
  response.reply.b = (*program)->shared | std::uint64_t{(*program)->context_end} << ipc::kBpfContextShift;
  response.reply.c = held.log.size();
  return response;
}

Response read_log(const Context& c) {
  Response response;
  const std::string& log = c.connection.bpf.log;
  response.reply.a = log.size();
  if (c.request.a < log.size()) response.text = log.substr(c.request.a, ipc::kMaxText);
  if (c.request.a + response.text.size() >= log.size()) drop_log(c.connection.bpf);
  return response;
}

// Whoever runs the domain, root and its group; others with events of their own.
bool may_attach(const Context& c, const domain::Event& event) {
  return !c.domain.registrar().is_guest(c.who.uid) || c.connection.in_group || event.uid == c.who.uid;
}

std::pair<std::string_view, std::string_view> event_names(std::string_view text) {
  const std::string_view system = text.substr(0, text.find('\0'));
  const std::string_view name = text.substr(std::min(text.size(), system.size() + 1));
  return {system, name.substr(0, name.find('\0'))};
}

domain::Event* wanted_event(const Context& c) {
  if (c.request.b == 0) {
    const auto [system, name] = event_names(c.text);
    return c.domain.events().find(system, name);
  }
  for (domain::Event* const event : c.domain.events().all_and_print()) {
    if (c.domain.control().segment().events[event->slot].id == c.request.b) return event;
  }
  return nullptr;
}

Response attach_later(const Context& c, const bpf_objects::ProgramRef& program) {
  bpf_objects::Holdings& held = c.connection.bpf;
  if (held.links.size() >= kMaxLinks) return error_response(Error(ENOSPC));
  const bool for_all = !c.domain.registrar().is_guest(c.who.uid) || c.connection.in_group;
  const auto [system, name] = event_names(c.text);
  const auto link = c.objects.attach_later(program, std::string(system), std::string(name),
                                           for_all ? std::nullopt : std::optional(c.who.uid));
  if (!link) return error_response(link.error());
  held.links.emplace((*link)->number, *link);
  return numbered((*link)->number);
}

Response attach_probe(const Context& c) {
  bpf_objects::Holdings& held = c.connection.bpf;
  const auto program = held.programs.find(static_cast<std::uint32_t>(c.request.a));
  if (program == held.programs.end() || program->first != c.request.a) return error_response(Error(EBADF));
  // As the modes of uprobe_events have it.
  if (c.domain.registrar().is_guest(c.who.uid))
    return error_response(Error(EPERM, "probes are made by who runs the domain"));
  if (held.links.size() >= kMaxLinks) return error_response(Error(ENOSPC));
  const auto link = c.objects.attach_probe(
      program->second,
      {c.request.c == ipc::kBpfAtFunction ? language::ProbeFamily::kKprobe : language::ProbeFamily::kUprobe,
       std::string(c.text),
       c.request.b == 1,
       static_cast<std::uint32_t>(c.request.d),
       {c.who, c.pid}});
  if (!link) return error_response(link.error());
  held.links.emplace((*link)->number, *link);
  return numbered((*link)->number);
}

Response attach(const Context& c) {
  if (c.request.c == ipc::kBpfAtPlace || c.request.c == ipc::kBpfAtFunction) return attach_probe(c);
  bpf_objects::Holdings& held = c.connection.bpf;
  const auto program = held.programs.find(static_cast<std::uint32_t>(c.request.a));
  if (program == held.programs.end() || program->first != c.request.a) return error_response(Error(EBADF));
  domain::Event* const event = wanted_event(c);
  if (event == nullptr && c.request.c == 1 && c.request.b == 0) return attach_later(c, program->second);
  if (event == nullptr) return error_response(Error(ENOENT, "there is no such event"));
  if (!may_attach(c, *event)) {
    return error_response(Error(EPERM, "programs are attached to events of others by who runs the domain"));
  }
  if (held.links.size() >= kMaxLinks) return error_response(Error(ENOSPC));
  const auto link = c.objects.attach(program->second, *event);
  if (!link) return error_response(link.error());
  held.links.emplace((*link)->number, *link);
  return numbered((*link)->number);
}

Response drop(const Context& c) {
  const auto number = static_cast<std::uint32_t>(c.request.a);
  bpf_objects::Holdings& held = c.connection.bpf;
  const std::size_t gone = held.links.erase(number) + held.programs.erase(number) + held.maps.erase(number);
  return gone != 0 ? Response() : error_response(Error(EBADF));
}

Response lines(const Context& c) {
  bpf_objects::Holdings& held = c.connection.bpf;
  if (!held.lines) {
    const auto owner = owner_of(c);
    if (!owner) return error_response(owner.error());
    auto ring = c.objects.create_map({bpf::kRingbuf, 0, 0, kLineBytes, 0}, "lines", *owner);
    if (!ring) return error_response(ring.error());
    held.lines = *std::move(ring);
  }
  Response response = numbered(held.lines->number);
  response.text = bytes_of(held.lines->layout);
  return response;
}

Response list(const Context& c) {
  const bool sees_all = !c.domain.registrar().is_guest(c.who.uid) || c.connection.in_group;
  std::vector<std::string> entries;
  const auto add = [&](std::uint32_t number, const char* kind, std::uint32_t uid, const std::string& name,
                       const std::string& what) {
    if (!sees_all && uid != c.who.uid) return;
    entries.push_back(
        fmt::format("{} {} {} {}{:c}{}{:c}", number, kind, uid, name.empty() ? "-" : name, '\0', what, '\0'));
  };
  for (const auto& map : c.objects.maps()) {
    const bpf::MapLayout& layout = map->layout;
    add(map->number, "map", map->owner.uid, map->name,
        fmt::format("type {} key {} value {} entries {}", layout.kind, layout.key_size, layout.value_size,
                    layout.max_entries));
  }
  for (const auto& program : c.objects.programs()) {
    const bpf::Figures figures = c.objects.figures_of(*program);
    add(program->number, "program", program->owner.uid, program->name,
        fmt::format("instructions {} code {} faults {} exceeded {} missed {}", program->instruction_count,
                    program->code_bytes, figures.faults, figures.exceeded, figures.missed));
  }
  for (const auto& link : c.objects.links()) {
    add(link->number, "link", link->program->owner.uid, link->program->name,
        fmt::format(
            "program {} at {}:{}{}", link->program->number, link->system, link->event,
            link->slot ? "" : (link->refusal.empty() ? " (which is not there yet)" : " (" + link->refusal + ")")));
  }
  Response response;
  for (std::size_t i = c.request.a; i < entries.size(); ++i) {
    if (response.text.size() + entries[i].size() > ipc::kMaxText) {
      response.reply.a = i;
      break;
    }
    response.text += entries[i];
  }
  return response;
}

}  // namespace
}  // namespace bpf_calls

bool is_bpf_request(ipc::Operation operation) {
  return operation >= ipc::Operation::kBpfMap && operation <= ipc::Operation::kBpfList;
}

Response handle_bpf_request(bpf_objects::Objects& objects, domain::Domain& domain, Connection& connection,
                            std::uint32_t pid, programs::Identity who, const ipc::Request& request,
                            std::string_view text) {
  const bpf_calls::Context c{objects, domain, connection, pid, who, request, text};
  switch (request.operation) {
    case ipc::Operation::kBpfMap:
      return bpf_calls::create_map(c);
    case ipc::Operation::kBpfCode:
      return bpf_calls::take_code(c);
    case ipc::Operation::kBpfLoad:
      return bpf_calls::load_program(c);
    case ipc::Operation::kBpfLog:
      return bpf_calls::read_log(c);
    case ipc::Operation::kBpfAttach:
      return bpf_calls::attach(c);
    case ipc::Operation::kBpfDrop:
      return bpf_calls::drop(c);
    case ipc::Operation::kBpfLines:
      return bpf_calls::lines(c);
    default:
      return bpf_calls::list(c);
  }
}

}  // namespace landtrace::host
