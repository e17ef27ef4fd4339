#include "bpf_objects/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "bpf/maps/ring.hpp"
#include "bpf/rows.hpp"
#include "bpf_code/compile.hpp"
#include "plan/thread_slots.hpp"
#include "verifier/verify.hpp"

namespace landtrace::bpf_objects {
namespace {

constexpr std::size_t kMaxObjects = 1024;
// Of all maps of one guest; of anybody else.
constexpr std::uint64_t kMaxGuestBytes = 32ull << 20;
constexpr std::uint64_t kMaxBytes = 768ull << 20;

// References to maps are numbers of windows and handles from here on.
std::vector<bpf::Instruction> placed(std::span<const bpf::Instruction> code) {
  std::vector<bpf::Instruction> placed(code.begin(), code.end());
  for (std::size_t i = 0; i + 1 < placed.size(); ++i) {
    bpf::Instruction& one = placed[i];
    if (one.code != bpf::kLoadConstant) continue;
    bpf::Instruction& second = placed[++i];
    const auto map = static_cast<std::uint32_t>(one.imm);
    std::uint64_t value = 0;
    if (one.src_reg == BPF_PSEUDO_MAP_FD) {
      value = bpf::map_handle(map);
    } else if (one.src_reg == BPF_PSEUDO_MAP_VALUE) {
      value = bpf::window_address(bpf::kFirstMapWindow + map, static_cast<std::uint32_t>(second.imm));
    } else {
      continue;
    }
    one.src_reg = 0;
    one.imm = static_cast<std::int32_t>(value);
    second.imm = static_cast<std::int32_t>(value >> 32);
  }
  return placed;
}

template <typename T>
void append(std::vector<std::byte>& bytes, const T* from, std::size_t count) {
  const auto* const begin = reinterpret_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), begin, begin + count * sizeof(T));
}

}  // namespace

Result<void> Objects::check_room(const Owner& owner, std::uint64_t bytes) const {
  std::uint64_t taken = bytes;
  std::size_t count = 0;
  for (const MapRef& map : maps()) {
    if (map->owner.uid != owner.uid) continue;
    taken += map->layout.bytes;
    ++count;
  }
  for (const ProgramRef& program : programs()) count += program->owner.uid == owner.uid ? 1 : 0;
  if (count >= kMaxObjects) return fail(ENOSPC, fmt::format("a user has at most {} maps and programs", kMaxObjects));
  const std::uint64_t most = domain_.registrar().is_guest(owner.uid) ? kMaxGuestBytes : kMaxBytes;
  if (taken > most) return fail(ENOMEM, fmt::format("all maps of a user have at most {} MiB", most >> 20));
  return {};
}

Result<MapRef> Objects::create_map(const MapWish& wish, std::string name, const Owner& owner) {
  LT_TRY(bpf::MapLayout layout, shape_map(wish, domain_.control().segment().cpus));
  LT_CHECK(check_room(owner, layout.bytes));
  const auto place = domain_.users().allocate(layout.bytes);
  if (!place) return fail(ENOMEM, "no room for a map of that size: " + place.error().message);
  layout.place = *place;
  const MapRef map(new Map{++last_number_, std::move(name), owner, layout}, [this](const Map* gone) {
    free_map(*gone);
    delete gone;
  });
  maps_.emplace(map->number, map);
  return map;
}

// Behind who may have a pointer into it.
void Objects::free_map(const Map& map) {
  maps_.erase(map.number);
  domain_.grace().after_readers(
      [&users = domain_.users(), place = map.layout.place, bytes = map.layout.bytes] { users.free(place, bytes); },
      domain::Holders::of_own_memory());
}

// Claims of rows are the same for all programs, who may share maps.
Result<std::uint64_t> Objects::rows() {
  if (rows_ == 0) {
    LT_TRY(rows_, domain_.users().allocate(std::uint64_t{domain_.control().segment().cpus} * bpf::kRowClaimBytes));
  }
  return rows_;
}

