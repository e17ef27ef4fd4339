// The functions of an object by address.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "symbols/elf_file.hpp"

namespace landtrace::symbols {

class FunctionTable {
 public:
  FunctionTable() = default;
  explicit FunctionTable(ElfFile::SymbolSection section);

  struct Found {
    std::string_view name;  // as the linker has it
    std::uint64_t offset;   // of the address within the function
    bool is_certain;        // the function has a size; labels of assembler reach to whatever comes next
  };
  // The function that holds the address, which counts as addresses in the file do.
  [[nodiscard]] std::optional<Found> find(std::uint64_t address) const;
  [[nodiscard]] bool empty() const { return functions_.empty(); }

 private:
  struct Function {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t name;
    bool has_size;
  };
  std::vector<Function> functions_;  // ascending, one for each beginning
  std::string names_;
};

}  // namespace landtrace::symbols
