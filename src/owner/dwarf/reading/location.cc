// Where a variable is, from DWARF's location expressions: those that come out as a register, as memory behind one, or
// as a constant.
#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "dwarf/reading/abi.hpp"
#include "dwarf/reading/registers.hpp"
#include "dwarf/reading/scope.hpp"

namespace landtrace::dwarf {
namespace {

constexpr std::size_t kMostOps = 64;
constexpr const char* kOptimisedOut = "is not there at this place: the compiler has optimised it out";

// The stack of a location expression has one value here: what refers to more of them is given up.
class Evaluation {
 public:
  Evaluation(const Scope& scope, Dwarf_Attribute& attribute, Type type)
      : scope_(scope), attribute_(attribute), type_(type) {}

  OrWhy<Value> run(const Dwarf_Op* ops, std::size_t count) {
    if (count == 0 || count > kMostOps) return why(kOptimisedOut);
    for (std::size_t i = 0; i < count; ++i) {
      if (auto done = step(ops[i]); !done) return why(done.error());
    }
    if (!pieces_.empty()) return pieces();
    if (!has_value_) return why(kOptimisedOut);
    value_.type = type_;
    if (is_location_ || value_.kind == Value::Kind::kAbsolute) return std::move(value_);
    // What is on the stack at the end is an address.
    if (value_.kind == Value::Kind::kConstant) return why("is at a fixed address");
    value_.kind = Value::Kind::kMemory;
    value_.is_in_frame = is_in_frame_;
    return std::move(value_);
  }

 private:
  using Done = OrWhy<std::monostate>;
  static constexpr std::monostate kDone{};

  Done push(Value value) {
    if (has_value_) return cannot_follow("");
    value_ = std::move(value);
    has_value_ = true;
    return kDone;
  }
  Done push_sum(unsigned reg, std::int64_t offset) {
    const auto base = register_text(reg, scope_.place());
    if (!base) return why(base.error());
    is_in_frame_ = is_in_frame_ || reg == kFramePointer || reg == kStackPointer;
    Value value = in_register(*base, type_);
    value.offset = offset;
    return push(std::move(value));
  }
  Done push_constant(std::uint64_t number) {
    // "+ 8" in two operations.
    if (has_value_) {
      operand_ = static_cast<std::int64_t>(number);
      return kDone;
    }
    Value value;
    value.kind = Value::Kind::kConstant;
    value.number = number;
    return push(std::move(value));
  }
  Done push_frame_base(std::int64_t offset);
  Done push_frame(std::int64_t offset) {
    const auto frame = scope_.object().frame_at(scope_.place().address);
    if (!frame) return why("is in the call's frame, of which nothing says where it is");
    is_in_frame_ = true;
    return push_sum(frame->reg, sum_of(frame->offset, offset));
  }
  Done push_address(std::uint64_t address) {
    const CodePlace& place = scope_.place();
    Value value;
    value.kind = Value::Kind::kAbsolute;
    value.number = address - place.address + place.offset;
    if (static_cast<std::int64_t>(value.number) < 0)
      return why("lies before the code, where fetch arguments cannot go");
    return push(std::move(value));
  }
  Done in_own_register(unsigned reg) {
    const auto base = register_text(reg, scope_.place());
    if (!base) return why(base.error());
    is_location_ = true;
    return push(in_register(*base, type_));
  }
  Done add(std::int64_t number) {
    if (!has_value_ || value_.kind != Value::Kind::kSum) return cannot_follow("");
    value_.offset = sum_of(value_.offset, number);
    return kDone;
  }
  Done follow() {
    if (!has_value_ || value_.kind != Value::Kind::kSum) return cannot_follow("");
    value_.base = fmt::format("{:+}({})", value_.offset, value_.base);
    value_.offset = 0;
    is_indirect_ = true;
    return kDone;
  }
  Done end_piece(std::uint64_t size) {
    Value::Piece piece{piece_begin_, size, {}};
    const bool is_whole_register = has_value_ && is_location_ && value_.kind == Value::Kind::kSum && value_.offset == 0;
    if (is_whole_register) piece.base = value_.base;
    pieces_.push_back(std::move(piece));
    piece_begin_ += size;
    has_value_ = is_location_ = false;
    return kDone;
  }
  OrWhy<Value> pieces() {
    Value value;
    value.kind = Value::Kind::kPieces;
    value.pieces = std::move(pieces_);
    value.type = type_;
    return value;
  }
  Done cannot_follow(std::string_view what) {
    return why(fmt::format("is where only an expression of DWARF leads{}{}", what.empty() ? "" : ": ", what));
  }
  Done entry_value(const Dwarf_Op& op);
  Done step(const Dwarf_Op& op);

