#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "cli/failure.hpp"
#include "cli/near_names.hpp"
#include "cli/terminal.hpp"

namespace landtrace::cli {
namespace {

struct CommandLine {
  std::vector<std::string> own;  // up to the first "--"
  bool has_separator = false;
  std::vector<std::string> behind;
};

CommandLine split(int argc, const char* const* argv) {
  CommandLine line;
  const char* const* const end = argv + argc;
  const char* const* const separator =
      std::find_if(argv + 1, end, [](const std::string_view word) { return word == "--"; });
  for (const char* const* at = argv + 1; at != separator; ++at) {
    const std::string_view word = *at;
    // The parser would take the next word for the value of "--output=".
    const bool has_empty_value = word.starts_with("--") && word.find('=') == word.size() - 1;
    line.own.emplace_back(has_empty_value ? word.substr(0, word.size() - 1) : word);
    if (has_empty_value) line.own.emplace_back();
  }
  line.has_separator = separator != end;
  if (line.has_separator) line.behind.assign(separator + 1, end);
  return line;
}

// The parser takes them so.
std::vector<std::string> from_the_end(const std::vector<std::string>& words) { return {words.rbegin(), words.rend()}; }

// A help that fits the terminal: descriptions are broken between words, and stand below the names on a narrow one.
class HelpFormatter : public CLI::Formatter {
 public:
  // The parser would not mention a CMD that follows; `usage` does.
  explicit HelpFormatter(std::string usage = "") : usage_(std::move(usage)) {
    constexpr std::size_t kWide = 70, kBesideNames = 30, kBelowNames = 6;
    columns_ = Screen::of(STDOUT_FILENO).columns;
    column_width(columns_ < kWide ? kBelowNames : kBesideNames);
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return usage_.empty() ? Formatter::make_usage(app, name) : "Usage: " + usage_ + "\n\n";
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return broken(Formatter::make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_display_name(true), broken(command->get_description()),
                             get_column_width());
    return out.str();
  }
  std::string make_description(const CLI::App* app) const override {
    const auto lines = broken_lines(app->get_description(), columns_, columns_);
    return fmt::format("{}\n", fmt::join(lines, "\n"));
  }

 private:
  // The parser indents what stands behind a newline.
  [[nodiscard]] std::string broken(const std::string& text) const {
    constexpr std::size_t kLeast = 20;
    const std::size_t room = std::max(columns_ - std::min(columns_, get_column_width()), kLeast);
    return fmt::format("{}", fmt::join(broken_lines(text, room, room), "\n"));
  }

  std::string usage_;
  std::size_t columns_;
};

// "--limit: 1 required N missing": what the parser says of an option without its value.
std::string without_value(const std::string& said) {
  constexpr std::string_view kBegin = ": 1 required ", kEnd = " missing";
  const std::size_t at = said.find(kBegin);
  if (at == std::string::npos || !said.ends_with(kEnd)) return said;
  const std::size_t value = at + kBegin.size();
  const std::string type = said.substr(value, said.size() - kEnd.size() - value);
  return fmt::format("{}: want {}", said.substr(0, at), type.empty() ? "a value" : type);
}

// "The following arguments were not expected: x y". An option among them: the other may be its value.
std::string first_unexpected(const std::string& said) {
  const std::size_t colon = said.find(": ");
  const std::string words = colon == std::string::npos ? said : said.substr(colon + 2);
  const std::size_t option = words.starts_with('-') ? 0 : words.find(" -");
  const std::size_t begin = option == std::string::npos ? 0 : option + (option == 0 ? 0 : 1);
  return words.substr(begin, words.find(' ', begin) - begin);
}

bool read_number(const std::string& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

void dress(CLI::Option& option, const Look& look) {
  if (look.type != nullptr) option.type_name(look.type);
  if (look.default_text != nullptr) option.default_str(look.default_text);
  if (look.shows_default) option.capture_default_str();
  if (look.required) option.required();
  if (look.hidden) option.group("");
  if (look.needs != nullptr) option.needs(look.needs);
}

}  // namespace

void Command::flag(const std::string& names, bool& value, const std::string& help, const Look& look) {
  dress(*app_.add_flag(names, value, help), look);
}

namespace {

// "-pX", "-p", "--probe", "--probe=X".
bool is_given(const std::vector<std::string>& words, const std::string& names) {
  const std::size_t comma = names.find(',');
  const std::string letter = names.substr(0, comma), name = names.substr(comma + 1);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.substr(0, word.find('=')) == name || (word.starts_with(letter) && !word.starts_with("--"));
  });
}

}  // namespace

