#include "tracefs/events/address_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "buffer/mapped_objects.hpp"
#include "symbols/short_name.hpp"

namespace landtrace::tracefs {
namespace {

// Paths come from programs: characters that would break a line are replaced.
std::string printable(std::string path) {
  std::replace_if(
      path.begin(), path.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return path;
}

std::string with_offset(const symbols::Function& function) {
  return fmt::format("{}+{:#x}", symbols::short_name(function.name), function.offset);
}

}  // namespace

std::optional<symbols::Function> ProducerNames::function_at(std::uint64_t address) {
  if (auto running = functions_.at(address)) return running;
  const NotedObject* const object = object_at(address);
  if (object == nullptr) return std::nullopt;
  // The address itself is meant, and not that of a call before it.
  auto function = function_in(*object, address + 1, false);
  if (function) --function->offset;
  return function;
}

std::string ProducerNames::symbol(std::uint64_t address) {
  const auto function = function_at(address);
  return function ? symbols::short_name(function->name) : fmt::format("{:#x}", address);
}

std::string ProducerNames::symbol_with_offset(std::uint64_t address) {
  const auto function = function_at(address);
  return function ? with_offset(*function) : fmt::format("{:#x}", address);
}

std::string ProducerNames::frame(std::uint64_t address, bool is_first) {
  const NotedObject* const object = object_at(address - 1);
  if (object == nullptr) return fmt::format("{:#x}", address);
  if (const auto function = function_in(*object, address, is_first)) {
    return fmt::format("{} [{}]", with_offset(*function), printable(object->path));
  }
  return fmt::format("{}[+{:#x}]", printable(object->path), address - object->bias);
}

std::optional<symbols::Function> ProducerNames::function_in(const NotedObject& object, std::uint64_t address,
                                                            bool is_first) {
  if (!object.may_be_opened) return std::nullopt;
  return symbols_.find(object.path, object.build_id, address - object.bias, is_first);
}

const ProducerNames::NotedObject* ProducerNames::object_at(std::uint64_t address) {
  if (!objects_) learn_objects();
  const NotedObject* newest = nullptr;
  for (const NotedObject& object : *objects_) {
    if (address < object.start || address >= object.end) continue;
    if (newest == nullptr || object.first_seen >= newest->first_seen) newest = &object;
  }
  return newest;
}

void ProducerNames::learn_objects() {
  objects_.emplace();
  for (const domain::User& user : users_.all()) {
    buffer::MappedObjects table(user.uid);
    const bool may_be_opened = buffer::may_open_files_of(user.uid);
    table.refresh(user.data(), [&](unwind::MappedObject object) {
      objects_->push_back({std::move(object), may_be_opened});
    });
  }
}

}  // namespace landtrace::tracefs
