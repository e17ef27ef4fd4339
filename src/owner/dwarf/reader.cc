#include "dwarf/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "dwarf/reader_program.hpp"
#include "dwarf/talk.hpp"

namespace landtrace::dwarf {
namespace {

constexpr std::size_t kMostPlaces = 1024, kMostValues = 1024;

using Fields = std::vector<std::string_view>;

template <typename T>
bool read_number(std::string_view text, T& number) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

tl::unexpected<Error> damaged() { return fail(EIO, "its debugging information is damaged"); }

// Each line up to the end; false of `take`: it is none of this answer's.
Result<void> for_each_line(std::string_view answer, const std::function<bool(const Fields&)>& take) {
  while (!answer.empty()) {
    const std::size_t end = answer.find('\n');
    if (end == std::string_view::npos) return damaged();
    const Fields fields = fields_of_line(answer.substr(0, end));
    answer.remove_prefix(end + 1);
    if (fields[0] == kEndTag) return {};
    if (fields[0] == kErrorTag && fields.size() == 3) {
      int code = 0;
      if (!read_number(fields[1], code) || code <= 0) return damaged();
      return fail(code, std::string(fields[2]));
    }
    if (!take(fields)) return damaged();
  }
  return damaged();
}

}  // namespace

Result<std::vector<NamedValues>> parse_values(std::string_view answer, std::size_t count) {
  std::vector<NamedValues> found;
  std::vector<NamedValue> values;
  LT_CHECK(for_each_line(answer, [&](const Fields& fields) {
    if (fields[0] == kValueTag && fields.size() == 3 && values.size() < kMostValues) {
      values.push_back({std::string(fields[1]), std::string(fields[2])});
    } else if (fields[0] == kNextTag && found.size() < count) {
      found.emplace_back(std::move(values));
      values.clear();
    } else if (fields[0] == kUnknownTag && fields.size() == 2 && found.size() < count) {
      found.emplace_back(tl::unexpected<std::string>(std::string(fields[1])));
    } else {
      return false;
    }
    return true;
  }));
  if (found.size() != count) return damaged();
  return found;
}

Result<LinePlaces> parse_places(std::string_view answer) {
  LinePlaces places;
  LT_CHECK(for_each_line(answer, [&](const Fields& fields) {
    std::uint64_t offset = 0;
    const bool is_one = fields[0] == kPlaceTag && fields.size() == 2 && read_number(fields[1], offset);
    if (is_one) places.offsets.push_back(offset);
    return is_one && places.offsets.size() <= kMostPlaces;
  }));
  if (places.offsets.empty()) return damaged();
  return places;
}

Result<std::vector<DescribedFunction>> parse_functions(std::string_view answer) {
  std::vector<DescribedFunction> functions;
  LT_CHECK(for_each_line(answer, [&](const Fields& fields) {
    if (fields[0] == kFunctionTag && fields.size() == 5) {
      DescribedFunction one;
      if (!read_number(fields[1], one.offset) || !read_number(fields[3], one.line)) return false;
      one.file = fields[2];
      one.returns = fields[4];
      functions.push_back(std::move(one));
      return true;
    }
    if (fields[0] != kParameterTag || fields.size() != 4 || functions.empty()) return false;
    functions.back().parameters.push_back({std::string(fields[1]), std::string(fields[2]), std::string(fields[3])});
    return true;
  }));
  return functions;
}

Result<std::string> Reader::ask(std::string_view question, const std::vector<std::string>& words) const {
  const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(patience_).count());
  std::vector<std::string> all{fmt::format("{}:{}:{}", rights_.uid, rights_.gid, seconds), path_, debug_folder_,
                               std::string(question)};
  all.insert(all.end(), words.begin(), words.end());
  return run_reader(object_, all, patience_);
}

Result<std::vector<NamedValues>> Reader::values(std::uint64_t offset, bool is_return,
                                                const std::vector<std::string>& expressions) const {
  std::vector<std::string> words{fmt::format("{}", offset), is_return ? "return" : "entry"};
  words.insert(words.end(), expressions.begin(), expressions.end());
  LT_TRY(const std::string answer, ask(kValues, words));
  return parse_values(answer, expressions.size());
}

Result<LinePlaces> Reader::line(const std::string& file, unsigned number) const {
  LT_TRY(const std::string answer, ask(kLine, {file, fmt::format("{}", number)}));
  return parse_places(answer);
}

Result<std::string> Reader::why_no_function(const std::string& name) const {
  LT_TRY(const std::string answer, ask(kNoFunction, {name}));
  std::string text;
  LT_CHECK(for_each_line(answer, [&](const Fields& fields) {
    const bool is_one = fields[0] == kWhyTag && fields.size() == 2;
    if (is_one) text = fields[1];
    return is_one;
  }));
  return text;
}

Result<std::vector<DescribedFunction>> Reader::functions() const {
  LT_TRY(const std::string answer, ask(kFunctions, {}));
  return parse_functions(answer);
}

}  // namespace landtrace::dwarf
