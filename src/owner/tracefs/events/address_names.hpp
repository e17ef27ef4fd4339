// Names for addresses that histograms show: functions of running programs, and for frames of stacks also the objects
// that were noted with them.
#pragma once

#include <optional>
#include <vector>

#include "domain/segment_names.hpp"
#include "programs/program_functions.hpp"
#include "rules/histograms/rows.hpp"
#include "symbols/symbols.hpp"
#include "unwind/object_table.hpp"

namespace landtrace::tracefs {

class ProducerNames : public rules::AddressNames {
 public:
  ProducerNames(const domain::Users& users, programs::ProgramFunctions& functions)
      : users_(users), functions_(functions) {}

  std::string symbol(std::uint64_t address) override;
  std::string symbol_with_offset(std::uint64_t address) override;
  std::string frame(std::uint64_t address, bool is_first) override;

 private:
  // In a program that runs, or in one of the objects that were noted.
  std::optional<symbols::Function> function_at(std::uint64_t address);
  struct NotedObject : unwind::MappedObject {
    bool may_be_opened;
  };
  // A histogram does not know which process an address is from: of several objects at that address the newest is taken.
  const NotedObject* object_at(std::uint64_t address);
  // nullopt, too, for one that may not be opened.
  std::optional<symbols::Function> function_in(const NotedObject& object, std::uint64_t address, bool is_first);
  void learn_objects();

  const domain::Users& users_;
  programs::ProgramFunctions& functions_;
  symbols::Symbols symbols_;
  std::optional<std::vector<NotedObject>> objects_;
};

}  // namespace landtrace::tracefs
