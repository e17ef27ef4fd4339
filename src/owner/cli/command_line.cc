#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "cli/failure.hpp"

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
  line.own.assign(argv + 1, separator);
  line.has_separator = separator != end;
  if (line.has_separator) line.behind.assign(separator + 1, end);
  return line;
}

tl::unexpected<Error> unexpected(const std::string& word) {
  const char* const kind = word.starts_with('-') ? "unknown option" : "unexpected argument";
  return fail(EINVAL, fmt::format("{} '{}'", kind, word));
}

// The parser would not mention the CMD that follows.
class FormatterWithUsage : public CLI::Formatter {
 public:
  explicit FormatterWithUsage(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n\n"; }

 private:
  std::string usage_;
};

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

void Command::option(const std::string& names, std::string& value, const std::string& help, const Look& look) {
  dress(*app_.add_option(names, value, help), look);
}

void Command::option(const std::string& names, std::uint64_t& value, const std::string& help, const Look& look) {
  dress(*app_.add_option(names, value, help), look);
}

void Command::repeated(const std::string& names, std::vector<std::string>& values, const std::string& help,
                       const Look& look) {
  dress(*app_.add_option(names, values, help)->allow_extra_args(false), look);
}

void Command::list(const std::string& names, std::vector<std::string>& values, const std::string& help,
                   const Look& look) {
  dress(*app_.add_option(names, values, help)->delimiter(','), look);
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
  app_.formatter(std::make_shared<FormatterWithUsage>(usage));
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
    if (behind != nullptr) return unexpected(behind->empty() ? "--" : behind->front());
    return {};
  }
  *command_ = app_.remaining();
  if (!command_->empty() && command_->front().starts_with('-')) return unexpected(command_->front());
  // CMD began before the separator, which then is CMD's own.
  if (!command_->empty() && behind != nullptr) command_->emplace_back("--");
  if (behind != nullptr) command_->insert(command_->end(), behind->begin(), behind->end());
  if (command_->empty() && missing_ != nullptr) return fail(EINVAL, missing_);
  return {};
}

Program::Program(const std::string& name, const std::string& what, const std::string& version)
    : app_(std::make_unique<CLI::App>(what, name)), itself_(std::make_unique<Command>(*app_)) {
  app_->set_version_flag("--version", name + " " + version);
}

Program::~Program() = default;

Command& Program::add(const std::string& name, const std::string& what) {
  app_->require_subcommand(1);
  commands_.push_back(std::make_unique<Command>(*app_->add_subcommand(name, what)));
  return *commands_.back();
}

Result<std::function<int()>> Program::parse(int argc, const char* const* argv) {
  const CommandLine line = split(argc, argv);
  try {
    if (commands_.empty()) {
      app_->parse(argc, argv);
      LT_CHECK(itself_->finish(nullptr));
      return itself_->run_;
    }
    app_->parse(std::vector<std::string>(line.own.rbegin(), line.own.rend()));  // the parser takes them from the end
  } catch (const CLI::Success& help) {
    return [this, help] { return app_->exit(help); };
  } catch (const CLI::ParseError& error) {
    return fail(EINVAL, one_line(error.what()));
  }
  const auto named =
      std::find_if(commands_.begin(), commands_.end(), [](const auto& command) { return command->app_.parsed(); });
  LT_CHECK((*named)->finish(line.has_separator ? &line.behind : nullptr));
  return (*named)->run_;
}

int Program::run(int argc, const char* const* argv) {
  const auto parsed = parse(argc, argv);
  if (!parsed) return fail_with(kBadUse, fmt::format("{} (see {} --help)", parsed.error().message, app_->get_name()));
  return (*parsed)();
}

}  // namespace landtrace::cli
