// Values of maps, looked up in line.
//
//     in line                                            behind the program (LookUp)
//     -------                                            ---------------------------
//     r1 is the map?             no  ------------------> call the helper
//     the key, its bucket
//     the chain's first element: is it the key's?
//       it is no element, or changes now  -------------> r1 once more; call the helper
//       there is none  --------------------------------> r0 = 0
//       another key's  --------------------------------> the second element: the same questions
//     r0 = the value
//     r1 to r5 = 0
//
// It is what Hash::find() does, and bpf/maps/hash.hpp says why: loads are in order on this CPU. What lies in the hash
// is as hostile here as it is there. What the helper is not asked for, r3 to r5, is free for this.
#include <linux/bpf.h>

#include "bpf/maps/hash.hpp"
#include "bpf_code/compiler.hpp"

namespace landtrace::bpf_code {
namespace {

using bpf::MapLayout;

constexpr Reg kKey = Reg::kR10;
constexpr Reg kBucket = Reg::kR8;
constexpr Reg kBase = Reg::kR9;
// The word that leads to the element, and where it stands.
constexpr Reg kFromWord = Reg::kRcx;
constexpr Reg kFrom = Reg::kRdi;
// Less elements_at.
constexpr Reg kElement = Reg::kR11;
constexpr Reg kLink = Reg::kRsi;

bool has_handy_numbers(const MapLayout& map) {
  constexpr std::uint32_t kMost = 1u << 30;
  return map.max_entries < kMost && map.stride < kMost && map.elements_at < kMost;
}
bool is_looked_up(const MapLayout& map) {
  if (!has_handy_numbers(map)) return false;
  if (map.kind == bpf::kArray) return true;
  const bool is_hash = map.kind == bpf::kHash || map.kind == bpf::kLruHash;
  return is_hash && (map.key_size == 4 || map.key_size == 8);
}

At in_element(const MapLayout& map, std::size_t part) {
  return {kElement, static_cast<std::int32_t>(map.elements_at + part)};
}

// Of element 0's value.
std::uint64_t first_value(const MapLayout& map, std::uint32_t number) {
  return bpf::window_address(bpf::kFirstMapWindow + number, map.elements_at - map.window_at + map.value_at);
}

}  // namespace

bool Compiler::look_up(std::uint32_t pc) {
  const Hint hint = hints_.at(pc, 1);
  if (hint.kind != Hint::Kind::kMap) return false;
  const auto number = static_cast<std::uint32_t>(hint.number);
  const MapLayout& map = maps_[number];
  if (!is_looked_up(map)) return false;
  const auto label = [this] { return out_.new_label(); };
  const LookUp one{pc, number, label(), label(), label(), label(), label(), label(), label()};
  out_.move_constant(Reg::kR11, bpf::map_handle(number));
  out_.calculate(Op::kCmp, Width::k64, value_of(1, Reg::kR10), Reg::kR11);
  out_.jump_if(Condition::kNotEqual, one.helper);
  const At key = place_of(pc, 2, 0, map.key_size, Access::kRead);
  out_.load(map.key_size, kKey, key);
  map.kind == bpf::kArray ? look_up_in_array(map, one) : look_up_in_hash(map, one);
  out_.place(one.done);
  forget_arguments();
  out_.place(one.end);
  look_ups_.push_back(one);
  return true;
}

void Compiler::look_up_in_array(const MapLayout& map, const LookUp& one) {
  out_.calculate(Op::kCmp, Width::k32, kKey, static_cast<std::int32_t>(map.max_entries));
  out_.jump_if(Condition::kNotBelow, one.none);
  out_.move(Width::k64, Reg::kRax, kKey);
  out_.multiply(Width::k64, Reg::kRax, static_cast<std::int32_t>(map.stride));
  out_.move_constant(Reg::kR11, first_value(map, one.number));
  out_.calculate(Op::kAdd, Width::k64, Reg::kRax, Reg::kR11);
}

// hash_bytes() of a key that is one word.
void Compiler::find_bucket(const MapLayout& map) {
  out_.move_constant(Reg::kR11, bpf::kHashFactor);
  out_.move(Width::k64, Reg::kRdi, kKey);
  out_.calculate(Op::kXor, Width::k64, Reg::kRdi, static_cast<std::int32_t>(map.key_size));
  out_.multiply(Width::k64, Reg::kRdi, Reg::kR11);
  out_.move(Width::k64, kBucket, Reg::kRdi);
  out_.shift(Shift::kRight, Width::k64, kBucket, 32);
  out_.calculate(Op::kXor, Width::k32, kBucket, Reg::kRdi);
  out_.calculate(Op::kAnd, Width::k32, kBucket, static_cast<std::int32_t>(map.buckets - 1));
}

void Compiler::look_up_in_hash(const MapLayout& map, const LookUp& one) {
  find_bucket(map);
  out_.move_constant(kBase, map.place);
  out_.calculate(Op::kAdd, Width::k64, kBase, in_machine::kData);
  out_.address_of(kFrom, {kBase, sizeof(bpf::HashHeader), kBucket});
  out_.load(8, kFromWord, {kFrom});
  try_element(map, one, one.next);
  out_.place(one.found);
  if (map.kind == bpf::kLruHash) {
    const Label is_touched = out_.new_label();
    const At touched = in_element(map, offsetof(bpf::HashElement, touched));
    out_.load(4, Reg::kRcx, touched);
    out_.test(Width::k32, Reg::kRcx, Reg::kRcx);
    out_.jump_if(Condition::kNotEqual, is_touched);
    out_.store_constant(4, touched, 1);
    out_.place(is_touched);
  }
  out_.move_constant(Reg::kR11, first_value(map, one.number));
  out_.calculate(Op::kAdd, Width::k64, Reg::kRax, Reg::kR11);
}

// Goes on where it is the key's, with rax as its distance from element 0.
void Compiler::try_element(const MapLayout& map, const LookUp& one, Label other_key) {
  constexpr std::int32_t kWordOfKey = sizeof(bpf::HashElement);
  out_.move(Width::k32, Reg::kRax, kFromWord);
  out_.calculate(Op::kAnd, Width::k32, Reg::kRax, static_cast<std::int32_t>(bpf::kElementMask));
  out_.jump_if(Condition::kEqual, one.none);
  out_.calculate(Op::kSub, Width::k32, Reg::kRax, 1);
  out_.calculate(Op::kCmp, Width::k32, Reg::kRax, static_cast<std::int32_t>(map.max_entries));
  out_.jump_if(Condition::kNotBelow, one.again);
  out_.multiply(Width::k64, Reg::kRax, static_cast<std::int32_t>(map.stride));
  out_.move(Width::k64, kElement, kBase);
  out_.calculate(Op::kAdd, Width::k64, kElement, Reg::kRax);
  out_.load(8, kLink, in_element(map, offsetof(bpf::HashElement, link)));
  // What leads there still does, the element is in this chain, and not deleted.
  out_.calculate(Op::kCmp, Width::k64, kFromWord, At{kFrom});
  out_.jump_if(Condition::kNotEqual, one.again);
  out_.calculate(Op::kCmp, Width::k32, kBucket, in_element(map, offsetof(bpf::HashElement, bucket)));
  out_.jump_if(Condition::kNotEqual, one.again);
  out_.test(Width::k32, kLink, static_cast<std::int32_t>(bpf::kDeletedElement));
  out_.jump_if(Condition::kNotEqual, one.again);
  out_.calculate(Op::kCmp, Width::k64, kKey, in_element(map, kWordOfKey));
  out_.jump_if(Condition::kNotEqual, other_key);
  // The tag is what it was before the key was read.
  out_.calculate(Op::kXor, Width::k64, kLink, in_element(map, offsetof(bpf::HashElement, link)));
  out_.shift(Shift::kRight, Width::k64, kLink, 32);
  out_.jump_if(Condition::kNotEqual, one.again);
}

void Compiler::end_look_up(const LookUp& one) {
  const MapLayout& map = maps_[one.number];
  if (map.kind != bpf::kArray) {
    out_.place(one.next);
    out_.address_of(kFrom, in_element(map, offsetof(bpf::HashElement, link)));
    out_.move(Width::k64, kFromWord, kLink);
    try_element(map, one, one.again);
    out_.jump(one.found);
  }
  out_.place(one.none);
  out_.calculate(Op::kXor, Width::k32, Reg::kRax, Reg::kRax);
  out_.jump(one.done);
  out_.place(one.again);
  out_.move_constant(Reg::kRsi, bpf::map_handle(one.number));
  out_.place(one.helper);
  call_helper(code_[one.pc]);
  out_.jump(one.end);
}

}  // namespace landtrace::bpf_code
