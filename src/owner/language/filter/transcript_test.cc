// The recorded answers of a real kernel, as far as this layer decides them: what is refused and how, what the `filter`
// files and the error log say, and which events pass. A small model stands in for the tree.
#include <gtest/gtest.h>

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <span>

#include "abi/validator.hpp"
#include "event/print.hpp"
#include "filter/evaluate.hpp"
#include "language/filter/compile.hpp"
#include "language/filter/text.hpp"
#include "support/transcript.hpp"

namespace landtrace::language {
namespace {

using Tokens = std::vector<std::string>;

// The reference had fewer CPUs than three, and wrote on the first.
constexpr std::uint32_t kCpus = 2;
constexpr char kComm[filter::kCommSize] = "conform";
constexpr filter::Context kContext{{60000, 0, 0, 4711}, 0, 4711, kComm};

std::string answer(int code) { return code == 0 ? "ok" : std::string("-") + strerrorname_np(code); }

struct Event {
  event::Declaration declaration;
  bool is_enabled = false;
  std::string filter_file = no_filter_text();
  std::optional<ProgramBuffer> program;
};

class Model {
 public:
  std::string reg(const std::string& handle, const std::string& text) {
    auto declaration = event::parse_declaration(text);
    if (!declaration) return answer(declaration.error().code);
    const std::string name = declaration->name;
    events_[name].declaration = *std::move(declaration);
    handles_[handle] = name;
    return fmt::format("ok index={}", handles_.size() - 1);
  }

  std::string set_filter(Event& event, std::string_view bytes) {
    const WrittenFilter written = read_written_filter(bytes);
    event.program.reset();
    event.filter_file = no_filter_text();
    if (written.clears) return "ok";
    auto program = compile_filter(written.expression, {event.declaration.fields, kCpus, nullptr});
    if (program) {
      event.program = *std::move(program);
      event.filter_file = filter_text(written.expression);
      return "ok";
    }
    fail(event, written.expression, program.error());
    return answer(program.error().code);
  }

  // What does not fit an event, for whatever reason, turns its filter off.
  std::string set_subsystem_filter(std::string_view bytes) {
    const WrittenFilter written = read_written_filter(bytes);
    for (auto& [name, event] : events_) {
      if (written.clears || filter_fits(written.expression, {event.declaration.fields, kCpus, nullptr})) {
        set_filter(event, bytes);
      } else {
        event.program.reset();
        fail(event, written.expression, kBadSubsystemFilter);
      }
    }
    return "ok";
  }

  std::string write(const std::string& handle, const std::string& payload) {
    const Event& event = events_.at(handles_.at(handle));
    if (!event.is_enabled) return answer(EBADF);
    const arch::Segment segment{payload.data(), payload.size()};
    if (!event.program || filter::passes(event.program->program(), kContext, &segment, 1)) {
      std::string line = event.declaration.name + ":";
      event::print_fields(line, event.declaration, std::as_bytes(std::span(payload)));
      trace_ += line + '\n';
    }
    return fmt::format("ok {}", payload.size() + sizeof(std::uint32_t));
  }

  Event* event(const std::string& name) {
    const auto found = events_.find(name);
    return found == events_.end() ? nullptr : &found->second;
  }
  std::string trace() const { return trace_.empty() ? "(empty)" : trace_; }
  std::string error_log() const { return error_log_.empty() ? "(empty)" : error_log_; }

 private:
  void fail(Event& event, const std::string& expression, const FilterFailure& failure) {
    event.filter_file = failed_filter_text(expression, failure);
    const FilterErrorParts parts = filter_error_parts(failure);
    error_log_ += fmt::format("[TS] {}: error: {}\n  Command: {}\n{}^\n", kFilterErrorLocation, parts.message,
                              expression, std::string(std::strlen("  Command: ") + parts.caret, ' '));
  }

  std::map<std::string, Event> events_;
  std::map<std::string, std::string> handles_;
  std::string trace_;
  std::string error_log_;
};

// EVENT of "events/user_events/EVENT/FILE".
Event* event_of_path(Model& model, const std::string& path, std::string_view file) {
  constexpr std::string_view kFolder = "events/user_events/";
  if (!path.starts_with(kFolder) || !path.ends_with(file)) return nullptr;
  if (path.size() < kFolder.size() + file.size()) return nullptr;
  return model.event(path.substr(kFolder.size(), path.size() - kFolder.size() - file.size()));
}

std::optional<std::string> put(Model& model, const std::string& path, const std::string& text) {
  if (path == "events/user_events/filter") return model.set_subsystem_filter(text + '\n');
  if (Event* event = event_of_path(model, path, "/filter")) return model.set_filter(*event, text + '\n');
  Event* event = event_of_path(model, path, "/enable");
  if (event == nullptr) return std::nullopt;
  event->is_enabled = text == "1";
  return "ok";
}

std::optional<std::string> cat(Model& model, const std::string& path) {
  if (path == "events/user_events/filter") return subsystem_filter_text();
  if (path == "error_log") return model.error_log();
  const Event* event = event_of_path(model, path, "/filter");
  return event == nullptr ? std::nullopt : std::optional(event->filter_file);
}

// nullopt for what the model has no part in.
std::optional<std::string> run(Model& model, const Tokens& command) {
  const std::string& verb = command[0];
  if (verb == "reg") return model.reg(command[1], support::unescape(command[2]));
  if (verb == "put") return put(model, command[1], support::unescape(command.at(2)));
  if (verb == "cat") return cat(model, command[1]);
  if (verb == "write") return model.write(command[1], support::payload_of(Tokens(command.begin() + 2, command.end())));
  if (verb == "trace" && command.size() == 1) return model.trace();
  return std::nullopt;
}

TEST(FilterTranscript, AnswersAsTheKernelDid) {
  const auto cases = support::read_transcript("linux-6.12/20-filter.txt");
  ASSERT_GT(cases.size(), 90u);
  int compared = 0;
  int skipped = 0;
  for (const auto& [name, steps] : cases) {
    SCOPED_TRACE(name);
    Model model;
    for (const support::Step& step : steps) {
      const auto got = run(model, step.command);
      if (!got) {
        ++skipped;
        continue;
      }
      ++compared;
      EXPECT_EQ(support::as_recorded(*got), step.output) << fmt::format("$ {}", fmt::join(step.command, " "));
    }
  }
  RecordProperty("steps", compared);
  RecordProperty("skipped", skipped);
  EXPECT_EQ(skipped, 0);
  EXPECT_GT(compared, 900);
}

}  // namespace
}  // namespace landtrace::language