// Where there is no room, or no code can be made, the program is interpreted.
void Objects::make_code(Program& program, std::span<const bpf::Instruction> code) {
  if (!makes_code_) return;
  const std::vector<std::byte> bytes = bpf_code::compile(code, static_cast<std::uint32_t>(program.maps.size()));
  if (bytes.empty()) return;
  const auto place = code_areas_.store(program.owner.index, bytes);
  if (!place) return;
  program.code = *place;
  program.code_bytes = static_cast<std::uint32_t>(bytes.size());
}

std::vector<std::byte> Objects::shared_form(const ProgramWish& wish, const Program& program,
                                            std::span<const bpf::Instruction> code, std::uint64_t rows,
                                            std::uint32_t frames) const {
  const plan::ControlSegment& control = domain_.control().segment();
  bpf::Program shared{};
  shared.instruction_count = program.instruction_count;
  shared.map_count = static_cast<std::uint32_t>(wish.maps.size());
  shared.owner = static_cast<std::uint32_t>(plan::make_view(&control, nullptr, program.owner.index).consumed_row);
  shared.frames = frames;
  shared.figures = program.figures;
  shared.rows = rows;
  shared.row_count = control.cpus;
  shared.code = program.code;
  if (wish.lines) {
    shared.lines = wish.lines->layout.place;
    shared.line_bytes = wish.lines->layout.max_entries;
  }
  std::vector<std::byte> bytes;
  append(bytes, &shared, 1);
  for (const MapRef& map : wish.maps) append(bytes, &map->layout, 1);
  append(bytes, code.data(), code.size());
  return bytes;
}

Result<ProgramRef> Objects::load(const ProgramWish& wish, const Owner& owner, std::string& log) {
  const bool is_known = wish.kind == BPF_PROG_TYPE_TRACEPOINT || wish.kind == BPF_PROG_TYPE_SOCKET_FILTER;
  if (!is_known) return fail(EINVAL, "programs of this type are not run by a domain");
  if (wish.maps.size() > bpf::kMaxMaps) return fail(E2BIG, "a program has at most 64 maps");
  for (const MapRef& map : wish.maps) {
    if (map->owner.uid != owner.uid) return fail(EPERM, "the map is another user's");
  }
  LT_CHECK(check_room(owner, 0));
  std::vector<bpf::MapLayout> layouts;
  for (const MapRef& map : wish.maps) layouts.push_back(map->layout);
  verifier::Verdict verdict = verifier::verify(wish.code, layouts, wish.log_level);
  log = std::move(verdict.log);
  if (!verdict.accepted) return fail(verdict.error, verdict.reason);

  LT_TRY(const std::uint64_t rows, rows());
  LT_TRY(const std::uint64_t figures, domain_.users().allocate(sizeof(bpf::Figures)));
  auto made = std::make_unique<Program>(Program{++last_number_, wish.name, owner, wish.kind, wish.maps, wish.lines,
                                                static_cast<std::uint32_t>(wish.code.size()), verdict.context_end, 0,
                                                figures, 0, 0});
  const std::vector<bpf::Instruction> code = placed(wish.code);
  make_code(*made, code);
  const auto shared = domain_.control().store(shared_form(wish, *made, code, rows, verdict.frames));
  if (!shared) {
    if (made->code != 0) code_areas_.freeing(owner.index, made->code)();
    domain_.users().free(figures, sizeof(bpf::Figures));
    return fail(shared.error().code, shared.error().message);
  }
  made->shared = *shared;
  const ProgramRef program(made.release(), [this](const Program* gone) {
    free_program(*gone);
    delete gone;
  });
  programs_.emplace(program->number, program);
  return program;
}

// Its maps are let go of behind it, too: they are freed no earlier.
void Objects::free_program(const Program& program) {
  programs_.erase(program.number);
  domain_.grace().after_readers([&control = domain_.control(), shared = program.shared] { control.free(shared); });
  domain_.grace().after_readers(
      [&users = domain_.users(), figures = program.figures] { users.free(figures, sizeof(bpf::Figures)); },
      domain::Holders::of_own_memory());
  if (program.code == 0) return;
  // Who is stopped in the middle of it goes on in it.
  domain_.grace().after_readers(code_areas_.freeing(program.owner.index, program.code),
                                domain::Holders::these({program.owner.uid}));
}

