// A program that is run both ways, and whether that comes to the same.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "bpf_code/test_code_area.hpp"
#include "verifier/test_verify.hpp"

namespace landtrace::bpf_code {

using bpf::code::Code;

// As the owner publishes the program, and the code of it.
inline std::vector<std::byte> code_of(const bpf::TestProgram& program) {
  const bpf::Program& shared = program.program();
  return compile({{shared.instructions(), shared.instruction_count},
                  {shared.maps(), shared.map_count},
                  shared.frames,
                  shared.context});
}

// Both ways, each with maps of its own.
class Twins {
 public:
  explicit Twins(const std::vector<bpf_objects::MapWish>& wishes = verifier::test_wishes())
      : maps_{bpf::TestMaps(wishes), bpf::TestMaps(wishes)} {}

  // False: it is not compiled.
  bool take(const Code& code, std::uint32_t frames, bpf::Context context = bpf::Context::kEntry) {
    interpreted_.emplace(maps_[0].layouts, code, frames, context);
    compiled_.emplace(maps_[1].layouts, code, frames, context);
    const std::vector<std::byte> bytes = code_of(*compiled_);
    if (bytes.empty()) return false;
    area_.put(bytes);
    compiled_->use_code(area_.begin(), TestCodeArea::kAt);
    for (const auto& maps : maps_) maps.clear();
    return true;
  }
  // The same answers, or a text that says what differs. Of a run that has used up its instructions only that is asked.
  std::string difference(std::string_view event) {
    const std::span<char> payload = payload_.last(event.size());
    std::copy(event.begin(), event.end(), payload.begin());
    bpf::TestPlace places[2];
    const std::uint64_t one = interpreted_->run(maps_[0], places[0], {payload.data(), payload.size()});
    const std::uint64_t two = compiled_->run(maps_[1], places[1], {payload.data(), payload.size()});
    if (std::memcmp(&maps_[0].figures(), &maps_[1].figures(), sizeof(bpf::Figures)) != 0) {
      return "figures " + std::to_string(maps_[0].figures().faults) + "," +
             std::to_string(maps_[0].figures().exceeded) + " and " + std::to_string(maps_[1].figures().faults) + "," +
             std::to_string(maps_[1].figures().exceeded);
    }
    if (maps_[0].figures().exceeded != 0) return "";
    if (one != two) return "r0 is " + std::to_string(one) + " and " + std::to_string(two);
    const auto [there, here] =
        std::mismatch(maps_[0].bytes().begin(), maps_[0].bytes().end(), maps_[1].bytes().begin());
    if (there == maps_[0].bytes().end()) return "";
    const auto number = [](char byte) { return std::to_string(static_cast<unsigned char>(byte)); };
    return "maps differ at byte " + std::to_string(there - maps_[0].bytes().begin()) + ": " + number(*there) + " and " +
           number(*here);
  }
  std::uint64_t run(std::string_view event = {}) {
    bpf::TestPlace place;
    return compiled_->run(maps_[1], place, event);
  }
  // In both, as somebody leaves it there who writes to the memory itself.
  void spoil(std::uint64_t at, std::uint64_t word) {
    for (const auto& maps : maps_) std::memcpy(maps.data + at, &word, sizeof word);
  }
  [[nodiscard]] const bpf::MapLayout& map(std::size_t number) const { return maps_[0].layouts[number]; }
  [[nodiscard]] const bpf::Figures& figures() const { return maps_[1].figures(); }

 private:
  bpf::TestMaps maps_[2];
  std::optional<bpf::TestProgram> interpreted_, compiled_;
  TestCodeArea area_;
  TestPayload payload_;
};

}  // namespace landtrace::bpf_code
