#include "output/perfetto/interning.hpp"

#include <fmt/format.h>

#include "output/perfetto/fields.hpp"
#include "output/perfetto/proto.hpp"
#include "output/utf8.hpp"
#include "symbols/short_name.hpp"

namespace landtrace::output::perfetto {

std::uint64_t Interning::text(std::uint32_t table, std::string_view text) {
  auto& known = texts_[table];
  const auto [place, is_new] = known.try_emplace(std::string(text), known.size() + 1);
  if (is_new) {
    std::string entry;
    begin_entry(entry, place->second);
    proto::put(entry, interned::kText, table == interned::kBuildIds ? std::string(text) : valid_utf8(text));
    proto::put(new_, table, entry);
  }
  return place->second;
}

// Numbers begin with 1; 0 is none.
void Interning::begin_entry(std::string& entry, std::uint64_t number) { proto::put(entry, interned::kIid, number); }

std::uint64_t Interning::mapping(const MappedObject& object) {
  const auto [place, is_new] =
      mappings_.try_emplace(fmt::format("{}:{:x}:{}", object.pid, object.start, object.path), mappings_.size() + 1);
  if (!is_new) return place->second;
  std::string entry;
  begin_entry(entry, place->second);
  if (!object.build_id.empty()) {
    // As hexadecimal digits, which is what those who look for symbols want.
    std::string digits;
    for (const char c : object.build_id) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
    proto::put(entry, interned::kMappingBuildId, text(interned::kBuildIds, digits));
  }
  proto::put(entry, interned::kMappingStart, object.start);
  proto::put(entry, interned::kMappingEnd, object.end);
  proto::put(entry, interned::kMappingPathIds, text(interned::kMappingPaths, object.path));
  proto::put(new_, interned::kMappings, entry);
  return place->second;
}

std::uint64_t Interning::frame(const UserStack& stack, std::size_t index) {
  const std::uint64_t address = stack.caller[index];
  const StackNames::Place place = names_.find(stack.tgid, address, stack.time_ns, index == 0);
  const std::uint64_t where = place.object != nullptr ? mapping(*place.object) : 0;
  const auto [known, is_new] =
      frames_.try_emplace({where, place.object != nullptr ? place.offset : address}, frames_.size() + 1);
  if (!is_new) return known->second;
  std::string name;
  if (place.function) {
    name = symbols::short_name(place.function->name);
  } else if (place.object != nullptr) {
    const std::string& path = place.object->path;
    name = fmt::format("[{}+{:#x}]", path.substr(path.rfind('/') + 1), place.offset);
  } else {
    name = fmt::format("{:#x}", address);
  }
  std::string entry;
  begin_entry(entry, known->second);
  proto::put(entry, interned::kFrameFunctionId, text(interned::kFunctionNames, name));
  if (where != 0) {
    proto::put(entry, interned::kFrameMappingId, where);
    proto::put(entry, interned::kFrameRelPc, place.offset);
  }
  proto::put(new_, interned::kFrames, entry);
  return known->second;
}

// The outermost frame comes first.
std::uint64_t Interning::stack(const UserStack& stack) {
  std::string key(reinterpret_cast<const char*>(&stack.tgid), sizeof stack.tgid);
  key.append(reinterpret_cast<const char*>(stack.caller.data()), stack.caller.size() * sizeof(std::uint64_t));
  const auto [known, is_new] = stacks_.try_emplace(std::move(key), stacks_.size() + 1);
  if (!is_new) return known->second;
  std::string entry;
  begin_entry(entry, known->second);
  for (std::size_t i = stack.caller.size(); i-- > 0;) proto::put(entry, interned::kCallstackFrameIds, frame(stack, i));
  proto::put(new_, interned::kCallstacks, entry);
  return known->second;
}

}  // namespace landtrace::output::perfetto
