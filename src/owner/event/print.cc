#include "event/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "event/description.hpp"
#include "event/probe_fields.hpp"
#include "event/print_text.hpp"
#include "event/put_field.hpp"
#include "event/synthetic.hpp"

namespace landtrace::event {
namespace {

// What short fields are printed as, put together before it is appended: an event has several of them.
class Text {
 public:
  static constexpr std::size_t kRoom = 512;

  explicit Text(std::string& out) : out_(out) {}
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() { flush(); }

  // Where so many characters, at most kRoom, may be written; then end() where they end.
  char* room(std::size_t size) {
    if (size > static_cast<std::size_t>(text_ + kRoom - end_)) flush();
    return end_;
  }
  void end(char* at) { end_ = at; }
  // What it is appended to, for what is printed without this.
  std::string& flush() {
    out_.append(text_, static_cast<std::size_t>(end_ - text_));
    end_ = text_;
    return out_;
  }

 private:
  std::string& out_;
  char text_[kRoom];
  char* end_ = text_;
};

void print_number(std::string& out, Bytes bytes) {
  char text[kHexAndDecimal];
  if (const char* const end = put_number(text, bytes.data(), bytes.size())) {
    out.append(text, static_cast<std::size_t>(end - text));
  } else {
    out += "<INVALID-SIZE>";
  }
}

void print_bytes(std::string& out, Bytes bytes);

// What the kernel does not know has no form of its: numbers are decimal, by their declared sign.
void print_member_number(std::string& out, const Field& field, Bytes bytes) {
  const std::uint64_t value = abi::load_unsigned(bytes);
  const auto to = std::back_inserter(out);
  if (field.type == kMemberBool) {
    out += value != 0 ? "true" : "false";
  } else if (field.type == "ptr") {
    fmt::format_to(to, "{:#x}", value);
  } else if (field.is_signed) {
    fmt::format_to(to, "{}", static_cast<std::int64_t>(abi::sign_extended(value, field.size)));
  } else {
    fmt::format_to(to, "{}", value);
  }
}

void print_member(std::string& out, const Field& field, Bytes payload) {
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  const bool is_real = field.type == "struct float" || field.type == "struct double";
  if (bytes && field.kind == FieldKind::kInteger) {
    print_member_number(out, field, *bytes);
  } else if (bytes && field.kind == FieldKind::kStruct && field.members.empty() && !is_real) {
    print_bytes(out, *bytes);
  } else {
    print_value(out, field, payload);
  }
}

// "{x=3 y=-4}", "[1,2,3]".
void print_members(std::string& out, const Field& field, Bytes payload) {
  const bool is_array = field.members.front().name.empty();
  out += is_array ? '[' : '{';
  for (const Field& member : field.members) {
    if (&member != &field.members.front()) out += is_array ? ',' : ' ';
    if (!is_array) out.append(member.name).append(1, '=');
    print_member(out, member, payload);
  }
  out += is_array ? ']' : '}';
}

// `struct float NAME 4` and `struct double NAME 8` are how our native API declares what the kernel has no
// type for; any other struct is a number to the kernel.
void print_struct(std::string& out, const Field& field, Bytes bytes) {
  if (field.type == "struct float" && bytes.size() == sizeof(float)) {
    fmt::format_to(std::back_inserter(out), "{}", abi::load<float>(bytes.data()));
  } else if (field.type == "struct double" && bytes.size() == sizeof(double)) {
    fmt::format_to(std::back_inserter(out), "{}", abi::load<double>(bytes.data()));
  } else {
    print_number(out, bytes);
  }
}

void print_bytes(std::string& out, Bytes bytes) {
  Text text(out);
  put_bytes(text, bytes);
}

void print_dynamic(std::string& out, const Field& field, Bytes location, Bytes payload) {
  if (location.size() < sizeof(std::uint32_t)) {  // as a damaged file may declare it
    out += kOverflow;
    return;
  }
  const auto word = abi::load<std::uint32_t>(location.data());
  const bool is_relative = field.kind == FieldKind::kRelLocString || field.kind == FieldKind::kRelLocBytes;
  const bool is_text = field.kind == FieldKind::kRelLocString || field.kind == FieldKind::kDataLocString;
  const auto data =
      abi::bytes_at(payload, is_relative ? abi::rel_location(word, std::uint64_t{field.offset} + field.size)
                                         : abi::data_location(word));
  if (!data) {
    out += kOverflow;
  } else if (is_text) {
    print_text(out, *data);
  } else {
    print_bytes(out, *data);
  }
}

}  // namespace

void print_value(std::string& out, const Field& field, Bytes payload) {
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  if (!bytes) {
    out += kOverflow;
    return;
  }
  switch (field.kind) {
    case FieldKind::kInteger:
      return print_number(out, *bytes);
    case FieldKind::kStruct:
      return field.members.empty() ? print_struct(out, field, *bytes) : print_members(out, field, payload);
    case FieldKind::kCharArray:
      return print_text(out, *bytes);
    case FieldKind::kDataLocString:
    case FieldKind::kRelLocString:
    case FieldKind::kDataLocBytes:
    case FieldKind::kRelLocBytes:
      return print_dynamic(out, field, *bytes, payload);
    case FieldKind::kDataLocStack:
    case FieldKind::kArray:
      break;  // of other flavours
  }
}

namespace {

// The most frequent kinds of fields. False: it is for print_value().
bool put_value(Text& to, const Field& field, Bytes payload) {
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  if (!bytes) return false;
  if (field.kind == FieldKind::kInteger) {
    char* const end = put_number(to.room(kHexAndDecimal), bytes->data(), bytes->size());
    if (end != nullptr) to.end(end);
    return end != nullptr;
  }
  if (field.kind != FieldKind::kRelLocBytes) return false;
  const auto word = abi::load<std::uint32_t>(bytes->data());
  const auto data = abi::bytes_at(payload, abi::rel_location(word, std::uint64_t{field.offset} + field.size));
  if (data) put_bytes(to, *data);
  return data.has_value();
}

// " name="
void put_name(Text& to, const std::string& name) {
  if (name.size() + 2 > Text::kRoom) {
    to.flush().append(1, ' ').append(name).append(1, '=');
    return;
  }
  char* at = to.room(name.size() + 2);
  *at++ = ' ';
  for (const char c : name) *at++ = c;
  *at++ = '=';
  to.end(at);
}

}  // namespace

void print_fields(std::string& out, const Declaration& declaration, Bytes payload) {
  if (declaration.flavour == Flavour::kSynthetic) return print_synthetic(out, declaration, payload);
  if (is_probe(declaration.flavour)) return print_probe(out, declaration, payload);
  if (declaration.fields.empty()) {
    out += "No fields found";
    return;
  }
  Text text(out);
  for (const Field& field : declaration.fields) {
    put_name(text, field.name);
    if (!put_value(text, field, payload)) print_value(text.flush(), field, payload);
  }
}

}  // namespace landtrace::event
