#include "code/sweep.hpp"

#include <algorithm>

namespace landtrace::code {
namespace {

constexpr std::size_t kMaxBases = 4096;        // of tables, in a function
constexpr std::uint64_t kMaxCases = 1u << 16;  // of a switch
constexpr unsigned kCompareReaches = 24;       // instructions from a comparison to the jump by a table

// What is kept of the function that is being looked at.
struct Current {
  Function* function = nullptr;
  std::vector<std::uint64_t> bases;   // data whose address it takes: tables of distances from there
  std::vector<std::uint64_t> tables;  // of addresses, [index * 8 + table]
  std::size_t jumps = 0;              // through a register or with an index
  std::uint64_t cases = 0;            // as many as the largest comparison before such a jump lets pass
  std::uint64_t compared = 0;
  unsigned since_compare = kCompareReaches;

  void start(Function* next) {
    *this = {.function = next, .bases = std::move(bases), .tables = std::move(tables)};
    bases.clear();
    tables.clear();
  }
};

class Sweep {
 public:
  Sweep(const symbols::ElfFile& file, const Image& image, bool is_fixed, Targets& targets)
      : image_(image),
        is_fixed_(is_fixed),
        targets_(targets),
        code_(file, image),
        data_(file, image),
        // A table's entries are not looked at more often than a sound file needs.
        budget_(file.size()) {}

  void range(const symbols::AddressRange& range, Functions& functions) {
    const std::span<Function> all = functions.all();
    auto next = std::lower_bound(all.begin(), all.end(), range.begin,
                                 [](const Function& function, std::uint64_t at) { return function.begin < at; });
    for (std::uint64_t at = range.begin; at < range.end;) {
      const bool begins = next != all.end() && next->begin == at;
      if (begins || (current_.function != nullptr && at >= current_.function->end)) finish();
      if (begins) current_.start(&*next++);
      // Decoding starts anew where a function begins, whatever lies before it.
      const std::uint64_t limit = next == all.end() ? range.end : std::min(range.end, next->begin);
      const auto instruction = decode(code_.at(at, kLongestInstruction));
      if (instruction) note(*instruction, at);
      at = std::min(at + (instruction ? instruction->length : 1), limit);
    }
    finish();
  }

 private:
  void note(const Instruction& instruction, std::uint64_t at) {
    const std::uint64_t behind = at + instruction.length;
    const std::uint64_t target = behind + static_cast<std::uint64_t>(instruction.distance);
    ++current_.since_compare;
    switch (instruction.flow) {
      case Flow::kJump:
      case Flow::kCondition:
      case Flow::kCounter:
        targets_.add_jump(target);
        return;
      case Flow::kCall:
        targets_.add_call(target);
        return;
      case Flow::kJumpIndirect:
        note_jump(instruction);
        break;
      default:
        break;
    }
    if (instruction.has_table) keep(current_.tables, instruction.table);
    if (instruction.is_relative_lea) note_address(target);
    if (instruction.is_compare) {
      current_.compared = instruction.immediate;
      current_.since_compare = 0;
    }
    if (is_fixed_ && instruction.has_immediate) targets_.add_call(instruction.immediate);
  }

  void note_jump(const Instruction& instruction) {
    if (instruction.has_relative_memory) return;  // through a pointer, as to another object's function
    // [register + distance] is a method of an object, or a label that the object's data knows.
    if (instruction.is_memory && !instruction.is_indexed) return;
    ++current_.jumps;
    if (current_.since_compare < kCompareReaches && current_.compared < kMaxCases)
      current_.cases = std::max(current_.cases, current_.compared + 1);
  }

  void note_address(std::uint64_t address) {
    if (image_.is_code(address)) {
      targets_.add_call(address);
    } else {
      keep(current_.bases, address);
    }
  }

  static void keep(std::vector<std::uint64_t>& list, std::uint64_t address) {
    if (list.size() < kMaxBases) list.push_back(address);
  }

  void finish() {
    if (current_.jumps != 0) {
      const std::size_t read = read_tables();
      if (current_.function != nullptr) current_.function->jumps_unseen = current_.jumps > read;
    }
    current_.start(nullptr);
  }

  // How many tables there are.
  std::size_t read_tables() {
    std::size_t found = 0;
    for (auto* const list : {&current_.bases, &current_.tables}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    for (const std::uint64_t base : current_.bases)
      found += read_table<std::int32_t>(
          base, [&](std::int32_t entry) { return base + static_cast<std::uint64_t>(std::int64_t{entry}); });
    for (const std::uint64_t table : current_.tables)
      found += read_table<std::uint64_t>(table, [](std::uint64_t entry) { return entry; });
    return found;
  }

  // As far as entries lie in the function, or where a comparison lets so many pass, in code.
  template <typename Entry, typename Target>
  bool read_table(std::uint64_t address, const Target& target_of) {
    std::uint64_t count = 0;
    Entry entry;
    for (; count < kMaxCases && budget_ != 0 && data_.read(address + count * sizeof entry, entry); ++count, --budget_) {
      const std::uint64_t target = target_of(entry);
      const Function* const function = current_.function;
      const bool is_own = function != nullptr && function->begin <= target && target < function->end;
      if (!is_own && !(count < current_.cases && image_.is_code(target))) break;
      targets_.add_jump(target);
    }
    return count != 0;
  }

  const Image& image_;
  bool is_fixed_;
  Targets& targets_;
  Reader code_;
  Reader data_;
  std::uint64_t budget_;
  Current current_;
};

// Where code may be: sections of code, else the functions alone. Ascending, in segments of code, without overlaps.
std::vector<symbols::AddressRange> ranges_of(const symbols::ElfFile& file, const Image& image,
                                             const Functions& functions) {
  std::vector<symbols::AddressRange> ranges;
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    for (const Segment& segment : image.segments()) {
      const symbols::AddressRange part{std::max(begin, segment.begin), std::min(end, segment.end)};
      if (segment.is_code && part.begin < part.end) ranges.push_back(part);
    }
  };
  for (const Elf64_Shdr& section : file.sections()) {
    const bool is_code = section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR) != 0;
    if (is_code && section.sh_size <= ~0ull - section.sh_addr) add(section.sh_addr, section.sh_addr + section.sh_size);
  }
  for (const Function& function : functions.all()) add(function.begin, function.end);
  std::sort(ranges.begin(), ranges.end(),
            [](const symbols::AddressRange& a, const symbols::AddressRange& b) { return a.begin < b.begin; });
  std::vector<symbols::AddressRange> merged;
  for (const symbols::AddressRange& range : ranges) {
    if (merged.empty() || range.begin > merged.back().end) {
      merged.push_back(range);
    } else {
      merged.back().end = std::max(merged.back().end, range.end);
    }
  }
  return merged;
}

}  // namespace

void sweep(const symbols::ElfFile& file, const Image& image, bool is_fixed, Functions& functions, Targets& targets) {
  Sweep sweep(file, image, is_fixed, targets);
  for (const symbols::AddressRange& range : ranges_of(file, image, functions)) sweep.range(range, functions);
}

}  // namespace landtrace::code
