// Functions as lines for people and for programs.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/functions/rows.hpp"
#include "cli/quantity.hpp"
#include "cli/terminal.hpp"
#include "code/refusal.hpp"

namespace landtrace::cli {
namespace {

using Json = nlohmann::ordered_json;

// How a probe's definition names it.
std::string shown_name(const FunctionRow& row) {
  return row.name.empty() ? fmt::format("{:#x}", row.offset) : row.name;
}

// "(int id, const char *route) -> int  main.c:12"
std::string source_text(const FunctionRow& row) {
  if (!row.source) return "";
  std::string text;
  for (const dwarf::Parameter& parameter : row.source->parameters) {
    const bool is_joined = parameter.name.empty() || parameter.type.ends_with('*') || parameter.type.ends_with('&');
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", parameter.type, is_joined ? "" : " ", parameter.name);
  }
  text = fmt::format("({})", text);
  if (row.source->returns != "void") text += " -> " + row.source->returns;
  const std::string& file = row.source->file;
  if (!file.empty()) text += fmt::format("  {}:{}", file.substr(file.rfind('/') + 1), row.source->line);
  return text;
}

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  // 99.96 % are not all.
  const std::uint64_t tenths = part * 1000 / whole;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

std::string reason_of(const FunctionRow& row) {
  if (!row.has_entry()) return fmt::format(": {}", code::refusal_text(row.entry_refusal));
  if (!row.has_return()) return fmt::format(": {}", code::refusal_text(row.return_refusal));
  return "";
}

std::string_view way_text(agent::Way way) {
  switch (way) {
    case agent::Way::kOneStore:
      return "at any time";
    case agent::Way::kQuiet:
      return "when no thread is in its first bytes";
    case agent::Way::kAlone:
      return "only before there are other threads";
    case agent::Way::kRefused:
      break;
  }
  return "";
}

std::string counts_line(std::string_view what, std::size_t count, std::size_t all, std::string_view why) {
  return fmt::format("{:<22}{:>9}{:>10}{}{}\n", what, count_text(count), percent(count, all), why.empty() ? "" : "  ",
                     why);
}

Json word_or_null(agent::Refusal refusal) {
  return refusal == agent::Refusal::kNone ? Json() : Json(code::refusal_word(refusal));
}

template <typename Map, typename Word>
Json counted(const Map& map, const Word& word) {
  Json json = Json::object();
  for (const auto& [key, count] : map) json[std::string(word(key))] = count;
  return json;
}

void add_source(Json& json, const dwarf::DescribedFunction& source) {
  json["returns"] = source.returns;
  json["parameters"] = Json::array();
  for (const dwarf::Parameter& parameter : source.parameters) {
    Json one{{"name", parameter.name}, {"type", parameter.type}};
    if (!parameter.why_not.empty()) one["refused"] = parameter.why_not;
    json["parameters"].push_back(std::move(one));
  }
  if (source.file.empty()) return;
  json["file"] = source.file;
  json["line"] = source.line;
}

// Names need not be UTF-8.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string functions_head() { return fmt::format("{:>8}  {:<9}  {:<6}  {}\n", "SIZE", "ENTRY", "RETURN", "FUNCTION"); }

std::string function_line(const FunctionRow& row, bool reasons, std::size_t columns) {
  const std::string line =
      fmt::format("{:>8}  {:<9}  {:<6}  {}{}{}{}", row.size, row.has_entry() ? code::way_word(row.way) : "no",
                  row.has_return() ? "yes" : "no", shown_name(row), source_text(row),
                  row.is_chooser ? "  [ifunc]" : "", reasons ? reason_of(row) : "");
  return shortened(line, columns) + "\n";
}

std::string counts_text(const std::string& path, const FunctionCounts& counts) {
  std::string text = fmt::format("{}: {} functions\n", path, count_text(counts.functions));
  text += counts_line("entries", counts.entries, counts.functions, "");
  for (const auto& [way, count] : counts.ways)
    text += counts_line(fmt::format("  {}", code::way_word(way)), count, counts.functions, way_text(way));
  text += counts_line("entries refused", counts.functions - counts.entries, counts.functions, "");
  for (const auto& [refusal, count] : counts.entry_refusals)
    text += counts_line(fmt::format("  {}", code::refusal_word(refusal)), count, counts.functions,
                        code::refusal_text(refusal));
  text += counts_line("returns", counts.returns, counts.functions, "");
  for (const auto& [refusal, count] : counts.return_refusals)
    text += counts_line(fmt::format("  {}", code::refusal_word(refusal)), count, counts.functions,
                        code::refusal_text(refusal));
  return text;
}

std::string function_json(const FunctionRow& row) {
  Json json;
  json["name"] = row.name.empty() ? Json() : Json(row.name);
  if (!row.aliases.empty()) json["aliases"] = row.aliases;
  if (!row.object.empty()) json["object"] = row.object;
  json["offset"] = row.offset;
  json["size"] = row.size;
  json["entry"] = row.has_entry() ? Json(code::way_word(row.way)) : Json();
  json["entry_refused"] = word_or_null(row.entry_refusal);
  json["return"] = row.has_return();
  json["return_refused"] = word_or_null(row.return_refusal);
  if (row.is_chooser) {
    json["chooses_implementation"] = true;
    json["implementations"] = row.choices;
  }
  if (row.source) add_source(json, *row.source);
  return line_of(json);
}

std::string counts_json(const std::string& path, const std::string& build_id, const FunctionCounts& counts) {
  return line_of({{"path", path},
                  {"build_id", build_id},
                  {"functions", counts.functions},
                  {"entries", counts.entries},
                  {"returns", counts.returns},
                  {"ways", counted(counts.ways, code::way_word)},
                  {"entries_refused", counted(counts.entry_refusals, code::refusal_word)},
                  {"returns_refused", counted(counts.return_refusals, code::refusal_word)}});
}

}  // namespace landtrace::cli
