// Maps and programs of a domain, and which program is at which event. Whoever calls these holds the domain.
//
//     Link ---> Program ---> Map, Map, …        each held by what is to its left, and by connections that asked for
//       |          |           |                it; freed behind the producers that may be in the middle of it
//       v          v           v
//     Event      control     a range of each
//     (rules)    segment     data segment
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bpf/instruction.hpp"
#include "bpf/maps/ring.hpp"
#include "bpf/program.hpp"
#include "bpf_objects/code_areas.hpp"
#include "bpf_objects/map_shape.hpp"
#include "bpf_objects/memory_account.hpp"
#include "bpf_objects/verification.hpp"
#include "domain/domain.hpp"
#include "rules/rules.hpp"

namespace landtrace::bpf_objects {

struct Owner {
  std::uint32_t uid;
  // Of the domain's users.
  std::uint32_t index;
};

struct Map {
  std::uint32_t number;
  std::string name;
  Owner owner;
  bpf::MapLayout layout;
};
using MapRef = std::shared_ptr<const Map>;

struct Program {
  std::uint32_t number;
  std::string name;
  Owner owner;
  // bpf_prog_type.
  std::uint32_t kind;
  std::vector<MapRef> maps;
  MapRef lines;
  std::uint32_t instruction_count;
  // Bytes of an event's entry that it looks at.
  std::uint32_t context_end;
  // Offsets: in the control segment, in data segments.
  std::uint32_t shared;
  std::uint64_t figures;
  // In the user's code area; no bytes: it is interpreted.
  std::uint32_t code;
  std::uint32_t code_bytes;
  // Whose producers may have come by it, at the events that it was attached to.
  mutable domain::Holders holders;
};
using ProgramRef = std::shared_ptr<const Program>;

struct Link {
  std::uint32_t number;
  ProgramRef program;
  std::string system;
  std::string event;
  // Its slot; nullopt: there is no such event yet.
  std::optional<std::uint32_t> slot;
  // It is attached to events of this user alone, once they come; nullopt: to anybody's.
  std::optional<std::uint32_t> only_of;
  // Why it could not be attached when the event came.
  std::string refusal;
  // Offset in the control segment of the program for one process alone; 0: it is the program's own.
  std::uint32_t own_copy = 0;
  // The event was made for it, and goes with it.
  bool has_own_event = false;

  [[nodiscard]] std::uint32_t shared() const { return own_copy != 0 ? own_copy : program->shared; }
};
using LinkRef = std::shared_ptr<Link>;

struct ProgramWish {
  std::string name;
  std::uint32_t kind;
  std::vector<MapRef> maps;
  // Where bpf_trace_printk() leaves its lines; nullptr: nowhere.
  MapRef lines;
  std::span<const bpf::Instruction> code;
  unsigned log_level;
};

class Objects {
 public:
  // LANDTRACE_BPF=interpreter in the environment: no code is made of programs.
  Objects(domain::Domain& domain, rules::Rules& rules);
  ~Objects();
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  // Of those whose loading begins from here on; else they are interpreted.
  void make_code_of_programs(bool wanted) { makes_code_ = wanted; }
  [[nodiscard]] CodeAreas& code_areas() { return code_areas_; }

  // As shape_map(); ENOSPC, ENOMEM where a user has as many as there may be. A guest's programs have at most 4096
  // instructions each (E2BIG), and 8 MiB of them together, with those that are gone and wait for producers.
  Result<MapRef> create_map(const MapWish& wish, std::string name, const Owner& owner);
  // EINVAL, EACCES, E2BIG with the verifier's reason; `log` is what it had to say.
  Result<ProgramRef> load(const ProgramWish& wish, const Owner& owner, std::string& log);
  // The same in two steps: what is begun is verified while others have the domain, one program of a user at a time.
  // nullptr: another one of this user is being verified, to be called again in a moment.
  Result<std::shared_ptr<Verification>> begin_load(const ProgramWish& wish, const Owner& owner);
  // What a program takes of memory from there on until it is loaded. Fails, as create_map() says, where it may not be
  // loaded for its size alone.
  [[nodiscard]] Result<std::uint64_t> bytes_of_loading(const ProgramWish& wish, const Owner& owner) const;
  // Counts nothing yet.
  [[nodiscard]] MemoryAccount::Charge charge(std::uint32_t uid);
  // Of what is done, for the same wish; its code is what was verified.
  Result<ProgramRef> finish_load(const ProgramWish& wish, const Owner& owner, const Verification& done,
                                 std::string& log);
  // EACCES: the event has fewer bytes than the program looks at. EINVAL. ENOSPC where a guest has 256 links.
  Result<LinkRef> attach(const ProgramRef& program, domain::Event& event);
  // The same once there is an event of that name; `only_of` a user, unless that is nullopt. EINVAL for a name that no
  // event can have.
  Result<LinkRef> attach_later(const ProgramRef& program, std::string system, std::string event,
                               std::optional<std::uint32_t> only_of);

