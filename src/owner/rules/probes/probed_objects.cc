#include "rules/probes/probed_objects.hpp"

namespace landtrace::rules {

int CallersObjects::check_file(std::string_view path) {
  auto object = files_.open(asker_, path);
  if (!object) return object.error().code;
  object_ = *std::move(object);
  return 0;
}

bool CallersObjects::has_function(std::string_view path, std::string_view symbol, std::int64_t offset) {
  const std::string file = path.find('/') == std::string_view::npos ? programs::find_object(path) : std::string(path);
  if (file.empty()) return false;
  auto function = files_.find_function(asker_, file, symbol);
  if (!function) return false;
  // A label of assembler has no size.
  if (offset != 0 && function->size != 0 && static_cast<std::uint64_t>(offset) >= function->size) return false;
  object_ = std::move(function->object);
  function_offset_ = function->offset;
  return true;
}

int CallersObjects::find_usdt(std::string_view path, std::string_view provider, std::string_view name,
                              std::vector<language::UsdtPlace>& places) {
  const std::string file = path.find('/') == std::string_view::npos ? programs::find_object(path) : std::string(path);
  if (file.empty()) return ENOENT;
  auto found = files_.find_usdt(asker_, file, provider, name);
  if (!found) return found.error().code;
  if (found->places.empty()) return ENOENT;
  object_ = std::move(found->object);
  places = std::move(found->places);
  return 0;
}

CallersObjects::Answer CallersObjects::look_up(std::string_view module, std::string_view symbol) {
  std::string file = programs::find_object(module);
  if (file.empty() && !module.empty()) file = programs_.find_object(module);
  if (file.empty()) return Answer::kNoModule;
  return has_function(file, symbol, 0) ? Answer::kFunction : Answer::kNoFunction;
}

}  // namespace landtrace::rules
