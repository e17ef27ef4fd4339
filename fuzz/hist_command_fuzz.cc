// Input: what stands behind "hist:" in a trigger. Whatever it is, it is read or refused with an errno that the kernel
// has for it, and complaints point into the command.
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "event_require.hpp"
#include "language/histogram/action_text.hpp"
#include "language/histogram/attributes.hpp"
#include "language/histogram/operators.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::language;

void require_refused(const Error& error) { LT_REQUIRE(error.code == EINVAL || error.code == ERANGE); }

// Each cut makes its parts shorter, so that reading an expression ends.
void cut_all(std::string_view expression) {
  const HistCut cut = cut_of(expression);
  if (cut.op == HistOperator::kNone) return;
  LT_REQUIRE(cut.at < expression.size());
  LT_REQUIRE(expression[cut.at] == sign_of(cut.op));
  if (cut.op == HistOperator::kNegate) LT_REQUIRE(cut.at == 0);
  if (cut.op != HistOperator::kNegate) cut_all(expression.substr(0, cut.at));
  LT_REQUIRE(cut.op == HistOperator::kNegate || cut_of(expression.substr(cut.at + 1)).op != cut.op);
}

void read_tables(std::string_view definition, HistComplaints& complaints) {
  const auto attributes = parse_hist_attributes(definition, complaints);
  if (!attributes) return require_refused(attributes.error());
  LT_REQUIRE(!attributes->keys.empty());
  LT_REQUIRE(attributes->bits >= kMinHistBits && attributes->bits <= kMaxHistBits);
  LT_REQUIRE(attributes->actions.size() <= kMostHistActions);
  const auto definitions = definitions_in(*attributes, complaints);
  if (!definitions) return require_refused(definitions.error());
  LT_REQUIRE(definitions->size() <= kMostHistVariables);
  for (const VariableDefinition& variable : *definitions) cut_all(variable.expression);
  for (const std::string& text : attributes->actions) {
    const auto action = parse_action(
        text, [](std::string_view, std::string_view) { return true; }, complaints);
    if (!action) return require_refused(action.error());
    LT_REQUIRE(action->params.size() <= hist::kMaxParams);
    LT_REQUIRE(action->handler == hist::Handler::kOnMatch ? action->tracked.empty() : action->match_event.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view command(reinterpret_cast<const char*>(data), size);
  HistComplaints complaints;
  complaints.begin("hist:" + std::string(command));
  const auto parts = split_condition(command);
  if (!parts) {
    require_refused(parts.error());
    return 0;
  }
  if (parts->condition) LT_REQUIRE(parts->condition->starts_with("if"));
  read_tables(parts->definition, complaints);
  for (const HistComplaint& complaint : complaints.all()) {
    LT_REQUIRE(complaint.position <= complaints.command().size());
    LT_REQUIRE(!sentence_of(complaint.mistake).empty());
  }
  return 0;
}