  struct ProbeWish {
    language::ProbeFamily family;
    // As uprobe_events has it: PATH:OFFSET, PATH:SYMBOL, with a reference counter in brackets, PATH:usdt:PROVIDER:NAME;
    // or as kprobe_events has it: [MOD:]SYMBOL.
    std::string place;
    bool is_return;
    std::uint32_t only_pid;  // 0: in all processes
    programs::Asker asker;
  };
  // At a probe of its own. The program is of type KPROBE. EINPROGRESS: the object is being looked through, to be called
  // again in a moment. EINVAL with what is wrong with the place; ENOENT, EACCES.
  Result<LinkRef> attach_probe(const ProgramRef& program, const ProbeWish& wish);

  // All that there are, the oldest first.
  [[nodiscard]] std::vector<MapRef> maps() const { return all_of(maps_); }
  [[nodiscard]] std::vector<ProgramRef> programs() const { return all_of(programs_); }
  [[nodiscard]] std::vector<LinkRef> links() const { return all_of(links_); }

  [[nodiscard]] bpf::Figures figures_of(const Program& program) const;

  // What threads that were killed in a program still hold: rows of per-CPU values, records of ring buffers, and the
  // places of records that they had only begun to reserve.
  void reap();

 private:
  template <typename T>
  static std::vector<std::shared_ptr<T>> all_of(const std::map<std::uint32_t, std::weak_ptr<T>>& known) {
    std::vector<std::shared_ptr<T>> found;
    for (const auto& [number, one] : known) {
      if (auto there = one.lock()) found.push_back(std::move(there));
    }
    return found;
  }
  [[nodiscard]] std::size_t max_log(const ProgramWish& wish, const Owner& owner) const;
  Result<std::shared_ptr<Verification>> prepare(const ProgramWish& wish, const Owner& owner) const;
  [[nodiscard]] std::uint64_t leaving_of(const Owner& owner) const;
  // For a map of so many bytes, or a program of so many instructions.
  Result<void> check_room(const Owner& owner, std::uint64_t map_bytes, std::uint64_t instructions) const;
  Result<std::uint64_t> rows();
  [[nodiscard]] std::vector<std::byte> shared_form(const ProgramWish& wish, const Program& program,
                                                   std::span<const bpf::Instruction> code, std::uint64_t rows,
                                                   std::uint32_t frames) const;
  void store_code(Program& program, std::span<const std::byte> bytes);
  void free_map(const Map& map);
  Result<std::uint32_t> copy_for(const Program& program, std::uint32_t pid);
  void free_program(const Program& program);
  void detach(const Link& link);
  Result<void> attach_now(Link& link, domain::Event& event);
  Result<LinkRef> make_link(Link link);
  void wait_no_more(const Link& link);
  void end_link(const Link& link);
  void event_came(domain::Event& event);
  void give_up_later(const MapRef& map, std::byte* data, const bpf::RecordRing::Stuck& stuck);

  domain::Domain& domain_;
  rules::Rules& rules_;
  std::uint32_t last_number_ = 0;
  std::map<std::uint32_t, std::weak_ptr<const Map>> maps_;
  std::map<std::uint32_t, std::weak_ptr<const Program>> programs_;
  std::map<std::uint32_t, std::weak_ptr<Link>> links_;
  // Bytes of each user's programs that are gone and not freed yet. Shared with what waits for that.
  std::shared_ptr<std::map<std::uint32_t, std::uint64_t>> leaving_ =
      std::make_shared<std::map<std::uint32_t, std::uint64_t>>();
  // Links of each user.
  std::map<std::uint32_t, std::uint32_t> links_of_;
  // Numbers of links that wait for an event, by its system and name.
  std::map<std::pair<std::string, std::string>, std::set<std::uint32_t>> waiting_;
  std::uint64_t rows_ = 0;
  CodeAreas code_areas_;
  MemoryAccount account_;
  programs::PatientWorker worker_;
  // By uid.
  std::map<std::uint32_t, std::weak_ptr<const Verification>> verifying_;
  bool makes_code_ = true;
  // Ring buffers that are looked at again when who is at work now is done, by number. Shared with what waits for that.
  std::shared_ptr<std::set<std::uint32_t>> awaited_ = std::make_shared<std::set<std::uint32_t>>();
};

// A program that a connection is loading.
struct Loading {
  ProgramWish wish;
  Owner owner;
  std::shared_ptr<Verification> verification;
  MemoryAccount::Charge charge;
};

// What one connection holds.
struct Holdings {
  std::map<std::uint32_t, LinkRef> links;
  std::map<std::uint32_t, ProgramRef> programs;
  std::map<std::uint32_t, MapRef> maps;
  MapRef lines;
  std::string pending;  // a program that comes in pieces
  MemoryAccount::Charge pending_charge;
  std::optional<Loading> loading;
  std::string log;  // until its end was read
  MemoryAccount::Charge log_charge;
};

}  // namespace landtrace::bpf_objects
