#include "rules/probes/probed_objects.hpp"

namespace landtrace::rules {
namespace {

// The file that a definition means: its path, or where an object of that name is.
std::string file_of(std::string_view path) {
  return path.find('/') == std::string_view::npos ? programs::find_object(path) : std::string(path);
}

std::string sentence_of(const Error& error) { return error.message.empty() ? errno_text(error.code) : error.message; }

}  // namespace

int CallersObjects::check_file(std::string_view path) {
  auto object = files_.open(asker_, path);
  if (!object) return object.error().code;
  object_ = *std::move(object);
  return 0;
}

bool CallersObjects::has_function(std::string_view path, std::string_view symbol, std::int64_t offset) {
  const std::string file = file_of(path);
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

// The domain's programs are what a kernel is to the kernel's probes.
CallersObjects::Answer CallersObjects::look_up_in_programs(std::string_view symbol) {
  for (const std::string& path : programs_.executables(asker_.tid)) {
    if (has_function(path, symbol, 0)) return Answer::kFunction;
  }
  return are_to_come() ? Answer::kNoModule : Answer::kNoFunction;
}

CallersObjects::Answer CallersObjects::look_up(std::string_view module, std::string_view symbol) {
  if (module.empty()) return look_up_in_programs(symbol);
  std::string file = programs::find_object(module);
  if (file.empty() && !module.empty()) file = programs_.find_object(module);
  if (file.empty()) return Answer::kNoModule;
  return has_function(file, symbol, 0) ? Answer::kFunction : Answer::kNoFunction;
}

language::AllNamedFetches CallersObjects::find_names(std::int64_t offset, bool is_return,
                                                     const std::vector<std::string>& expressions) {
  const std::uint64_t place = function_offset_ + static_cast<std::uint64_t>(offset);
  auto answers = files_.find_values(asker_, object_->path, place, is_return, expressions);
  if (!answers) return tl::unexpected<std::string>(sentence_of(answers.error()));
  std::vector<language::NamedFetches> found;
  for (auto& answer : *answers) {
    if (!answer) {
      found.emplace_back(tl::unexpected<std::string>(std::move(answer.error())));
      continue;
    }
    std::vector<language::NamedFetch> fetches;
    for (auto& value : *answer) fetches.push_back({std::move(value.name), std::move(value.fetch)});
    found.emplace_back(std::move(fetches));
  }
  return found;
}

std::string CallersObjects::why_no_function(std::string_view path, std::string_view symbol) {
  const std::string file = file_of(path);
  if (file.empty()) return {};
  return files_.why_no_function(asker_, file, symbol).value_or("");
}

tl::expected<language::LinePlace, std::string> CallersObjects::find_line(std::string_view path, std::string_view file,
                                                                         unsigned line) {
  const std::string object = file_of(path);
  if (!lines_) {
    // A file that is not there, or may not be read, is the kernel's affair.
    if (object.empty() || !files_.open(asker_, object)) return tl::unexpected<std::string>("");
    auto found = files_.find_line(asker_, object, file, line);
    if (!found) {
      return tl::unexpected<std::string>(sentence_of(found.error()));
    }
    lines_ = *std::move(found);
  }
  object_ = lines_->object;
  function_offset_ = lines_->places.offsets.at(chosen_);
  return language::LinePlace{object_->path, function_offset_};
}

}  // namespace landtrace::rules
