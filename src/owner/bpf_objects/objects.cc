#include "bpf_objects/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "bpf/maps/ring.hpp"
#include "bpf/rows.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::bpf_objects {
namespace {

constexpr std::size_t kMaxObjects = 1024;
// Of all maps of anybody but a guest.
constexpr std::uint64_t kMaxBytes = 768ull << 20;
// Of one program of a guest's, as the kernel has it for users without rights; of all of them, which lie in the segment
// that all share.
constexpr std::uint64_t kMaxGuestInstructions = 4096;
constexpr std::uint64_t kMaxGuestCode = 8ull << 20;
constexpr std::uint32_t kMaxGuestLinks = 256;
// Of one program; what is kept of a longer one is its end.
constexpr std::size_t kMaxGuestLog = 1 << 20;
constexpr std::size_t kMaxLog = 8 << 20;
// Where no log was asked for: why it was refused.
constexpr std::size_t kMaxReason = 64 << 10;
constexpr std::size_t kMaxName = 511;

template <typename T>
void append(std::vector<std::byte>& bytes, const T* from, std::size_t count) {
  const auto* const begin = reinterpret_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), begin, begin + count * sizeof(T));
}

// Of a program in the control segment.
std::size_t shared_size(std::size_t maps, std::size_t instructions) {
  return sizeof(bpf::Program) + maps * sizeof(bpf::MapLayout) + instructions * sizeof(bpf::Instruction);
}

// Whether the event has what the program looks at.
Result<void> check_context(const Program& program, const domain::Event& event) {
  switch (program.kind) {
    case BPF_PROG_TYPE_TRACEPOINT: {
      std::uint32_t fields_end = abi::kEntryHeaderSize;
      const auto declaration = event.declaration();
      for (const event::Field& field : declaration->fields)
        fields_end = std::max(fields_end, field.offset + field.size);
      if (program.context_end <= fields_end) return {};
      return fail(EACCES, fmt::format("program {} looks at {} bytes of an event, {}:{} has {}", program.name,
                                      program.context_end, event.system, event.name, fields_end));
    }
    case BPF_PROG_TYPE_KPROBE:
      if (rules::find_probe(event) != nullptr) return {};
      return fail(EINVAL, fmt::format("program {} looks at registers, {}:{} is no probe", program.name, event.system,
                                      event.name));
    default:
      return fail(EINVAL, "programs of this type are not attached to events");
  }
}

}  // namespace

std::uint64_t Objects::leaving_of(const Owner& owner) const {
  const auto own = leaving_->find(owner.uid);
  return own == leaving_->end() ? 0 : own->second;
}

Result<void> Objects::check_room(const Owner& owner, std::uint64_t map_bytes, std::uint64_t instructions) const {
  const bool is_guest = domain_.registrar().is_guest(owner.uid);
  if (is_guest && instructions > kMaxGuestInstructions) {
    return fail(E2BIG, fmt::format("a program of a user who does not run the domain has at most {} instructions",
                                   kMaxGuestInstructions));
  }
  std::uint64_t taken = map_bytes, code = shared_size(0, instructions);
  std::size_t count = 0;
  for (const MapRef& map : maps()) {
    if (map->owner.uid != owner.uid) continue;
    taken += map->layout.bytes;
    ++count;
  }
  for (const ProgramRef& program : programs()) {
    if (program->owner.uid != owner.uid) continue;
    code += shared_size(program->maps.size(), program->instruction_count);
    ++count;
  }
  if (count >= kMaxObjects) return fail(ENOSPC, fmt::format("a user has at most {} maps and programs", kMaxObjects));
  if (is_guest && code + leaving_of(owner) > kMaxGuestCode) domain_.grace().poll();
  if (is_guest && code + leaving_of(owner) > kMaxGuestCode) {
    return fail(ENOMEM,
                fmt::format("all programs of a user who does not run the domain have at most {} MiB, with those "
                            "that are gone and wait for a thread in the middle of an event",
                            kMaxGuestCode >> 20));
  }
  const std::uint64_t most = is_guest ? most_bytes_of_guest(domain_.control().segment().cpus) : kMaxBytes;
  if (taken > most) return fail(ENOMEM, fmt::format("all maps of a user have at most {} MiB", most >> 20));
  return {};
}

