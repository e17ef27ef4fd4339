// Function names for addresses in objects that were mapped at some time, from their files as they are now. A file
// that was replaced since has another build id and is not used.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "symbols/function_table.hpp"

namespace landtrace::symbols {

// A linker name as GNU's demangler writes it, without a version; other names as they are. So is one whose text would
// have more than 32,768 bytes: a name of a hostile file, too, takes some MB and milliseconds at most. The C++ library's
// own function has no limit: 200 letters can stand for gigabytes, and others be read for years.
std::string demangle(std::string_view name);

struct Function {
  std::string name;  // demangled
  std::uint64_t offset = 0;
};

// Not thread-safe.
class Symbols {
 public:
  // Where separate debug files are, by build id.
  explicit Symbols(std::string debug_folder = "/usr/lib/debug") : debug_folder_(std::move(debug_folder)) {}

  // The function to which a call at `address` returns, or that a signal interrupted there; of a stack's `first` address
  // also one that begins there, in which no call returns: a probe was hit. Names come from .symtab,
  // else from a separate debug file, else from .dynsym. An object without a build id is taken for the file of that
  // name, if the file has none either.
  std::optional<Function> find(const std::string& path, const std::string& build_id, std::uint64_t address,
                               bool is_first = false);

  // The ranges of functions of that name: the linker's name, or a C++ function's without its parameters.
  std::vector<AddressRange> named(const std::string& path, const std::string& build_id, std::string_view name);
  // The range of the function that contains the address.
  std::optional<AddressRange> holding(const std::string& path, const std::string& build_id, std::uint64_t address) {
    return table_of(path, build_id).holding(address);
  }

 private:
  static constexpr std::size_t kMaxObjects = 1024;

  const FunctionTable& table_of(const std::string& path, const std::string& build_id);
  [[nodiscard]] FunctionTable load(const std::string& path, const std::string& build_id) const;

  std::string debug_folder_;
  std::map<std::pair<std::string, std::string>, FunctionTable>
      tables_;  // by path ("" if there is a build id) and build id
};

}  // namespace landtrace::symbols
