#include "cli/usdt/rows.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "code/analysis.hpp"
#include "symbols/usdt_notes.hpp"

namespace landtrace::cli {
namespace {

UsdtSpot spot_of(const symbols::UsdtNote& note, std::optional<code::Analysis>& analysis) {
  UsdtSpot spot{note.offset, note.counter_offset, note.arguments, language::parse_usdt_operands(note.arguments)};
  if (!analysis) return spot;
  const agent::Recipe recipe = analysis->recipe(note.offset);
  spot.way = recipe.way;
  if (!spot.can_be_probed()) spot.refusal = recipe.refusal;
  return spot;
}

}  // namespace

Result<std::vector<UsdtRow>> usdt_rows(const std::string& path) {
  LT_TRY(const symbols::ElfFile file, symbols::ElfFile::open(path));
  std::map<std::pair<std::string, std::string>, UsdtRow> rows;
  std::optional<code::Analysis> analysis;
  for (const symbols::UsdtNote& note : symbols::read_usdt_notes(file)) {
    if (rows.empty()) {
      // Of code for another machine at least the names are known.
      if (auto opened = code::Analysis::open(path)) analysis.emplace(*std::move(opened));
    }
    UsdtRow& row = rows[{note.provider, note.name}];
    row.object = path;
    row.provider = note.provider;
    row.name = note.name;
    row.has_semaphore = row.has_semaphore || note.counter != 0;
    const auto is_known = [&](const UsdtSpot& spot) { return spot.offset == note.offset; };
    if (std::none_of(row.spots.begin(), row.spots.end(), is_known)) row.spots.push_back(spot_of(note, analysis));
  }
  std::vector<UsdtRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

std::vector<std::string> usdt_types(const UsdtRow& row) {
  std::vector<const language::UsdtOperand*> widest;
  std::vector<bool> readable;
  for (const UsdtSpot& spot : row.spots) {
    widest.resize(std::max(widest.size(), spot.operands.size()));
    readable.resize(widest.size(), true);
    for (std::size_t i = 0; i < spot.operands.size(); ++i) {
      const language::UsdtOperand& operand = spot.operands[i];
      if (widest[i] == nullptr || operand.size > widest[i]->size) widest[i] = &operand;
      if (!operand.can_be_read()) readable[i] = false;
    }
  }
  std::vector<std::string> types;
  for (std::size_t i = 0; i < widest.size(); ++i) {
    types.emplace_back(readable[i] ? std::string(language::usdt_type(*widest[i])) : "");
  }
  return types;
}

}  // namespace landtrace::cli