void Command::require_what_is_needed(const std::vector<std::string>& words) {
  for (const Requirement& requirement : requirements_) {
    requirement.option->required(!is_given(words, requirement.unless));
  }
}

// A variable of a script's that is empty: what would come of it is not what was meant.
std::string Command::complaint_about_empty(const std::string& names, const std::string& value, const Look& look) {
  if (!value.empty()) return "";
  return mistake_ = fmt::format("{}: want {}, not an empty word", names, look.type == nullptr ? "a value" : look.type);
}

void Command::option(const std::string& names, std::string& value, const std::string& help, const Look& look) {
  CLI::Option* const option = app_.add_option(names, value, help);
  dress(*option, look);
  option->check([this, names, look](const std::string& word) { return complaint_about_empty(names, word, look); });
  if (look.required_unless != nullptr) requirements_.push_back({option, look.required_unless});
}

void Command::option(const std::string& names, std::uint64_t& value, const std::string& help, const Look& look) {
  // The parser would take -3 for a very large number.
  const auto read = [this, names, &value](const CLI::results_t& texts) {
    if (read_number(texts.front(), value)) return true;
    mistake_ = fmt::format("{}: want a whole number, not '{}'", names, texts.front());
    return false;
  };
  dress(*app_.add_option(names, read, help)->expected(1), look);
}

void Command::option_or_flag(const std::string& name, bool& given, std::string& value, const std::string& help,
                             const Look& look) {
  // In place of a value that is not there the parser gives what the help says of it, or "{}".
  const std::string none = look.default_text == nullptr ? "{}" : look.default_text;
  const auto read = [&given, &value, none](const CLI::results_t& texts) {
    given = true;
    const bool has_value = !texts.empty() && !texts.front().empty() && texts.front() != none;
    if (has_value) value = texts.front();
    return true;
  };
  dress(*app_.add_option(name, read, help)->expected(0, 1), look);
}

void Command::repeated(const std::string& names, std::vector<std::string>& values, const std::string& help,
                       const Look& look) {
  CLI::Option* const option = app_.add_option(names, values, help)->allow_extra_args(false);
  dress(*option, look);
  option->check([this, names, look](const std::string& word) { return complaint_about_empty(names, word, look); });
}

void Command::list(const std::string& names, std::vector<std::string>& values, const std::string& help,
                   const Look& look) {
  dress(*app_.add_option(names, values, help)->delimiter(','), look);
}

void Command::repeated_list(const std::string& names, std::vector<std::string>& values, const std::string& help,
                            const Look& look) {
  dress(*app_.add_option(names, values, help)->delimiter(',')->allow_extra_args(false), look);
}

void Command::words(const std::string& name, std::vector<std::string>& values, const std::string& help,
                    const Look& look) {
  dress(*app_.add_option(name, values, help), look);
}

void Command::in_order(const std::string& names, std::function<void(const std::string&)> take, const std::string& help,
                       const Look& look) {
  const auto accept_for_now = [](const CLI::results_t&) { return true; };
  CLI::Option* const option = app_.add_option(names, accept_for_now, help);
  option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  dress(*option, look);
  takers_.push_back({option, std::move(take)});
}

void Command::takes_command(std::vector<std::string>& command, const std::string& usage, const char* missing) {
  command_ = &command;
  missing_ = missing;
  app_.prefix_command();
  app_.formatter(std::make_shared<HelpFormatter>(usage));
}

void Command::reads_config(const std::string& file) {
  app_.set_config("--config", file, "File with more of these options")->type_name("FILE");
  app_.allow_config_extras(CLI::config_extras_mode::error);
}

void Command::examples(const char* text) { app_.footer(text); }

void Command::hand_over_in_order() {
  std::map<const CLI::Option*, std::size_t> seen;
  for (const CLI::Option* const option : app_.parse_order()) {
    const auto taker = std::find_if(takers_.begin(), takers_.end(), [&](const Taker& t) { return t.option == option; });
    if (taker != takers_.end()) taker->take(option->results()[seen[option]++]);
  }
}

