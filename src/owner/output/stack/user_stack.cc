#include "output/stack/user_stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "output/json/string.hpp"
#include "symbols/short_name.hpp"

namespace landtrace::output {
namespace {

constexpr std::size_t kHead = 8;

// Paths and names come from programs: characters that would break a line are replaced.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return text;
}

void append_frame(std::string& out, const StackNames::Place& place, std::uint64_t address, const StackStyle& style) {
  const auto to = std::back_inserter(out);
  out += " => ";
  if (place.function) {
    fmt::format_to(to, "{}+{:#x} [{}]", printable(symbols::short_name(place.function->name)), place.function->offset,
                   printable(place.object->path));
  } else if (place.object != nullptr) {
    fmt::format_to(to, "{}[+{:#x}]", printable(place.object->path), place.offset);
  }
  if (style.addresses || place.object == nullptr) fmt::format_to(to, " <{:016x}>", address);
}

}  // namespace

StackNames::Place StackNames::find(std::uint32_t tgid, std::uint64_t address, std::uint64_t time, bool is_first,
                                   bool functions) {
  Place place;
  // A call may be an object's last instruction: its return address is behind the object.
  place.object = objects_.find(tgid, address - 1, time);
  if (place.object == nullptr && is_first) place.object = objects_.find(tgid, address, time);
  if (place.object == nullptr) return place;
  place.offset = address - place.object->bias;
  if (functions && symbols_ != nullptr) place.function = function_of({place.object, place.offset, is_first});
  return place;
}

const std::optional<symbols::Function>& StackNames::function_of(const Code& code) {
  if (const auto known = functions_.find(code); known != functions_.end()) return known->second;
  if (functions_.size() >= kMostFunctions) functions_.clear();
  const auto lock = mutex_ != nullptr ? std::unique_lock(*mutex_) : std::unique_lock<std::mutex>();
  auto function = symbols_->find(code.object->path, code.object->build_id, code.offset, code.is_first);
  return functions_.emplace(code, std::move(function)).first->second;
}

UserStack parse_user_stack(std::span<const std::byte> payload) {
  UserStack stack;
  if (payload.size() < kHead) return stack;
  std::memcpy(&stack.tgid, payload.data(), sizeof stack.tgid);
  for (std::size_t at = kHead; payload.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t address = 0;
    std::memcpy(&address, payload.data() + at, sizeof address);
    if (address == 0) break;
    stack.caller.push_back(address);
  }
  return stack;
}

void append_user_stack(std::string& out, const Record& record, StackNames* names, const StackStyle& style) {
  const UserStack stack = parse_user_stack(record.payload);
  out += "<user stack trace>";
  bool is_first = true;
  for (const std::uint64_t address : stack.caller) {
    out += '\n';
    const auto place = names != nullptr ? names->find(stack.tgid, address, record.time_ns, is_first, style.functions)
                                        : StackNames::Place();
    is_first = false;
    append_frame(out, place, address, style);
  }
}

void append_json_user_stack(std::string& out, const Record& record, StackNames* names) {
  append_json_stack(out, parse_user_stack(record.payload), record.time_ns, names);
}

void append_json_stack(std::string& out, const UserStack& stack, std::uint64_t time_ns, StackNames* names) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "\"tgid\":{},\"caller\":[", stack.tgid);
  for (std::size_t i = 0; i < stack.caller.size(); ++i) {
    fmt::format_to(to, "{}{{\"address\":\"{:#x}\"", i == 0 ? "" : ",", stack.caller[i]);
    const auto place =
        names != nullptr ? names->find(stack.tgid, stack.caller[i], time_ns, i == 0) : StackNames::Place();
    if (place.object != nullptr) {
      out += ",\"object\":";
      json::append_string(out, place.object->path);
      fmt::format_to(to, ",\"offset\":\"{:#x}\"", place.offset);
    }
    if (place.function) {
      out += ",\"function\":";
      json::append_string(out, place.function->name);
      fmt::format_to(to, ",\"function_offset\":\"{:#x}\"", place.function->offset);
    }
    out += '}';
  }
  out += ']';
}

}  // namespace landtrace::output
