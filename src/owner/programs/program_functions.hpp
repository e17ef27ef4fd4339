// Where the functions of a domain's programs are, for filters with FIELD.function: by /proc/PID/maps and the programs' own
// symbols.
//
// Only programs of the owner's own user are looked at. The files of others are not opened: the owner may be root, and theirs may
// be anywhere.
#pragma once

#include <set>

#include "filter/functions.hpp"
#include "symbols/symbols.hpp"

namespace landtrace::programs {

class ProgramFunctions : public filter::FunctionResolver {
 public:
  explicit ProgramFunctions(std::uint32_t owner_uid) : owner_uid_(owner_uid) {}

  // A program that has to do with the domain. It is forgotten some time after it has ended.
  void add(std::uint32_t pid);

  std::vector<filter::FunctionRange> named(std::string_view name) override;
  std::vector<filter::FunctionRange> holding(std::uint64_t address) override;
  // The function that holds the address in some program that is there.
  std::optional<symbols::Function> at(std::uint64_t address);

 private:
  struct Object {
    std::string path;  // that the owner can open it by
    std::string build_id;
    std::uint64_t begin;  // of what is mapped
    std::uint64_t end;
    std::uint64_t bias;  // from addresses in the file to those in the process
  };
  using Find = std::function<void(const Object& object, std::vector<symbols::AddressRange>& found)>;
  std::vector<filter::FunctionRange> find_in_all(const Find& find);
  [[nodiscard]] bool is_ours(std::uint32_t pid) const;
  void forget_ended();

  std::uint32_t owner_uid_;
  std::set<std::uint32_t> programs_;
  std::size_t look_at_ = 256;  // how many there are when it is time to see which have ended
  symbols::Symbols symbols_;
};

}  // namespace landtrace::programs