Result<void> Command::finish(const std::vector<std::string>* behind) {
  hand_over_in_order();
  if (command_ == nullptr) {
    if (behind != nullptr) return fail(EINVAL, complaint_about(behind->empty() ? "--" : behind->front()));
    return {};
  }
  *command_ = app_.remaining();
  if (!command_->empty() && command_->front().starts_with('-')) return fail(EINVAL, complaint_about(command_->front()));
  // CMD began before the separator, which then is CMD's own.
  if (!command_->empty() && behind != nullptr) command_->emplace_back("--");
  if (behind != nullptr) command_->insert(command_->end(), behind->begin(), behind->end());
  if (command_->empty() && missing_ != nullptr) return fail(EINVAL, missing_);
  return {};
}

std::string Command::complaint_about(const std::string& word) const {
  if (!word.starts_with('-')) return fmt::format("unexpected argument '{}'", word);
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* const option : app_.get_options()) {
    for (const std::string& long_name : option->get_lnames()) names.push_back("--" + long_name);
  }
  return fmt::format("unknown option '{}'{}", name, did_you_mean(name, names));
}

Program::Program(const std::string& name, const std::string& what, const std::string& version)
    : app_(std::make_unique<CLI::App>(what, name)), itself_(std::make_unique<Command>(*app_)) {
  app_->set_version_flag("--version", name + " " + version);
  app_->formatter(std::make_shared<HelpFormatter>());
}

Program::~Program() = default;

Command& Program::add(const std::string& name, const std::string& what) {
  app_->require_subcommand(1);
  commands_.push_back(std::make_unique<Command>(*app_->add_subcommand(name, what)));
  return *commands_.back();
}

// The first word that is no option names the command: no option of the program takes a value.
Command* Program::command_in(const std::vector<std::string>& words) const {
  const auto word = std::find_if(words.begin(), words.end(), [](const std::string& w) { return !w.starts_with('-'); });
  if (word == words.end()) return nullptr;
  const auto found = std::find_if(commands_.begin(), commands_.end(),
                                  [&](const auto& command) { return command->app_.get_name() == *word; });
  return found == commands_.end() ? nullptr : found->get();
}

std::string Program::complaint_about_command(const std::vector<std::string>& words) const {
  if (words.empty()) return "want a command";
  if (words.front().starts_with('-')) return itself_->complaint_about(words.front());
  std::vector<std::string> names;
  for (const auto& command : commands_) names.push_back(command->app_.get_name());
  return fmt::format("there is no command '{}'{}", words.front(), did_you_mean(words.front(), names));
}

std::string Program::helpful_command(int argc, const char* const* argv) const {
  const Command* const command = command_in(split(argc, argv).own);
  return command == nullptr ? app_->get_name() : app_->get_name() + " " + command->app_.get_name();
}

Result<std::function<int()>> Program::parse(int argc, const char* const* argv) {
  const CommandLine line = split(argc, argv);
  try {
    if (commands_.empty()) {
      std::vector<std::string> words = line.own;
      if (line.has_separator) words.emplace_back("--");
      words.insert(words.end(), line.behind.begin(), line.behind.end());
      app_->parse(from_the_end(words));
      LT_CHECK(itself_->finish(nullptr));
      return itself_->run_;
    }
    if (Command* const command = command_in(line.own)) command->require_what_is_needed(line.own);
    app_->parse(from_the_end(line.own));
  } catch (const CLI::Success& help) {
    return [this, help] { return app_->exit(help); };
  } catch (const CLI::ExtrasError& error) {
    const Command* const command = command_in(line.own);
    return fail(EINVAL, (command == nullptr ? *itself_ : *command).complaint_about(first_unexpected(error.what())));
  } catch (const CLI::ParseError& error) {
    Command* const command = commands_.empty() ? itself_.get() : command_in(line.own);
    if (command == nullptr) return fail(EINVAL, complaint_about_command(line.own));
    const std::string mistake = std::exchange(command->mistake_, "");
    return fail(EINVAL, mistake.empty() ? without_value(one_line(error.what())) : mistake);
  }
  const auto named =
      std::find_if(commands_.begin(), commands_.end(), [](const auto& command) { return command->app_.parsed(); });
  LT_CHECK((*named)->finish(line.has_separator ? &line.behind : nullptr));
  return (*named)->run_;
}

int Program::run(int argc, const char* const* argv) {
  const auto parsed = parse(argc, argv);
  if (!parsed) {
    return fail_with(kBadUse, fmt::format("{} (see {} --help)", parsed.error().message, helpful_command(argc, argv)));
  }
  return (*parsed)();
}

}  // namespace landtrace::cli
