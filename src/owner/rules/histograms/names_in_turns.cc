#include "rules/histograms/names_in_turns.hpp"

#include <thread>

#include "domain/turn.hpp"

namespace landtrace::rules {
namespace {

// Whoever waits for the domain has it before the thread that gave it up takes it again.
constexpr std::chrono::milliseconds kOthersTurn(1);

}  // namespace

const std::string& NamesInTurns::look_up(Known& known, std::uint64_t address,
                                         const std::function<std::string()>& find) {
  if (const auto found = known.find(address); found != known.end()) return found->second;
  if (known.size() >= kMostKnown) known.clear();
  std::string& name = known[address];
  {
    const auto access = domain_.enter();
    const auto begin = std::chrono::steady_clock::now();
    name = find();
    taken_ += std::chrono::steady_clock::now() - begin;
  }
  if (taken_ >= domain::Turn::kLength) {
    taken_ = {};
    std::this_thread::sleep_for(kOthersTurn);
  }
  return name;
}

std::string NamesInTurns::symbol(std::uint64_t address) {
  return look_up(symbols_, address, [&] { return names_.symbol(address); });
}

std::string NamesInTurns::symbol_with_offset(std::uint64_t address) {
  return look_up(symbols_with_offset_, address, [&] { return names_.symbol_with_offset(address); });
}

std::string NamesInTurns::frame(std::uint64_t address, bool is_first) {
  return look_up(is_first ? first_frames_ : other_frames_, address, [&] { return names_.frame(address, is_first); });
}

}  // namespace landtrace::rules
