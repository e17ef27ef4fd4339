// Answers a command's questions about objects, with the rights of who wrote it, and keeps what was found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "language/probe/probe_pattern.hpp"
#include "programs/object_files.hpp"
#include "programs/program_functions.hpp"

namespace landtrace::rules {

class CallersObjects final : public language::ProbedObjects {
 public:
  enum class Of : std::uint8_t { kNow, kOlderOwner };
  // `programs`: those of the domain. What an older owner took has been looked at then.
  CallersObjects(programs::ObjectFiles& files, programs::ProgramFunctions& programs, const programs::Asker& asker,
                 Of of = Of::kNow)
      : files_(files), programs_(programs), asker_(asker), of_(of) {}

  int check_file(std::string_view path) override;
  bool has_function(std::string_view path, std::string_view symbol, std::int64_t offset) override;
  Result<void> find_matching(std::string_view path, std::string_view pattern, bool is_return) override;
  int find_usdt(std::string_view path, std::string_view provider, std::string_view name,
                std::vector<language::UsdtPlace>& places) override;
  Answer look_up(std::string_view module, std::string_view symbol) override;
  [[nodiscard]] bool are_to_come() const override { return of_ == Of::kOlderOwner; }
  language::AllNamedFetches find_names(std::int64_t offset, bool is_return,
                                       const std::vector<std::string>& expressions) override;
  std::string why_no_function(std::string_view path, std::string_view symbol) override;
  tl::expected<language::LinePlace, std::string> find_line(std::string_view path, std::string_view file,
                                                           unsigned line) override;

  // The functions that a pattern means, an event each. Questions about them are answered from these then. ENOENT and so
  // on with a sentence where there are none; without one: there is no such object.
  Result<programs::FunctionSpots> find_each(const language::ProbePattern& pattern);

  // A source line may begin at several places. find_line() answers with this one of them.
  [[nodiscard]] std::size_t places() const { return lines_ ? lines_->places.offsets.size() : 1; }
  void choose_place(std::size_t place) { chosen_ = place; }

  // Of the question that was asked last.
  [[nodiscard]] const std::optional<programs::ObjectFile>& object() const { return object_; }
  // Where the function begins, in the file: an ifunc at all that it may choose, a pattern at all functions that fit it.
  // None: it is waited for.
  [[nodiscard]] const std::vector<std::uint64_t>& offsets() const { return offsets_; }
  // What fits the pattern and cannot be probed, for a person; "": nothing.
  [[nodiscard]] const std::string& left_out() const { return left_out_; }

 private:
  Answer look_up_in_programs(std::string_view symbol);
  bool find(const std::string& file, std::string_view symbol, std::int64_t offset);
  void take(const programs::FunctionSpot& spot);
  Result<programs::FunctionSpots> find_all(const std::string& file, const std::string& pattern, bool are_returns,
                                           programs::Named named);

  programs::ObjectFiles& files_;
  programs::ProgramFunctions& programs_;
  programs::Asker asker_;
  Of of_;
  std::optional<programs::ObjectFile> object_;
  std::vector<std::uint64_t> offsets_;
  std::string left_out_;
  std::string why_;  // has_function() said no, if there is more to say than that there is none
  std::optional<programs::ObjectFiles::Lines> lines_;
  std::size_t chosen_ = 0;
  // Of find_each(): by name.
  std::string known_as_;
  std::optional<programs::ObjectFile> known_object_;
  std::map<std::string, programs::FunctionSpot, std::less<>> known_;
};

}  // namespace landtrace::rules
