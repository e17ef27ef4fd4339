// Answers a command's questions about objects, with the rights of who wrote it, and keeps what was found.
#pragma once

#include <optional>

#include "language/probe/function_probe.hpp"
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
  int find_usdt(std::string_view path, std::string_view provider, std::string_view name,
                std::vector<language::UsdtPlace>& places) override;
  Answer look_up(std::string_view module, std::string_view symbol) override;
  [[nodiscard]] bool are_to_come() const override { return of_ == Of::kOlderOwner; }
  language::AllNamedFetches find_names(std::int64_t offset, bool is_return,
                                       const std::vector<std::string>& expressions) override;
  std::string why_no_function(std::string_view path, std::string_view symbol) override;
  tl::expected<language::LinePlace, std::string> find_line(std::string_view path, std::string_view file,
                                                           unsigned line) override;

  // A source line may begin at several places. find_line() answers with this one of them.
  [[nodiscard]] std::size_t places() const { return lines_ ? lines_->places.offsets.size() : 1; }
  void choose_place(std::size_t place) { chosen_ = place; }

  // Of the question that was asked last.
  [[nodiscard]] const std::optional<programs::ObjectFile>& object() const { return object_; }
  [[nodiscard]] std::uint64_t function_offset() const { return function_offset_; }  // of its beginning, in the file

 private:
  Answer look_up_in_programs(std::string_view symbol);

  programs::ObjectFiles& files_;
  programs::ProgramFunctions& programs_;
  programs::Asker asker_;
  Of of_;
  std::optional<programs::ObjectFile> object_;
  std::uint64_t function_offset_ = 0;
  std::optional<programs::ObjectFiles::Lines> lines_;
  std::size_t chosen_ = 0;
};

}  // namespace landtrace::rules