Objects::Objects(domain::Domain& domain, rules::Rules& rules)
    : domain_(domain), rules_(rules), code_areas_(domain.control()) {
  const char* const way = std::getenv("LANDTRACE_BPF");
  makes_code_ = way == nullptr || std::strcmp(way, "interpreter") != 0;
  rules_.event_programs().set_on_new([this](domain::Event& event) { event_came(event); });
}

Objects::~Objects() { rules_.event_programs().set_on_new(nullptr); }

Result<void> Objects::attach_now(Link& link, domain::Event& event) {
  if (link.program->kind != BPF_PROG_TYPE_TRACEPOINT)
    return fail(EINVAL, "programs of this type are not attached to events");
  std::uint32_t fields_end = abi::kEntryHeaderSize;
  for (const event::Field& field : event.declaration.fields)
    fields_end = std::max(fields_end, field.offset + field.size);
  if (link.program->context_end > fields_end) {
    return fail(EACCES, fmt::format("program {} looks at {} bytes of an event, {}:{} has {}", link.program->name,
                                    link.program->context_end, event.system, event.name, fields_end));
  }
  LT_CHECK(rules_.event_programs().attach(event, link.program->shared));
  link.slot = event.slot;
  return {};
}

LinkRef Objects::make_link(Link link) {
  link.number = ++last_number_;
  LinkRef made(new Link(std::move(link)), [this](const Link* gone) {
    end_link(*gone);
    delete gone;
  });
  links_.emplace(made->number, made);
  return made;
}

Result<LinkRef> Objects::attach(const ProgramRef& program, domain::Event& event) {
  LinkRef link = make_link({0, program, event.system, event.name, {}, {}, {}});
  LT_CHECK(attach_now(*link, event));
  return link;
}

LinkRef Objects::attach_later(const ProgramRef& program, std::string system, std::string event,
                              std::optional<std::uint32_t> only_of) {
  return make_link({0, program, std::move(system), std::move(event), {}, only_of, {}});
}

void Objects::event_came(domain::Event& event) {
  for (const LinkRef& link : links()) {
    if (link->slot || link->system != event.system || link->event != event.name) continue;
    if (link->only_of && *link->only_of != event.uid) continue;
    const auto attached = attach_now(*link, event);
    link->refusal = attached ? "" : attached.error().message;
  }
}

void Objects::end_link(const Link& link) {
  links_.erase(link.number);
  if (link.slot) rules_.event_programs().detach(*link.slot, link.program->shared);
}

void Objects::reap() {
  const std::uint32_t cpus = domain_.control().segment().cpus;
  for (const domain::User& user : domain_.users().all()) {
    const auto is_gone = [&](std::uint32_t tid) {
      const plan::TaskEntry& task = user.data().tasks[tid % plan::kMaxTasks];
      return tid != 0 && task.tid == tid && plan::thread_is_gone(task.pid, tid);
    };
    std::byte* const data = user.mapping.data();
    const bpf::Rows rows(data + rows_, cpus);
    for (std::uint32_t i = 0; rows_ != 0 && i < cpus; ++i) {
      if (const std::uint32_t tid = rows.holder(i); is_gone(tid)) rows.free_dead(i, tid);
    }
    for (const MapRef& map : maps()) {
      if (map->layout.kind != bpf::kRingbuf || map->owner.uid != user.uid) continue;
      const bpf::RecordRing ring(data, map->layout);
      if (const std::uint32_t tid = ring.holder(); is_gone(tid)) ring.release_dead(tid);
    }
  }
}

bpf::Figures Objects::figures_of(const Program& program) const {
  bpf::Figures figures{};
  const auto& users = domain_.users().all();
  if (program.owner.index < users.size()) {
    std::memcpy(&figures, users[program.owner.index].mapping.data() + program.figures, sizeof figures);
  }
  return figures;
}

}  // namespace landtrace::bpf_objects
