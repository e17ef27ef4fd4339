#include "verifier/verifier.hpp"

#include <algorithm>
#include <cerrno>

#include "verifier/disassemble.hpp"

namespace landtrace::verifier {
namespace {

constexpr std::size_t kMaxLog = 4 << 20;
constexpr std::size_t kMaxOpenWays = 8192;
// States of one instruction before ranges are forgotten.
constexpr std::size_t kFewMet = 8;
// States of one instruction that are kept to be compared with.
constexpr std::size_t kMaxMet = 64;

}  // namespace

// What is too much to be looked at with all that is known may be less where ranges of numbers are forgotten: programs
// that test many bits of one number.
Verdict verify(std::span<const Instruction> code, std::span<const MapLayout> maps, bpf::Context context,
               unsigned log_level) {
  Verdict exact = Verifier(code, maps, context, log_level, Verifier::Ranges::kKept).run();
  if (exact.accepted || exact.error != E2BIG) return exact;
  Verdict rough = Verifier(code, maps, context, log_level, Verifier::Ranges::kForgotten).run();
  return rough.accepted ? rough : exact;
}

Verdict Verifier::run() {
  if (const auto wrong = check_flow(code_, static_cast<std::uint32_t>(maps_.size()))) {
    verdict_.error = EINVAL;
    verdict_.reason = fmt::format("{}: {}", wrong->pc, wrong->text);
    verdict_.log = verdict_.reason + "\n";
    return verdict_;
  }
  live_ = live_registers(code_);
  meets_ = meeting_points(code_);
  met_.resize(code_.size());
  State first;
  first.frames.resize(1);
  first.frame().registers[1] = Register::pointer(Kind::kContext);
  first.frame().registers[kFramePointer] = Register::pointer(Kind::kStack, 0);
  left_.push_back({std::move(first), nullptr, 0});
  try {
    while (!left_.empty()) {
      Way way = std::move(left_.back());
      left_.pop_back();
      left_bytes_ -= way.bytes;
      walk(std::move(way));
    }
    verdict_.accepted = true;
  } catch (const Refusal& why) {
    verdict_.error = why.error;
    verdict_.reason = why.text;
    verdict_.log += why.text + "\n";
  }
  verdict_.log += fmt::format("processed {} insns (limit {})\n", verdict_.processed, kMaxProcessed);
  return verdict_;
}

void Verifier::note(const State& state) {
  if (log_level_ == 0 || verdict_.log.size() > kMaxLog) return;
  const Instruction* const at = &code_[state.pc];
  if (log_level_ > 1) verdict_.log += fmt::format("; {}\n", state.text());
  verdict_.log += fmt::format("{}: ({:02x}) {}\n", state.pc, unsigned{at->code}, disassemble(at));
}

void Verifier::walk(Way way) {
  current_ = way.from;
  State& state = way.state;
  try {
    for (;;) {
      if (meets_[state.pc]) {
        if (is_known(state, current_)) break;
      }
      if (++verdict_.processed > kMaxProcessed) {
        refuse(E2BIG,
               "BPF program is too large: {} insns are looked at on all ways through it, and that is not the end",
               kMaxProcessed);
      }
      note(state);
      if (!step(state)) break;
    }
  } catch (Refusal& why) {
    // What stands in the log at level 0 says where, too.
    if (log_level_ == 0) {
      why.text = fmt::format("{}: ({:02x}) {}\n{}", state.pc, unsigned{code_[state.pc].code},
                             disassemble(&code_[state.pc]), why.text);
    }
    throw;
  }
  end_way(current_);
}

// Of numbers that are looked at from here on and that are no constants only the size is kept.
void Verifier::forget_ranges(State& state) const {
  const std::uint16_t live = live_[state.pc];
  for (unsigned i = 0; i < kRegisters; ++i) {
    Register& reg = state.frame().registers[i];
    if ((live >> i & 1) == 0 || !reg.is_scalar() || reg.value.is_constant()) continue;
    std::uint32_t bytes = 1;
    while (bytes < 8 && reg.value.most >> 8 * bytes != 0) bytes *= 2;
    reg = Register::unknown(bytes);
  }
}

// Whether nothing new can come of the state. It is remembered if it can.
bool Verifier::is_known(State& state, Met* from) {
  auto& met = met_[state.pc];
  if (ranges_ == Ranges::kForgotten && met.size() >= kFewMet) forget_ranges(state);
  for (const auto& one : met) {
    if (one->open == 0) {
      if (covers(one->state, state, live_, false, compared_)) return true;
    } else if (covers(one->state, state, live_, true, compared_) && covers(state, one->state, live_, true, compared_)) {
      bool is_before = false;
      for (const Met* at = from; at != nullptr && !is_before; at = at->from) is_before = at == one.get();
      if (is_before) refuse(EINVAL, "infinite loop detected at insn {}", state.pc);
    }
  }
  if (compared_ > kMaxCompared) {
    refuse(E2BIG,
           "BPF program is too complex: what is known at insn {} was compared too often with what was known before",
           state.pc);
  }
  if (met.size() >= kMaxMet) {
    // The oldest that is no way's beginning any more.
    const auto done = std::find_if(met.begin(), met.end(), [](const auto& one) { return one->open == 0; });
    if (done == met.end()) return false;
    kept_bytes_ -= (*done)->bytes;
    met.erase(done);
  }
  const std::size_t bytes = sizeof(Met) + state.bytes();
  if (kept_bytes_ + bytes > kMaxStateBytes) return false;
  kept_bytes_ += bytes;
  note_memory();
  met.push_back(std::make_unique<Met>(Met{state, from, 1, bytes}));
  current_ = met.back().get();
  return false;
}

void Verifier::end_way(Met* last) {
  for (Met* at = last; at != nullptr; at = at->from) {
    if (--at->open > 0) return;
  }
}

void Verifier::take_other_way(State state) {
  const std::size_t bytes = sizeof(Way) + state.bytes();
  if (left_.size() >= kMaxOpenWays || left_bytes_ + bytes > kMaxStateBytes) {
    refuse(E2BIG, "the sequence of {} jumps is too complex: what is known on the ways that are left takes {} bytes",
           left_.size() + 1, left_bytes_ + bytes);
  }
  if (current_ != nullptr) ++current_->open;
  left_.push_back({std::move(state), current_, bytes});
  left_bytes_ += bytes;
  note_memory();
}

void Verifier::note_memory() { verdict_.state_bytes = std::max(verdict_.state_bytes, kept_bytes_ + left_bytes_); }

Register& Verifier::readable(State& state, unsigned number) {
  Register& reg = state.frame().registers[number];
  if (reg.kind == Kind::kNone) refuse(EACCES, "R{} !read_ok", number);
  return reg;
}

const Register& Verifier::scalar(State& state, unsigned number, const char* what) {
  const Register& reg = readable(state, number);
  if (!reg.is_scalar()) refuse(EACCES, "R{} is a pointer ({}): {}", number, reg.text(), what);
  return reg;
}

bool Verifier::step(State& state) {
  const Instruction& one = code_[state.pc];
  switch (BPF_CLASS(one.code)) {
    case BPF_ALU:
    case BPF_ALU64:
      calculate(state, one);
      break;
    case BPF_LDX:
      load(state, one);
      break;
    case BPF_ST:
      store(state, one);
      break;
    case BPF_STX:
      BPF_MODE(one.code) == BPF_ATOMIC ? store_atomically(state, one) : store(state, one);
      break;
    case BPF_LD:
      load_constant(state, one);
      state.pc += 2;
      return true;
    default:
      if (one.code == kExit) return leave(state);
      if (one.code == kCall && one.src_reg == BPF_PSEUDO_CALL) {
        call_subprogram(state, one);
        return true;
      }
      if (one.code != kCall) return branch(state, one);
      call_helper(state, one);
  }
  ++state.pc;
  return true;
}

}  // namespace landtrace::verifier