  const Scope& scope_;
  Dwarf_Attribute& attribute_;
  Type type_;
  Value value_;
  bool has_value_ = false;
  bool is_location_ = false;  // the value is the variable's, not its address
  bool is_in_frame_ = false;
  bool is_indirect_ = false;
  std::int64_t operand_ = 0;
  std::vector<Value::Piece> pieces_;
  std::uint64_t piece_begin_ = 0;
};

Evaluation::Done Evaluation::push_frame_base(std::int64_t offset) {
  Dwarf_Die function = scope_.outermost();
  Dwarf_Attribute base;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  const bool is_known = dwarf_attr_integrate(&function, DW_AT_frame_base, &base) != nullptr &&
                        dwarf_getlocation_addr(&base, scope_.place().address, &ops, &count, 1) == 1 && count == 1;
  if (!is_known) return why("is in the call's frame, of which nothing says where it is");
  is_in_frame_ = true;
  const auto atom = ops[0].atom;
  const auto number = static_cast<std::int64_t>(ops[0].number);
  if (atom == DW_OP_call_frame_cfa) return push_frame(offset);
  if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) return push_sum(atom - DW_OP_breg0, sum_of(number, offset));
  if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) return push_sum(atom - DW_OP_reg0, offset);
  return cannot_follow("its frame's base");
}

// What a register was at the function's entry: known there alone.
Evaluation::Done Evaluation::entry_value(const Dwarf_Op& op) {
  Dwarf_Attribute inner;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  const bool is_register = scope_.place().is_entry && dwarf_getlocation_attr(&attribute_, &op, &inner) == 0 &&
                           dwarf_getlocation(&inner, &ops, &count) == 0 && count == 1 && ops[0].atom >= DW_OP_reg0 &&
                           ops[0].atom <= DW_OP_reg31;
  if (!is_register) return why("is not kept any more at this place, only what it was at the function's beginning");
  return push_sum(ops[0].atom - DW_OP_reg0, 0);
}

Evaluation::Done Evaluation::step(const Dwarf_Op& op) {
  const auto number = static_cast<std::int64_t>(op.number);
  if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) return in_own_register(op.atom - DW_OP_reg0);
  if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) return push_sum(op.atom - DW_OP_breg0, number);
  if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) return push_constant(op.atom - DW_OP_lit0);
  switch (op.atom) {
    case DW_OP_regx:
      return in_own_register(static_cast<unsigned>(op.number));
    case DW_OP_bregx:
      return push_sum(static_cast<unsigned>(op.number), static_cast<std::int64_t>(op.number2));
    case DW_OP_fbreg:
      return push_frame_base(number);
    case DW_OP_call_frame_cfa:
      return push_frame(0);
    case DW_OP_addr:
      return push_address(op.number);
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index: {
      Dwarf_Attribute where;
      Dwarf_Addr address = 0;
      const bool is_known =
          dwarf_getlocation_attr(&attribute_, &op, &where) == 0 && dwarf_formaddr(&where, &address) == 0;
      return is_known ? push_address(address) : cannot_follow("an address that is not there");
    }
    case DW_OP_const1u:
    case DW_OP_const2u:
    case DW_OP_const4u:
    case DW_OP_const8u:
    case DW_OP_constu:
    case DW_OP_const1s:
    case DW_OP_const2s:
    case DW_OP_const4s:
    case DW_OP_const8s:
    case DW_OP_consts:
      return push_constant(op.number);
    case DW_OP_plus_uconst:
      return add(number);
    case DW_OP_plus:
      return add(std::exchange(operand_, 0));
    case DW_OP_minus:
      return add(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(std::exchange(operand_, 0))));
    case DW_OP_deref:
      return follow();
    case DW_OP_stack_value:
      is_location_ = true;
      return kDone;
    case DW_OP_piece:
      return end_piece(op.number);
    case DW_OP_nop:
    case DW_OP_GNU_uninit:
      return kDone;
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
      return entry_value(op);
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address:
      return why("is a variable of each thread, which fetch arguments cannot find");
    case DW_OP_implicit_pointer:
    case DW_OP_GNU_implicit_pointer:
    case DW_OP_GNU_parameter_ref:
      return why(kOptimisedOut);
    default:
      return cannot_follow(fmt::format("operation {:#x}", op.atom));
  }
}