Result<MapRef> Objects::create_map(const MapWish& wish, std::string name, const Owner& owner) {
  LT_TRY(bpf::MapLayout layout, shape_map(wish, domain_.control().segment().cpus));
  LT_CHECK(check_room(owner, layout.bytes, 0));
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
void Objects::store_code(Program& program, std::span<const std::byte> bytes) {
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
  shared.context = *bpf::context_of(program.kind);
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

std::size_t Objects::max_log(const ProgramWish& wish, const Owner& owner) const {
  if (wish.log_level == 0) return kMaxReason;
  return domain_.registrar().is_guest(owner.uid) ? kMaxGuestLog : kMaxLog;
}

Result<std::uint64_t> Objects::bytes_of_loading(const ProgramWish& wish, const Owner& owner) const {
  LT_CHECK(check_room(owner, 0, wish.code.size()));
  return Verification::most_bytes(wish.code.size(), max_log(wish, owner));
}

MemoryAccount::Charge Objects::charge(std::uint32_t uid) {
  return account_.charge(uid, domain_.registrar().is_guest(uid));
}

Result<std::shared_ptr<Verification>> Objects::prepare(const ProgramWish& wish, const Owner& owner) const {
  const auto context = bpf::context_of(wish.kind);
  if (!context) return fail(EINVAL, "programs of this type are not run by a domain");
  if (wish.maps.size() > bpf::kMaxMaps) return fail(E2BIG, "a program has at most 64 maps");
  for (const MapRef& map : wish.maps) {
    if (map->owner.uid != owner.uid) return fail(EPERM, "the map is another user's");
  }
  LT_CHECK(check_room(owner, 0, wish.code.size()));
  std::vector<bpf::MapLayout> layouts;
  for (const MapRef& map : wish.maps) layouts.push_back(map->layout);
  return std::make_shared<Verification>(Verification::Wish{{wish.code.begin(), wish.code.end()},
                                                           std::move(layouts),
                                                           *context,
                                                           wish.log_level,
                                                           makes_code_,
                                                           max_log(wish, owner)});
}

Result<std::shared_ptr<Verification>> Objects::begin_load(const ProgramWish& wish, const Owner& owner) {
  if (const auto other = verifying_[owner.uid].lock(); other != nullptr && !other->is_done()) return nullptr;
  LT_TRY(std::shared_ptr<Verification> begun, prepare(wish, owner));
  verifying_[owner.uid] = begun;
  Verification::begin(begun, worker_);
  return begun;
}

Result<ProgramRef> Objects::load(const ProgramWish& wish, const Owner& owner, std::string& log) {
  LT_TRY(const auto begun, prepare(wish, owner));
  begun->run();
  return finish_load(wish, owner, *begun, log);
}

Result<ProgramRef> Objects::finish_load(const ProgramWish& wish, const Owner& owner, const Verification& done,
                                        std::string& log) {
  const verifier::Verdict& verdict = done.verdict();
  log = verdict.log;
  // Others may have come meanwhile.
  LT_CHECK(check_room(owner, 0, done.code().size()));
  if (!verdict.accepted) return fail(verdict.error, verdict.reason);

  LT_TRY(const std::uint64_t rows, rows());
  LT_TRY(const std::uint64_t figures, domain_.users().allocate(sizeof(bpf::Figures)));
  auto made = std::make_unique<Program>(Program{++last_number_, wish.name, owner, wish.kind, wish.maps, wish.lines,
                                                static_cast<std::uint32_t>(done.code().size()), verdict.context_end, 0,
                                                figures, 0, 0, domain::Holders::these({owner.uid})});
  store_code(*made, done.machine_code());
  const auto shared = domain_.control().store(shared_form(wish, *made, done.placed(), rows, verdict.frames));
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
  const std::uint64_t bytes = shared_size(program.maps.size(), program.instruction_count);
  (*leaving_)[program.owner.uid] += bytes;
  domain_.grace().after_readers(
      [&control = domain_.control(), leaving = leaving_, shared = program.shared, uid = program.owner.uid, bytes] {
        control.free(shared);
        const auto left = leaving->find(uid);
        if ((left->second -= bytes) == 0) leaving->erase(left);
      },
      program.holders);
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
  LT_CHECK(check_context(*link.program, event));
  LT_CHECK(rules_.event_programs().attach(event, link.shared()));
  link.slot = event.slot;
  return {};
}

Result<LinkRef> Objects::make_link(Link link) {
  const std::uint32_t uid = link.program->owner.uid;
  std::uint32_t& count = links_of_[uid];
  if (domain_.registrar().is_guest(uid) && count >= kMaxGuestLinks) {
    return fail(ENOSPC,
                fmt::format("programs of a user who does not run the domain are at {} events at most", kMaxGuestLinks));
  }
  if (domain_.registrar().is_guest(uid)) LT_CHECK(domain_.grace().check_room(uid));
  ++count;
  link.number = ++last_number_;
  LinkRef made(new Link(std::move(link)), [this](const Link* gone) {
    end_link(*gone);
    delete gone;
  });
  links_.emplace(made->number, made);
  return made;
}

Result<LinkRef> Objects::attach(const ProgramRef& program, domain::Event& event) {
  LT_TRY(LinkRef link, make_link({0, program, event.system, event.name, {}, {}, {}}));
  LT_CHECK(attach_now(*link, event));
  return link;
}

Result<LinkRef> Objects::attach_later(const ProgramRef& program, std::string system, std::string event,
                                      std::optional<std::uint32_t> only_of) {
  if (system.size() > kMaxName || event.size() > kMaxName)
    return fail(EINVAL, fmt::format("names of events have at most {} bytes", kMaxName));
  LT_TRY(LinkRef link, make_link({0, program, std::move(system), std::move(event), {}, only_of, {}}));
  waiting_[{link->system, link->event}].insert(link->number);
  return link;
}

void Objects::wait_no_more(const Link& link) {
  const auto found = waiting_.find({link.system, link.event});
  if (found == waiting_.end()) return;
  found->second.erase(link.number);
  if (found->second.empty()) waiting_.erase(found);
}

// What is published of the program, for one process.
Result<std::uint32_t> Objects::copy_for(const Program& program, std::uint32_t pid) {
  const std::byte* const at = domain_.control().at(program.shared);
  std::vector<std::byte> copy(at, at + shared_size(program.maps.size(), program.instruction_count));
  reinterpret_cast<bpf::Program*>(copy.data())->only_pid = pid;
  return domain_.control().store(copy);
}

Result<LinkRef> Objects::attach_probe(const ProgramRef& program, const ProbeWish& wish) {
  if (program->kind != BPF_PROG_TYPE_KPROBE) return fail(EINVAL, "programs of this type are not attached to probes");
  const bool has_other_words = wish.place.find_first_of(" \t\n") != std::string::npos;
  if (has_other_words) return fail(EINVAL, "places with spaces in their names cannot be probed");
  // It has no event's name yet: it is not one that waits for this event.
  LT_TRY(LinkRef link, make_link({0, program, {}, {}, {}, {}, {}, 0, false}));
  if (wish.only_pid != 0) {
    LT_TRY(link->own_copy, copy_for(*program, wish.only_pid));
  }
  const std::string name = fmt::format("bpf_{}", link->number);
  const char* const group = wish.family == language::ProbeFamily::kKprobe ? "kprobes" : "uprobes";
  const std::string line = fmt::format("{}:{}/{} {}", wish.is_return ? 'r' : 'p', group, name, wish.place);
  rules::Probes& probes = rules_.probes();
  if (!probes.is_prepared(line, wish.asker)) return fail(EINPROGRESS);
  // Programs do not come back with the next owner, so the probe does not either.
  probes.set_passing(true);
  const auto made = probes.define(wish.family, line, wish.asker);
  probes.set_passing(false);
  if (!made) {
    const auto& [code, logged] = made.error();
    return fail(code > 0 ? code : EINVAL, logged.empty() ? "the probe could not be made" : logged.front().text());
  }
  link->system = (*made)->system;
  link->event = (*made)->name;
  link->has_own_event = true;
  link->slot = (*made)->slot;
  LT_CHECK(attach_now(*link, **made));
  return link;
}

void Objects::event_came(domain::Event& event) {
  const auto found = waiting_.find({event.system, event.name});
  if (found == waiting_.end()) return;
  for (const std::uint32_t number : std::set(found->second)) {
    const LinkRef link = links_.at(number).lock();
    if (link == nullptr || (link->only_of && *link->only_of != event.uid)) continue;
    const auto attached = attach_now(*link, event);
    link->refusal = attached ? "" : attached.error().message;
    if (attached) wait_no_more(*link);
  }
}

// Producers of other users look whose program it is before they pass it over.
void Objects::detach(const Link& link) {
  const domain::Event* const event = domain_.events().at(*link.slot);
  domain::Holders at_event = event == nullptr ? domain::Holders::anybody() : domain::Events::holders_of(*event);
  // Its event may be gone, and another one may have the slot by now.
  if (!rules_.event_programs().detach(*link.slot, link.shared())) at_event = domain::Holders::anybody();
  if (link.own_copy == 0) link.program->holders.add(at_event);
}

void Objects::end_link(const Link& link) {
  links_.erase(link.number);
  wait_no_more(link);
  const auto count = links_of_.find(link.program->owner.uid);
  if (--count->second == 0) links_of_.erase(count);
  if (link.slot) {
    detach(link);
    domain::Event* const event = domain_.events().at(*link.slot);
    // Where somebody else listens to it, it stays for them.
    if (link.has_own_event && event != nullptr) std::ignore = rules_.remove(*event, 0);
  }
  // Behind those that are in the middle of it.
  if (link.own_copy != 0)
    domain_.grace().after_readers([&control = domain_.control(), copy = link.own_copy] { control.free(copy); });
}

void Objects::reap() {
  const std::uint32_t cpus = domain_.control().segment().cpus;
  const auto all = maps();
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
    for (const MapRef& map : all) {
      if (map->layout.kind != bpf::kRingbuf || map->owner.uid != user.uid) continue;
      const bpf::RecordRing ring(data, map->layout);
      if (const std::uint32_t tid = ring.holder(); is_gone(tid)) ring.release_dead(tid);
      if (const auto stuck = ring.stuck()) give_up_later(map, data, *stuck);
    }
  }
}

void Objects::give_up_later(const MapRef& map, std::byte* data, const bpf::RecordRing::Stuck& stuck) {
  if (!awaited_->insert(map->number).second) return;
  domain_.grace().after_readers(
      [awaited = awaited_, number = map->number, known = std::weak_ptr(map), data, stuck] {
        awaited->erase(number);
        const MapRef there = known.lock();
        if (there == nullptr) return;
        const bpf::RecordRing ring(data, there->layout);
        if (const auto still = ring.stuck(); still && still->at == stuck.at) ring.give_up(stuck);
      },
      domain::Holders::these({map->owner.uid}));
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
