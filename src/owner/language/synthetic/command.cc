#include "language/synthetic/command.hpp"

#include <algorithm>
#include <span>

#include "event/synthetic.hpp"
#include "language/words.hpp"

namespace landtrace::language {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kPrefix = "s:";
constexpr std::string_view kGroup = "synthetic/";

constexpr std::string_view kInvalidCommand = "Command must be of the form: <name> field[;field] ...";
constexpr std::string_view kInvalidDynamicCommand =
    "Command must be of the form: s or -:[synthetic/]<name> field[;field] ...";
constexpr std::string_view kIllegalName = "Illegal name";
constexpr std::string_view kExists = "Event already exists";
constexpr std::string_view kTooMany = "Too many fields";
constexpr std::string_view kIncompleteType = "Incomplete type";
constexpr std::string_view kInvalidType = "Invalid type";
constexpr std::string_view kInvalidField = "Invalid field";
constexpr std::string_view kInvalidArray = "Invalid array specification";

using Words = std::span<const std::string_view>;

tl::unexpected<CommandRefusal> refuse(std::string_view what, std::size_t position = 0, int code = EINVAL) {
  return tl::unexpected<CommandRefusal>({code, what, position});
}

// Whether a name, a type and a field stand before the first ';'.
bool begins_with_field(std::string_view text) { return split_words(text.substr(0, text.find(';'))).size() >= 3; }

class Definition {
 public:
  explicit Definition(const SyntheticCommand& command) : command_(command) {}

  AcceptedSynthetic<event::Declaration> parse() {
    std::string_view rest = command_.fields;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      const auto words = split_words(part);
      if (auto taken = take_fields(words); !taken) return tl::unexpected<CommandRefusal>(taken.error());
    }
    if (fields_.empty()) return refuse(kInvalidCommand);
    return event::lay_out_synthetic(std::string(command_.name), std::move(fields_));
  }

 private:
  AcceptedSynthetic<void> take_fields(Words words) {
    while (!words.empty()) {
      auto field = take_field(words);
      if (!field) return tl::unexpected<CommandRefusal>(field.error());
      if (fields_.size() == event::kMaxSyntheticFields) return refuse(kTooMany);
      fields_.push_back(*std::move(field));
    }
    return {};
  }

  AcceptedSynthetic<event::Field> take_field(Words& words) const {
    std::string type;
    if (words[0] == "unsigned") {
      if (words.size() < 3) return refuse(kIncompleteType, position_of(words[0]));
      type = "unsigned ";
      words = words.subspan(1);
    }
    const std::string_view last_word = words[0];
    if (words.size() < 2) return refuse(kInvalidField, position_of(last_word));
    const std::string_view word = words[1];
    words = words.subspan(2);
    const std::string_view name = word.substr(0, word.find('['));
    if (!is_good_name(name)) return refuse(kIllegalName, position_of(word));
    type.append(last_word).append(word.substr(name.size()));
    auto field = event::synthetic_field(type, std::string(name));
    if (field) return *std::move(field);
    const bool is_array = field.error().code == ENOMSG && name.size() < word.size();
    return is_array ? refuse(kInvalidArray, position_of(word)) : refuse(kInvalidType, position_of(last_word));
  }

  [[nodiscard]] std::size_t position_of(std::string_view word) const {
    const auto found = command_.logged.find(word);
    return found == std::string_view::npos ? 0 : found;
  }

  const SyntheticCommand& command_;
  std::vector<event::Field> fields_;
};

}  // namespace

AcceptedSynthetic<SyntheticCommand> split_synthetic(std::string_view line) {
  SyntheticCommand command;
  command.logged = skip_spaces(line);
  if (command.logged.empty()) return command;
  const bool removes = command.logged.starts_with('!');
  if (!removes && !begins_with_field(command.logged)) return refuse(kInvalidCommand);
  const auto name_end = command.logged.find_first_of(kBlanks);
  if (!removes && name_end == std::string_view::npos) return refuse(kInvalidCommand);
  command.kind = removes ? SyntheticCommand::Kind::kRemoval : SyntheticCommand::Kind::kDefinition;
  command.name = command.logged.substr(removes ? 1 : 0, name_end - (removes ? 1 : 0));
  if (!removes) command.fields = skip_spaces(command.logged.substr(name_end));
  return command;
}

AcceptedSynthetic<SyntheticCommand> split_dynamic_synthetic(std::string_view line) {
  SyntheticCommand command;
  command.kind = SyntheticCommand::Kind::kDefinition;
  command.logged = skip_spaces(line);
  const auto name_end = command.logged.find_first_of(kBlanks);
  if (name_end == std::string_view::npos) return refuse(kInvalidCommand);
  std::size_t name_begin = kPrefix.size();
  if (command.logged.find('/', name_begin) != std::string_view::npos) {
    if (!command.logged.substr(name_begin).starts_with(kGroup)) return refuse(kInvalidDynamicCommand);
    name_begin += kGroup.size();
  }
  if (!begins_with_field(command.logged.substr(name_begin))) return refuse(kInvalidCommand);
  command.name = command.logged.substr(name_begin, name_end > name_begin ? name_end - name_begin : 0);
  command.fields = skip_spaces(command.logged.substr(name_end));
  return command;
}

AcceptedSynthetic<event::Declaration> parse_synthetic(const SyntheticCommand& definition,
                                                      const std::function<bool(std::string_view)>& exists) {
  const std::size_t position = std::min(definition.logged.find(definition.name), definition.logged.size());
  if (definition.name.empty()) return refuse(kInvalidCommand);
  if (!is_good_name(definition.name)) return refuse(kIllegalName, position);
  if (exists(definition.name)) return refuse(kExists, position, EEXIST);
  return Definition(definition).parse();
}

}  // namespace landtrace::language
