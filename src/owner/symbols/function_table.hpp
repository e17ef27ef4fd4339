// The functions of an object, by address and by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "symbols/elf_file.hpp"

namespace landtrace::symbols {

struct AddressRange {
  std::uint64_t begin;
  std::uint64_t end;  // not part of it
};

class FunctionTable {
 public:
  FunctionTable() = default;
  explicit FunctionTable(ElfFile::SymbolSection section);

  struct Found {
    std::string_view name;  // as the linker has it
    std::uint64_t offset;   // of the address within the function
    bool is_certain;        // the function has a size; a label of assembler reaches to the next symbol
  };
  // The function that contains the address, which is an address in the file.
  [[nodiscard]] std::optional<Found> find(std::uint64_t address) const;
  // The range of the function that contains the address.
  [[nodiscard]] std::optional<AddressRange> holding(std::uint64_t address) const;
  // The ranges of functions whose linker name `fits`, by any of their names.
  [[nodiscard]] std::vector<AddressRange> named(const std::function<bool(std::string_view)>& fits) const;
  [[nodiscard]] bool empty() const { return functions_.empty(); }

 private:
  struct Function {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t name;
    bool has_size;
  };
  [[nodiscard]] const Function* function_at(std::uint64_t address) const;

  std::vector<Function> functions_;  // ascending, one for each beginning
  std::vector<Function> all_;        // of all names
  std::string names_;
};

}  // namespace landtrace::symbols
