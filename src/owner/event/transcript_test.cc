// The recorded answers of a real kernel, as far as this layer decides them: which declarations and payloads
// are accepted, and every text made from them. A small model stands in for the registry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <regex>
#include <span>
#include <sstream>

#include "abi/validator.hpp"
#include "event/declaration.hpp"
#include "event/print.hpp"
#include "support/transcript.hpp"

namespace landtrace::event {
namespace {

using Tokens = std::vector<std::string>;

// Every event of a case, and what each registration name (`reg NAME`) stands for.
class Model {
 public:
  // The answer to `reg`, without the index.
  std::string reg(const std::string& handle, const std::string& text) {
    const auto parts = split_declaration(text);
    if (!parts) return answer(parts.error().code);
    const std::string name(parts->name);
    if (const auto known = events_.find(name); known != events_.end()) {
      if (!declares_same_fields(known->second, parts->fields)) return answer(EADDRINUSE);
    } else {
      auto declaration = parse_declaration(text);
      if (!declaration) return answer(declaration.error().code);
      events_.emplace(name, *std::move(declaration));
      order_.push_back(name);
    }
    handles_[handle] = name;
    return "ok";
  }

  // The answer to a write of `payload`; what it prints is kept for trace().
  std::string write(const std::string& event_name, std::string_view payload) {
    const Declaration& event = events_.at(event_name);
    if (!enabled_) return answer(EBADF);
    if (payload.size() < event.min_size) return answer(EINVAL);
    const auto checks = dynamic_field_checks(event);
    const auto check_count = static_cast<std::uint32_t>(checks.size());
    const auto size = static_cast<std::uint32_t>(payload.size());
    if (!abi::payload_is_valid(checks.data(), check_count, abi::FlatPayload(payload.data()), size))
      return answer(EFAULT);
    std::string line = event.name + ":";
    print_fields(line, event, std::as_bytes(std::span(payload)));
    lines_.push_back(line);
    return fmt::format("ok {}", payload.size() + sizeof(std::uint32_t));
  }

  void enable() { enabled_ = true; }

  std::string dynamic_events() const {
    std::string out;
    for (const auto& name : order_) out += fmt::format("u:{} {}\n", name, fields_text(events_.at(name)));
    return out.empty() ? "(empty)" : out;
  }

  std::string format(const std::string& name) const {
    const auto found = events_.find(name);
    if (found == events_.end()) return "-ENOENT";
    return std::regex_replace(format_text(found->second, name, 60000), std::regex("ID: 60000"), "ID: <id>");
  }

  std::string trace() const {
    std::string out;
    for (const auto& line : lines_) out += line + '\n';
    return out.empty() ? "(empty)" : out;
  }

  const std::vector<std::string>& lines() const { return lines_; }

  // The event behind a registration name; nullptr when its registration was refused.
  const std::string* event_of(const std::string& handle) const {
    const auto found = handles_.find(handle);
    return found == handles_.end() ? nullptr : &found->second;
  }

 private:
  static std::string answer(int code) { return std::string("-") + strerrorname_np(code); }

  std::map<std::string, Declaration> events_;
  std::map<std::string, std::string> handles_;
  std::vector<std::string> order_;
  std::vector<std::string> lines_;
  bool enabled_ = false;
};

std::string without_index(const std::string& output) { return output.starts_with("ok index=") ? "ok" : output; }

// EVENT of "events/user_events/EVENT/FILE".
std::optional<std::string> event_of_path(const std::string& path, std::string_view file) {
  constexpr std::string_view kFolder = "events/user_events/";
  if (!path.starts_with(kFolder) || !path.ends_with(file)) return std::nullopt;
  return path.substr(kFolder.size(), path.size() - kFolder.size() - file.size());
}

// A write of raw bytes names its event by index; what other indexes answer is not this layer's business.
std::optional<std::string> raw_write(Model& model, const Tokens& tokens) {
  const std::string bytes = support::payload_of(tokens);
  const std::string* event = model.event_of("a");
  if (event == nullptr || !bytes.starts_with(std::string(4, '\0'))) return std::nullopt;
  return model.write(*event, std::string_view(bytes).substr(4));
}

std::string registered_write(Model& model, const std::string& handle, const Tokens& tokens) {
  const std::string* event = model.event_of(handle);
  return event == nullptr ? "(not registered)" : model.write(*event, support::payload_of(tokens));
}

// What the model answers to a step; nullopt where it has no part in the answer.
std::optional<std::string> run(Model& model, const Tokens& command) {
  const std::string& verb = command[0];
  if (verb == "reg") return model.reg(command[1], support::unescape(command[2]));
  if (verb == "write" || verb == "writev") {
    return registered_write(model, command[1], Tokens(command.begin() + 2, command.end()));
  }
  if (verb == "writeraw") return raw_write(model, Tokens(command.begin() + 2, command.end()));
  if (verb == "trace") return model.trace();
  if (verb == "cat" && command[1] == "dynamic_events") return model.dynamic_events();
  if (verb == "cat") {
    if (const auto event = event_of_path(command[1], "/format")) return model.format(*event);
  }
  if (verb == "put" && event_of_path(command[1], "/enable")) model.enable();
  return std::nullopt;
}

std::string with_empty_brackets(const std::string& text) {
  return std::regex_replace(text, std::regex("\\[\\d+\\];"), "[];");
}

class Transcript : public testing::TestWithParam<const char*> {
 protected:
  static std::string file() { return std::string("linux-6.12/") + GetParam(); }
};

using WholeTranscript = Transcript;

TEST_P(WholeTranscript, AnswersAsTheKernelDid) {
  const auto differences = support::read_expected_differences();
  const auto cases = support::read_transcript(file());
  ASSERT_FALSE(cases.empty());
  int compared = 0;
  for (const auto& [name, steps] : cases) {
    SCOPED_TRACE(name);
    const bool differs = differences.contains(std::string(GetParam()) + ":" + name);
    bool differed = false;
    Model model;
    for (const support::Step& step : steps) {
      const auto got = run(model, step.command);
      if (!got) continue;
      ++compared;
      const std::string want = without_index(step.output);
      differed |= support::as_recorded(*got) != want;
      EXPECT_EQ(support::as_recorded(*got), differs ? with_empty_brackets(want) : want)
          << fmt::format("$ {}", fmt::join(step.command, " "));
    }
    EXPECT_EQ(differed, differs) << "expected-differences.txt is out of date";
  }
  EXPECT_GT(compared, 30);
}

INSTANTIATE_TEST_SUITE_P(Linux612, WholeTranscript, testing::Values("10-register.txt", "11-match.txt", "14-write.txt"));

using FilterTranscript = Transcript;

// A filter lets some of the events through: what it lets through must be printed as we print it.
TEST_P(FilterTranscript, EveryPrintedLineIsOneOfOurs) {
  int compared = 0;
  for (const auto& [name, steps] : support::read_transcript(file())) {
    SCOPED_TRACE(name);
    Model model;
    for (const support::Step& step : steps) {
      const auto got = run(model, step.command);
      if (step.command[0] != "trace") continue;
      if (step.output == "(empty)") continue;
      std::istringstream lines(step.output);
      for (std::string line; std::getline(lines, line); ++compared) {
        EXPECT_THAT(model.lines(), testing::Contains(testing::ResultOf(support::as_recorded, line)));
      }
    }
  }
  EXPECT_GT(compared, 100);
}

INSTANTIATE_TEST_SUITE_P(Linux612, FilterTranscript, testing::Values("20-filter.txt"));

}  // namespace
}  // namespace landtrace::event
