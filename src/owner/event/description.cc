#include "event/description.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

namespace landtrace::event {
namespace {

constexpr std::string_view kStruct = "struct ";
constexpr int kDeepest = 8;
// Of one event: arrays of arrays of structs grow fast.
constexpr std::size_t kMostMembers = 4096;

struct Member {
  std::string_view type;
  std::string_view name;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t count = 0;  // 0: no array
};

struct Struct {
  std::uint32_t size = 0;
  std::vector<Member> members;
};

using Structs = std::map<std::string_view, Struct>;

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Cuts what stands before `separator` off the front; all of it where there is none.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view taken = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

std::optional<Member> parse_member(std::string_view text) {
  Member member;
  const std::size_t prefix = text.starts_with(kStruct) ? kStruct.size() : 0;
  member.type = text.substr(0, text.find(' ', prefix));
  text.remove_prefix(std::min(member.type.size() + 1, text.size()));
  std::string_view name = take(text, ' ');
  const auto offset = number(take(text, ' '));
  const auto size = number(text);
  const bool is_array = name.find('*') != std::string_view::npos;
  member.name = take(name, '*');
  const auto count = is_array ? number(name) : 0;
  if (!offset || !size || !count || *size == 0 || member.name.empty()) return std::nullopt;
  if (is_array && (*count == 0 || *size % *count != 0)) return std::nullopt;
  member.offset = *offset;
  member.size = *size;
  member.count = *count;
  return member;
}

std::optional<Structs> parse(std::string_view text) {
  Structs structs;
  while (!text.empty()) {
    const std::string_view name = take(text, ' ');
    const auto size = number(take(text, '{'));
    const std::size_t end = text.find('}');
    if (name.empty() || !size || end == std::string_view::npos) return std::nullopt;
    std::string_view members = text.substr(0, end);
    text.remove_prefix(end + 1);
    Struct one{*size, {}};
    while (!members.empty()) {
      const auto member = parse_member(take(members, ';'));
      if (!member || member->offset > *size || member->size > *size - member->offset) return std::nullopt;
      one.members.push_back(*member);
    }
    structs.emplace(name, std::move(one));
  }
  return structs;
}

struct MemberNumber {
  std::string_view name;
  std::uint32_t size;
  bool is_signed;
};
constexpr std::array<MemberNumber, 10> kMemberNumbers{{{"u8", 1, false},
                                                       {"u16", 2, false},
                                                       {"u32", 4, false},
                                                       {"u64", 8, false},
                                                       {"s8", 1, true},
                                                       {"s16", 2, true},
                                                       {"s32", 4, true},
                                                       {"s64", 8, true},
                                                       {"bool", 1, false},
                                                       {"ptr", 8, false}}};

// Makes fields of members, with their offsets in the entry.
class Describer {
 public:
  explicit Describer(const Structs& structs) : structs_(structs) {}

  void add_members(Field& field, int depth) {
    const auto found = structs_.find(std::string_view(field.type).substr(kStruct.size()));
    if (found == structs_.end() || found->second.size != field.size || depth == kDeepest) return;
    for (const Member& member : found->second.members) {
      if (++made_ > kMostMembers) return;
      field.members.push_back(member.count == 0 ? one(member, field.offset + member.offset, depth)
                                                : array(member, field.offset + member.offset, depth));
    }
  }
  // Half of a struct is worse than none.
  [[nodiscard]] bool is_too_much() const { return made_ > kMostMembers; }

 private:
  Field one(const Member& member, std::uint32_t offset, int depth) {
    Field field;
    field.type = member.type;
    field.name = member.name;
    field.offset = offset;
    field.size = member.size;
    field.kind = FieldKind::kStruct;
    const auto integer = std::ranges::find(kMemberNumbers, member.type, &MemberNumber::name);
    if (integer != kMemberNumbers.end() && integer->size == member.size) {
      field.kind = FieldKind::kInteger;
      field.is_signed = integer->is_signed;
      // Synthetic events have a bool of their own, which is a number.
      if (member.type == "bool") field.type = kMemberBool;
    } else if (member.type == "char[]") {
      field.kind = FieldKind::kCharArray;
    } else if (member.type == "float" || member.type == "double") {
      field.type = "struct " + field.type;
    } else if (member.type.starts_with(kStruct)) {
      add_members(field, depth + 1);
    }
    return field;
  }

  // A struct whose members have no names.
  Field array(const Member& member, std::uint32_t offset, int depth) {
    Field field;
    field.type = std::string(member.type) + "[]";
    field.name = member.name;
    field.offset = offset;
    field.size = member.size;
    field.kind = FieldKind::kStruct;
    Member element = member;
    element.name = {};
    element.size = member.size / member.count;
    for (std::uint32_t i = 0; i < member.count; ++i) {
      if (++made_ > kMostMembers) break;
      field.members.push_back(one(element, offset + i * element.size, depth));
    }
    return field;
  }

  const Structs& structs_;
  std::size_t made_ = 0;
};

}  // namespace

bool is_description(std::string_view text) {
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  return text.size() <= kMaxDescription && std::ranges::none_of(text, is_control);
}

void describe_structs(Declaration& declaration, std::string_view description) {
  for (Field& field : declaration.fields) field.members.clear();
  if (description.empty() || !is_description(description)) return;
  const auto structs = parse(description);
  if (!structs) return;
  for (Field& field : declaration.fields) {
    if (field.kind != FieldKind::kStruct || !field.type.starts_with(kStruct)) continue;
    Describer describer(*structs);
    describer.add_members(field, 0);
    if (describer.is_too_much()) field.members.clear();
  }
}

}  // namespace landtrace::event