OrWhy<Value> constant_of(Dwarf_Die& variable, const Type& type) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_attr_integrate(&variable, DW_AT_const_value, &attribute) == nullptr) return why(kOptimisedOut);
  Dwarf_Sword with_sign = 0;
  const bool is_known = type.kind == Type::Kind::kSigned ? dwarf_formsdata(&attribute, &with_sign) == 0
                                                         : dwarf_formudata(&attribute, &number) == 0;
  if (!is_known) return why("is a constant that is not a number");
  Value value;
  value.kind = Value::Kind::kConstant;
  value.number = type.kind == Type::Kind::kSigned ? static_cast<std::uint64_t>(with_sign) : number;
  value.type = type;
  return value;
}

bool is_parameter_of(Dwarf_Die& variable, const Scope& scope) {
  if (dwarf_tag(&variable) != DW_TAG_formal_parameter) return false;
  for (Dwarf_Die& each : std::vector<Dwarf_Die>(scope.parameters())) {
    if (each.addr == variable.addr) return true;
  }
  return false;
}

// It is called as everything is: others may call it, or nothing is optimised, so that each parameter has one place.
// What is optimised and called from its own file alone may be called otherwise.
bool is_called_as_declared(const Scope& scope) {
  Dwarf_Die function = scope.function();
  const bool is_public =
      dwarf_hasattr(&function, DW_AT_abstract_origin) == 0 && dwarf_hasattr_integrate(&function, DW_AT_external) != 0;
  if (is_public) return true;
  const std::vector<Dwarf_Die> parameters = scope.parameters();
  return std::all_of(parameters.begin(), parameters.end(), [](Dwarf_Die die) {
    Dwarf_Attribute attribute;
    Dwarf_Block block;
    return dwarf_attr_integrate(&die, DW_AT_location, &attribute) != nullptr &&
           dwarf_formblock(&attribute, &block) == 0;
  });
}

}  // namespace

OrWhy<Value> value_of(const Scope& scope, Dwarf_Die variable) {
  const Type type = type_of(variable);
  const bool is_at_entry = scope.place().is_entry && is_parameter_of(variable, scope);
  const bool is_by_convention = is_at_entry && is_called_as_declared(scope);
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&variable, DW_AT_location, &attribute) == nullptr) {
    auto constant = constant_of(variable, type);
    if (constant || !is_by_convention) return constant;
    // Clang does not hand over what a function does not use, not even to a public one; and it forgets of others where
    // they are.
    const auto handed_over = argument_at_entry(scope, variable);
    const auto text = handed_over ? fetch_text(*handed_over, "") : why("");
    return text ? why(fmt::format("{}; if callers hand it over all the same, it is {}", constant.error(), *text))
                : constant;
  }
  std::array<Dwarf_Op*, 4> ops{};
  std::array<std::size_t, 4> counts{};
  const int found = dwarf_getlocation_addr(&attribute, scope.place().address, ops.data(), counts.data(), ops.size());
  // It is somewhere later on, and can have got there only as callers hand it over.
  if (found <= 0 && is_by_convention) return argument_at_entry(scope, variable);
  if (found <= 0) return why(kOptimisedOut);
  auto value = Evaluation(scope, attribute, type).run(ops[0], counts[0]);
  // Nothing is in the frame yet when a function begins, whatever is said: what is not optimised says only where it will
  // be.
  const bool is_too_early = scope.place().is_entry && ((value && value->is_in_frame) || !value);
  if (is_by_convention && is_too_early) return argument_at_entry(scope, variable);
  if (value && value->is_in_frame && scope.place().is_entry) {
    return why("has no value yet when the function begins; put the probe at a line behind, as in FILE:LINE");
  }
  return value;
}

}  // namespace landtrace::dwarf
