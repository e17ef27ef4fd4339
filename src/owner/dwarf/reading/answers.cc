#include "dwarf/reading/answers.hpp"

#include <fmt/format.h>

#include <charconv>

#include "dwarf/reading/expression.hpp"
#include "dwarf/reading/functions.hpp"
#include "dwarf/reading/lines.hpp"
#include "dwarf/talk.hpp"

namespace landtrace::dwarf {
namespace {

using Asked = std::vector<std::string>;

template <typename T>
bool read_number(const std::string& text, T& number) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

tl::unexpected<Error> bad_question() { return fail(EINVAL, "landtrace-dwarf was asked something else"); }

Result<void> answer_values(const Object& object, const Asked& words, std::string& out) {
  std::uint64_t offset = 0;
  if (words.size() < 3 || !read_number(words[1], offset)) return bad_question();
  LT_TRY(const Scope scope, Scope::at(object, offset, words[2] == "return"));
  for (std::size_t i = 3; i < words.size(); ++i) {
    const NamedValues found = find_values(scope, words[i]);
    if (!found) {
      add_line(out, {kUnknownTag, found.error()});
      continue;
    }
    for (const NamedValue& value : *found) add_line(out, {kValueTag, value.name, value.fetch});
    add_line(out, {kNextTag});
  }
  return {};
}

Result<void> answer_line(const Object& object, const Asked& words, std::string& out) {
  int line = 0;
  if (words.size() != 3 || words[1].empty() || !read_number(words[2], line)) return bad_question();
  LT_TRY(const LinePlaces places, find_line(object, words[1], line));
  for (const std::uint64_t offset : places.offsets) add_line(out, {kPlaceTag, fmt::format("{}", offset)});
  return {};
}

void answer_functions(const Object& object, std::string& out) {
  for_each_function(object, [&](const DescribedFunction& function) {
    add_line(out, {kFunctionTag, fmt::format("{}", function.offset), function.file, fmt::format("{}", function.line),
                   function.returns});
    for (const Parameter& parameter : function.parameters) {
      add_line(out, {kParameterTag, parameter.name, parameter.type, parameter.why_not});
    }
  });
}

Result<void> answer_question(Fd file, const std::string& path, const std::string& debug_folder, const Asked& words,
                             std::string& out) {
  if (words.empty()) return bad_question();
  LT_TRY(const Object object, Object::open(std::move(file), path, debug_folder));
  if (words[0] == kValues) return answer_values(object, words, out);
  if (words[0] == kLine) return answer_line(object, words, out);
  if (words[0] == kNoFunction && words.size() == 2) {
    add_line(out, {kWhyTag, why_no_function(object, words[1])});
    return {};
  }
  if (words[0] != kFunctions) return bad_question();
  answer_functions(object, out);
  return {};
}

}  // namespace

std::string answer(Fd object, const std::string& path, const std::string& debug_folder, const Asked& words) {
  std::string out;
  const auto done = answer_question(std::move(object), path, debug_folder, words, out);
  if (!done) {
    out.clear();
    add_line(out, {kErrorTag, fmt::format("{}", done.error().code), done.error().message});
  }
  add_line(out, {kEndTag});
  return out;
}

}  // namespace landtrace::dwarf
