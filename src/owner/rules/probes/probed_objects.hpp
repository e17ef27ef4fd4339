// Answers a command's questions about objects, with the rights of who wrote it, and keeps what was found.
#pragma once

#include <optional>

#include "language/probe/function_probe.hpp"
#include "programs/object_files.hpp"
#include "programs/program_functions.hpp"

namespace landtrace::rules {

class CallersObjects final : public language::ProbedObjects {
 public:
  // `programs`: those of the domain.
  CallersObjects(programs::ObjectFiles& files, programs::ProgramFunctions& programs, const programs::Asker& asker)
      : files_(files), programs_(programs), asker_(asker) {}

  int check_file(std::string_view path) override;
  bool has_function(std::string_view path, std::string_view symbol, std::int64_t offset) override;
  int find_usdt(std::string_view path, std::string_view provider, std::string_view name,
                std::vector<language::UsdtPlace>& places) override;
  Answer look_up(std::string_view module, std::string_view symbol) override;

  // Of the question that was asked last.
  [[nodiscard]] const std::optional<programs::ObjectFile>& object() const { return object_; }
  [[nodiscard]] std::uint64_t function_offset() const { return function_offset_; }  // of its beginning, in the file

 private:
  programs::ObjectFiles& files_;
  programs::ProgramFunctions& programs_;
  programs::Asker asker_;
  std::optional<programs::ObjectFile> object_;
  std::uint64_t function_offset_ = 0;
};

}  // namespace landtrace::rules
