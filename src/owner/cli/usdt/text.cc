// USDT places as lines for people and for programs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/terminal.hpp"
#include "cli/usdt/rows.hpp"
#include "code/refusal.hpp"

namespace landtrace::cli {
namespace {

using UsdtJson = nlohmann::ordered_json;

bool is_float(const UsdtRow& row, std::size_t argument) {
  return std::any_of(row.spots.begin(), row.spots.end(), [argument](const UsdtSpot& spot) {
    return argument < spot.operands.size() && spot.operands[argument].is_float;
  });
}

std::string arguments_text(const UsdtRow& row) {
  std::string text;
  const std::vector<std::string> types = usdt_types(row);
  for (std::size_t i = 0; i < types.size(); ++i) {
    text += fmt::format(" arg{}:{}", i + 1, types[i].empty() ? "unread" : types[i]);
    if (is_float(row, i)) text += "(float)";
  }
  return text;
}

UsdtJson argument_json(const language::UsdtOperand& operand) {
  UsdtJson json{{"size", operand.size}, {"signed", operand.is_signed}, {"float", operand.is_float}};
  json["type"] = operand.can_be_read() ? UsdtJson(language::usdt_type(operand)) : UsdtJson();
  if (!operand.can_be_read()) json["unread"] = language::usdt_refusal(operand.kind);
  return json;
}

UsdtJson spot_json(const UsdtSpot& spot) {
  UsdtJson json{{"offset", spot.offset}, {"arguments", spot.arguments}};
  if (spot.counter_offset != 0) json["semaphore"] = spot.counter_offset;
  json["probe"] = spot.can_be_probed() ? UsdtJson(code::way_word(spot.way)) : UsdtJson();
  json["refused"] = spot.can_be_probed() ? UsdtJson() : UsdtJson(code::refusal_word(spot.refusal));
  return json;
}

}  // namespace

std::string usdt_head() { return fmt::format("{:>6}  {:<9}  {}\n", "PLACES", "SEMAPHORE", "USDT"); }

std::string usdt_line(const UsdtRow& row, std::size_t columns) {
  const auto refused =
      std::find_if(row.spots.begin(), row.spots.end(), [](const UsdtSpot& spot) { return !spot.can_be_probed(); });
  std::string line = fmt::format("{:>6}  {:<9}  {}:{}{}", row.spots.size(), row.has_semaphore ? "yes" : "no",
                                 row.provider, row.name, arguments_text(row));
  if (refused != row.spots.end()) {
    const auto count =
        std::count_if(refused, row.spots.end(), [](const UsdtSpot& spot) { return !spot.can_be_probed(); });
    const bool is_all = static_cast<std::size_t>(count) == row.spots.size();
    line += fmt::format("  [{} cannot be probed: {}]", is_all ? "it" : fmt::format("{} of them", count),
                        code::refusal_text(refused->refusal));
  }
  return shortened(line, columns) + "\n";
}

std::string usdt_json(const UsdtRow& row) {
  UsdtJson json{
      {"object", row.object}, {"provider", row.provider}, {"name", row.name}, {"semaphore", row.has_semaphore}};
  json["arguments"] = UsdtJson::array();
  json["places"] = UsdtJson::array();
  std::size_t most = 0;
  for (std::size_t i = 0; i < row.spots.size(); ++i) {
    if (row.spots[i].operands.size() > row.spots[most].operands.size()) most = i;
    json["places"].push_back(spot_json(row.spots[i]));
  }
  for (const auto& operand : row.spots[most].operands) json["arguments"].push_back(argument_json(operand));
  // Names need not be UTF-8.
  return json.dump(-1, ' ', false, UsdtJson::error_handler_t::replace) + "\n";
}

}  // namespace landtrace::cli
