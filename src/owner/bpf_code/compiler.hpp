// The compiler at work: see compile.hpp. Its parts are in files by what an instruction does.
#pragma once

#include "bpf/helpers.hpp"
#include "bpf/machine.hpp"
#include "bpf_code/assembler.hpp"
#include "bpf_code/compile.hpp"
#include "bpf_code/hints.hpp"

namespace landtrace::bpf_code {

inline constexpr Reg kMachine = Reg::kRbx;

// Parts of the machine.
namespace in_machine {
inline constexpr At kBudget{kMachine, offsetof(bpf::Machine, budget)};
inline constexpr At kEnd{kMachine, offsetof(bpf::Machine, end)};
inline constexpr At kHelpers{kMachine, offsetof(bpf::Machine, helpers)};
inline constexpr At kData{kMachine, offsetof(bpf::Machine, data)};
inline constexpr At kFrameEnd{kMachine, offsetof(bpf::Machine, frame_end)};
inline constexpr At kFrameAddress{kMachine, offsetof(bpf::Machine, frame_address)};

constexpr std::int32_t offset_of_record(std::size_t number) {
  return static_cast<std::int32_t>(offsetof(bpf::Machine, records) + number * sizeof(bpf::Window));
}
// The windows that are in the machine: of the context, and of records.
constexpr At window(std::uint32_t number, std::size_t part) {
  const std::int32_t window = number == bpf::kContextWindow ? static_cast<std::int32_t>(offsetof(bpf::Machine, context))
                                                            : offset_of_record(number - bpf::kFirstRecordWindow);
  return {kMachine, window + static_cast<std::int32_t>(part)};
}
}  // namespace in_machine

class Compiler {
 public:
  explicit Compiler(const Source& source)
      : code_(source.code),
        maps_(source.maps),
        frames_(source.frames),
        context_begin_(static_cast<std::int32_t>(bpf::context_begin(source.context))),
        hints_(source.code, static_cast<std::uint32_t>(source.maps.size())) {}

  // The program is well formed: see is_well_formed().
  std::vector<std::byte> run();

 private:
  using Label = Assembler::Label;
  enum class Access { kRead, kWrite };

  // -- the whole: compiler.cc
  void look_around();
  void begin();
  void end();
  void count(std::uint32_t pc);
  void translate(std::uint32_t pc);
  void stop_with(Label label, bpf::End why);
  // Back to who has called the program, or the subprogram.
  void return_from();
  [[nodiscard]] bool uses(unsigned reg) const { return (used_ >> reg & 1) != 0; }
  // Registers of whoever calls that the code changes.
  [[nodiscard]] std::vector<Reg> kept() const;
  // Behind the return address, rbp and these the stack is not aligned.
  [[nodiscard]] bool pads_stack() const { return kept().size() % 2 != 0; }

  // -- numbers: compiler_alu.cc
  void calculate(const bpf::Instruction& one);
  void move(const bpf::Instruction& one, Width width);
  void change_byte_order(const bpf::Instruction& one);
  void shift(const bpf::Instruction& one, Width width);
  void divide(const bpf::Instruction& one, Width width);

  // -- jumps and calls: compiler_flow.cc
  void jump(std::uint32_t pc);
  void call_helper(const bpf::Instruction& one);
  void forget_arguments();
  void call_subprogram(std::uint32_t pc);

  // -- maps: compiler_maps.cc
  struct LookUp {
    std::uint32_t pc;
    // Of the map.
    std::uint32_t number;
    // The helper is called; with r1, which is something else by now.
    Label helper, again;
    // The element has another key; there is none; it is the one.
    Label next, none, found;
    // r0 is what it is to be; so are r1 to r5.
    Label done, end;
  };
  // False: the helper is to be called.
  bool look_up(std::uint32_t pc);
  void look_up_in_array(const bpf::MapLayout& map, const LookUp& one);
  void look_up_in_hash(const bpf::MapLayout& map, const LookUp& one);
  void find_bucket(const bpf::MapLayout& map);
  void try_element(const bpf::MapLayout& map, const LookUp& one, Label other_key);
  void end_look_up(const LookUp& one);

  // -- memory: compiler_memory.cc
  void load(std::uint32_t pc);
  void store(std::uint32_t pc);
  void change(std::uint32_t pc);
  void fetch_and(Op op, Width width, const At& at, unsigned source);
  // Where the bytes are; what leads there may be in r10.
  At place_of(std::uint32_t pc, unsigned reg, std::int32_t offset, std::uint32_t size, Access access);
  // Loads where the frame ends, and what r10 of the program is.
  void load_frame_end(Reg to);
  void load_frame_address(Reg to);
  // What r1 is when the program begins.
  [[nodiscard]] std::uint64_t context() const {
    return bpf::window_address(bpf::kContextWindow) - static_cast<std::uint64_t>(context_begin_);
  }
  At behind_frame_pointer(const Hint& hint, unsigned reg, std::int32_t offset, std::uint32_t size, Access access);
  At in_context(const Hint& hint, unsigned reg, std::int32_t offset, std::uint32_t size);
  // Of a window whose place in the machine is known: that of the context, or of a record.
  At in_machine_window(std::uint32_t window, unsigned reg, std::int32_t offset, std::uint32_t size, Access access);
  // Of one that has always the same size.
  At in_map(std::uint32_t number, unsigned reg, std::int32_t offset, std::uint32_t size, Access access);
  At in_stack(unsigned reg, std::int32_t offset, std::uint32_t size, Access access);
  // r10 is the pointer's distance from the window's beginning.
  void load_distance(std::uint32_t window, unsigned reg, std::int32_t offset);
  void check_distance(std::uint64_t window_bytes, std::uint32_t size, Label outside);
  At find_window(unsigned reg, std::int32_t offset, std::uint32_t size, Access access);
  void write_window_search(Label label, std::uint32_t finder);

  // The register of the CPU; r10 of the program is loaded to `scratch` first.
  Reg value_of(unsigned reg, Reg scratch);

  // Behind the program: an access whose hint was wrong.
  struct Detour {
    Label from;
    Label back;
    unsigned reg;
    std::int32_t offset;
    std::uint32_t size;
    Access access;
    // What the instruction adds by itself.
    std::int32_t less;
  };

  std::span<const bpf::Instruction> code_;
  std::span<const bpf::MapLayout> maps_;
  std::uint32_t frames_;
  std::int32_t context_begin_;
  Hints hints_;
  Assembler out_;
  std::vector<Label> at_;       // by instruction
  std::vector<bool> is_begin_;  // of a straight piece
  std::vector<Detour> detours_;
  std::vector<LookUp> look_ups_;
  bool counts_ = false;
  // An access may be one to a record.
  bool has_records_ = false;
  // Or room for frames of some: r10 is then where the interpreter has it.
  bool has_subprograms_ = frames_ > 1;
  // Registers that the program names, or helpers are given: a bit each.
  std::uint32_t used_ = 1;
  Label fault_{}, exceeded_{}, stop_{}, leave_{}, read_window_{}, write_window_{};
};

}  // namespace landtrace::bpf_code
