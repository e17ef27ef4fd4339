// Names for whoever does not hold the domain: it is taken for each name that was not asked for before, and others get
// their turn.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <unordered_map>

#include "rules/domain_names.hpp"
#include "rules/histograms/keys.hpp"

namespace landtrace::rules {

class NamesInTurns final : public AddressNames {
 public:
  // Both must stay.
  NamesInTurns(Domain& domain, AddressNames& names) : domain_(domain), names_(names) {}

  std::string symbol(std::uint64_t address) override;
  std::string symbol_with_offset(std::uint64_t address) override;
  std::string frame(std::uint64_t address, bool is_first) override;

 private:
  using Known = std::unordered_map<std::uint64_t, std::string>;
  // Of each kind. A histogram's rows have the same functions again and again.
  static constexpr std::size_t kMostKnown = 65536;

  const std::string& look_up(Known& known, std::uint64_t address, const std::function<std::string()>& find);

  Domain& domain_;
  AddressNames& names_;
  Known symbols_;
  Known symbols_with_offset_;
  Known first_frames_;
  Known other_frames_;
  std::chrono::steady_clock::duration taken_{};  // since others had their turn for certain
};

}  // namespace landtrace::rules
