#include "code/analysis.hpp"

#include <fcntl.h>

#include <algorithm>
#include <tuple>

#include "code/caller_sensitive.hpp"
#include "code/choices.hpp"
#include "code/relocation.hpp"
#include "code/sweep.hpp"

namespace landtrace::code {

using agent::Recipe;
using agent::Refusal;
using agent::Way;

namespace {

// A function is looked through from its beginning to see whether a place begins an instruction: no longer than this.
constexpr std::uint64_t kMaxLookedThrough = 64u << 20;
// Of a function, where padding is looked for behind it.
constexpr std::uint64_t kMostBeforePadding = 64u << 10;

// More functions have few objects; all would be some megabytes.
constexpr std::size_t kMostRecipes = 1 << 14;

// Both vendors promise that a store within 8 aligned bytes is seen at once or not at all; see recipe.hpp.
bool in_one_word(std::uint64_t address, std::uint32_t size) { return (address & 7) + size <= 8; }

// A shorter jump may do.
bool is_about_room(Refusal refusal) {
  return refusal == Refusal::kTooShort || refusal == Refusal::kJumpTarget || refusal == Refusal::kMayBeJumpTarget;
}

Recipe refused(Refusal refusal) {
  Recipe recipe{};
  recipe.way = Way::kRefused;
  recipe.refusal = refusal;
  return recipe;
}

std::string_view kind_of_machine(std::uint16_t machine) {
  switch (machine) {
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "POWER";
    case EM_S390:
      return "s390x";
    default:
      return "another machine";
  }
}

}  // namespace

// What a jump at a place displaces.
struct Analysis::Displaced {
  std::uint32_t place = 0;  // so far behind the jump's beginning
  std::uint32_t jump_size = 0;
  std::uint32_t size = 0;
  unsigned executed = 0;    // instructions, as far as execution gets
  std::uint32_t first = 0;  // bytes of the first one
  bool has_more = false;    // instructions of the function behind the first one begin in the jump's bytes
  bool never_comes_back = false;
};

Analysis::Analysis(Object object)
    : file_(std::move(object.file)), image_(std::move(object.image)), functions_(std::move(object.functions)) {}

Result<Analysis> Analysis::open(const std::string& path, const std::string& debug_folder) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return fail_errno(path);
  return open(std::move(fd), path, debug_folder);
}

Result<Analysis> Analysis::open(Fd fd, const std::string& path, const std::string& debug_folder) {
  LT_TRY(Object object, open_object(std::move(fd), path, debug_folder));
  return open(std::move(object), path);
}

Result<Analysis> Analysis::open(Object object, const std::string& path) {
  if (const std::uint16_t machine = object.file->header().e_machine; machine != EM_X86_64)
    return fail(ENOTSUP,
                "its code is for " + std::string(kind_of_machine(machine)) + ", and probes are for x86-64 only yet");
  const auto& segments = object.image->segments();
  if (std::none_of(segments.begin(), segments.end(), [](const Segment& segment) { return segment.is_code; }))
    return fail(EBADMSG, "it has no code");
  const std::vector<Frame> frames = std::move(object.frames);
  Analysis analysis(std::move(object));
  analysis.is_own_object_ = path.substr(path.rfind('/') + 1).starts_with("liblandtrace-");
  analysis.look_at_everything(frames);
  return analysis;
}

void Analysis::look_at_everything(const std::vector<Frame>& frames) {
  reader_ = std::make_unique<Reader>(*file_, *image_);
  targets_ = std::make_unique<Targets>(*image_);
  build_id_ = file_->build_id();
  const bool is_fixed = file_->header().e_type == ET_EXEC;
  Reader reader(*file_, *image_);
  add_known_to_data(reader, *image_, is_fixed, *targets_);
  targets_->add_call(file_->header().e_entry);
  std::vector<std::uint64_t> pads;
  // Each is a record of 4 bytes or more in the file.
  std::size_t budget = file_->size() / 4;
  for (const Frame& frame : frames) read_landing_pads(reader, frame, budget, pads);
  for (const std::uint64_t pad : pads) targets_->add_jump(pad);
  sweep(*file_, *image_, is_fixed, *functions_, *targets_);
  // Only what is called or has a name of its own has the stack and the registers of a call.
  for (Function& function : functions_->all()) {
    if (function.names == 0 && !targets_->called(function.begin)) function.is_part = true;
  }
}

const Function* Analysis::function_at(std::uint64_t offset) const {
  const Segment* const segment = image_->code_at_offset(offset);
  return segment == nullptr ? nullptr : functions_->holding(segment->begin + (offset - segment->offset));
}

std::optional<std::int64_t> Analysis::distance(std::uint64_t from, std::uint64_t to) const {
  const Segment* const code = image_->code_at_offset(from);
  if (code == nullptr) return std::nullopt;
  for (const Segment& data : image_->segments()) {
    if (!data.is_writable || to < data.offset || to - data.offset >= data.end - data.begin) continue;
    const std::uint64_t begin = code->begin + (from - code->offset);
    return static_cast<std::int64_t>(data.begin + (to - data.offset) - begin);
  }
  return std::nullopt;
}

bool Analysis::is_own(const Function& function) const {
  if (is_own_object_) return true;
  const auto names = functions_->names(function);
  return std::any_of(names.begin(), names.end(), [](std::string_view name) {
    return name.starts_with("_ZN9landtrace") || name.starts_with("_ZNK9landtrace");
  });
}

bool Analysis::begins_instruction(const Function& function, std::uint64_t address) {
  if (address - function.begin > kMaxLookedThrough) return false;
  std::uint64_t at = function.begin;
  while (at < address) {
    const auto instruction = decode(reader_->at(at, kLongestInstruction));
    if (!instruction) return false;
    at += instruction->length;
  }
  return at == address;
}

Refusal Analysis::refusal_of(const Function* function, std::uint64_t address) {
  if (function == nullptr) return Refusal::kNoCode;
  if (function->is_signal) return Refusal::kSignalFrame;
  if (is_own(*function)) return Refusal::kOwnCode;
  return begins_instruction(*function, address) ? Refusal::kNone : Refusal::kNoCode;
}

// Nothing that belongs to a function: what linkers and assemblers fill up with.
bool Analysis::is_padding(Bytes bytes, std::uint64_t address, std::size_t& size) const {
  if (bytes.empty()) return false;
  size = 1;
  const bool is_filler = bytes[0] == 0xcc || bytes[0] == 0;
  if (const auto instruction = is_filler ? std::nullopt : decode(bytes))
    size = instruction->is_nop ? instruction->length : 0;
  return size != 0 && (is_filler || bytes[0] != 0) && address + size <= functions_->next_begin(address - 1) &&
         functions_->holding(address) == nullptr;
}

Refusal Analysis::find_room(const Function& function, std::uint64_t address, std::uint32_t jump_size, Recipe& recipe,
                            Displaced& displaced) {
  recipe = {};
  Displaced begin;
  begin.place = displaced.place;
  begin.jump_size = jump_size;
  displaced = begin;
  const Refusal refusal = displace(function, address, recipe, displaced);
  return refusal == Refusal::kNone ? jump_refusal(function, address, displaced) : refusal;
}

// For a short jump to padding. Where there is none either, it stays refused as it was.
Refusal Analysis::find_less_room(const Function& function, std::uint64_t address, Refusal refusal, Recipe& recipe,
                                 Displaced& displaced) {
  const auto spring = find_spring(address);
  if (!spring) return refusal;
  if (find_room(function, address, agent::kShortJumpSize, recipe, displaced) != Refusal::kNone) return refusal;
  recipe.spring = static_cast<std::int16_t>(*spring - address);
  const Bytes padding = reader_->at(*spring, agent::kJumpSize);
  std::copy(padding.begin(), padding.end(), recipe.padding);
  return Refusal::kNone;
}

// For a jump that begins some instructions before the place, and ends with it or behind it. Where that does not do
// either, it stays refused as it was.
Refusal Analysis::find_room_before(const Function& function, std::uint64_t address, Refusal refusal, Recipe& recipe,
                                   Displaced& displaced) {
  if (address - function.begin > kMaxLookedThrough) return refusal;
  std::vector<std::uint64_t> starts;
  for (std::uint64_t at = function.begin; at < address;) {
    if (at + agent::kMaxDisplaced > address) starts.push_back(at);
    const auto instruction = decode(reader_->at(at, kLongestInstruction));
    if (!instruction) return refusal;
    // The place is reached by way of the instructions before it, and by no other. Calls return to where they were.
    const bool calls = instruction->flow == Flow::kCall || instruction->flow == Flow::kCallIndirect;
    if (calls || never_comes_back(*instruction)) starts.clear();
    at += instruction->length;
  }
  for (auto start = starts.rbegin(); start != starts.rend(); ++start) {
    displaced.place = static_cast<std::uint32_t>(address - *start);
    if (find_room(function, *start, agent::kJumpSize, recipe, displaced) == Refusal::kNone) return Refusal::kNone;
  }
  return refusal;
}

// Padding in front of a function, so near that a short jump at the address reaches it.
std::optional<std::uint64_t> Analysis::find_spring(std::uint64_t address) {
  constexpr std::uint64_t kBack = 128 - agent::kShortJumpSize;
  constexpr std::uint64_t kOn = 127 + agent::kShortJumpSize;
  const std::span<const Function> all = functions_->all();
  auto next = std::upper_bound(all.begin(), all.end(), address - std::min(address, kBack),
                               [](std::uint64_t at, const Function& function) { return at < function.begin; });
  const auto distance_of = [address](std::uint64_t at) { return at < address ? address - at : at - address; };
  std::optional<std::uint64_t> best;
  for (; next != all.end() && next != all.begin() && next->begin <= address + kOn + agent::kJumpSize; ++next) {
    std::uint64_t begin = padding_between(*std::prev(next), next->begin);
    // By one store, as it may be changed when a thread is on its way through it.
    while (!in_one_word(begin, agent::kJumpSize)) ++begin;
    const bool is_near = begin + kBack >= address && begin <= address + kOn;
    const bool has_room = begin + agent::kJumpSize <= next->begin;
    if (has_room && is_near && (!best || distance_of(begin) < distance_of(*best))) best = begin;
  }
  return best;
}

// Where the padding in front of `end` begins, at which the next function does; `end`: there is none. It stands behind
// an instruction that goes elsewhere always, nothing jumps into it, and it is nothing but fillers.
std::uint64_t Analysis::padding_between(const Function& before, std::uint64_t end) {
  if (before.jumps_unseen || end - before.begin > kMostBeforePadding) return end;
  std::uint64_t padding = end;
  for (std::uint64_t at = before.begin; at < end;) {
    const Bytes bytes = reader_->at(at, kLongestInstruction);
    const bool is_filler = padding != end && !bytes.empty() && (bytes[0] == 0xcc || bytes[0] == 0);
    const auto instruction = is_filler || bytes.empty() ? std::nullopt : decode(bytes);
    if (!is_filler && (!instruction || at + instruction->length > end)) return end;
    const std::uint64_t next = at + (is_filler ? 1 : instruction->length);
    if (!is_filler && !instruction->is_nop) padding = end;
    for (; at < next; ++at) {
      if (targets_->jumped_to(at)) padding = end;
    }
    if (!is_filler && never_comes_back(*instruction)) padding = next;
  }
  return padding;
}

// Fills in the copy of the whole instructions that begin in the jump's bytes.
Refusal Analysis::displace(const Function& function, std::uint64_t address, Recipe& recipe, Displaced& displaced) {
  std::uint8_t code[agent::kMaxDisplaced + kLongestInstruction]{};
  const Bytes read = reader_->at(address, sizeof code);
  std::copy(read.begin(), read.end(), code);
  const Bytes bytes(code, read.size());
  while (displaced.size < displaced.jump_size || (displaced.place != 0 && displaced.size <= displaced.place)) {
    if (displaced.size >= agent::kMaxDisplaced) return Refusal::kJumpTarget;
    const std::uint64_t at = address + displaced.size;
    const Bytes rest = bytes.subspan(std::min<std::size_t>(displaced.size, bytes.size()));
    const bool is_behind = at >= function.end;
    if (is_behind && displaced.never_comes_back) {
      std::size_t size = 0;
      if (!is_padding(rest, at, size)) return Refusal::kTooShort;
      displaced.size += static_cast<std::uint32_t>(size);
      continue;
    }
    const auto instruction = decode(rest);
    if (is_behind && !(instruction && instruction->is_nop)) return Refusal::kTooShort;
    if (!instruction || (!is_behind && at + instruction->length > function.end)) return Refusal::kUnknown;
    if (displaced.size != 0) displaced.has_more = true;
    if (displaced.size == displaced.place) recipe.lead = static_cast<std::uint8_t>(displaced.place);
    if (!displaced.never_comes_back) {
      if (displaced.size < agent::kMaxDisplaced) recipe.copy_at[displaced.size] = recipe.copy_size;
      if (!append_moved(recipe, *instruction, rest, displaced.size)) return Refusal::kUnknown;
      const bool calls = instruction->flow == Flow::kCall || instruction->flow == Flow::kCallIndirect;
      if (calls && displaced.size + instruction->length < displaced.jump_size) return Refusal::kJumpTarget;
      displaced.never_comes_back = never_comes_back(*instruction);
      if (displaced.executed++ == 0) displaced.first = instruction->length;
    }
    displaced.size += instruction->length;
  }
  return displaced.size <= agent::kMaxDisplaced ? Refusal::kNone : Refusal::kJumpTarget;
}

Refusal Analysis::jump_refusal(const Function& function, std::uint64_t address, const Displaced& displaced) const {
  const std::uint64_t end = address + std::max(displaced.jump_size, displaced.place + 1);
  for (std::uint64_t at = address + 1; at < end; ++at) {
    if (targets_->jumped_to(at)) return Refusal::kJumpTarget;
  }
  if (functions_->next_begin(address) < address + displaced.jump_size) return Refusal::kJumpTarget;
  // No table leads into a function's first instructions that does not show otherwise: compilers put a prologue there.
  const bool may_be = function.jumps_unseen && displaced.has_more && address != function.begin;
  return may_be ? Refusal::kMayBeJumpTarget : Refusal::kNone;
}

std::vector<std::uint64_t> Analysis::choices(const Function& chooser) const {
  std::vector<std::uint64_t> places = choices_of(*reader_, *functions_, chooser);
  for (std::uint64_t& place : places) place = offset_of(place);
  return places;
}

Recipe Analysis::recipe(std::uint64_t offset) {
  if (const auto known = recipes_.find(offset); known != recipes_.end()) return known->second;
  if (recipes_.size() == kMostRecipes) recipes_.clear();
  return recipes_[offset] = find_recipe(offset);
}

void Analysis::learn_recipes() {
  if (functions().size() > kMostRecipes) return;
  for (const Function& function : functions()) std::ignore = recipe(offset_of(function));
}

Recipe Analysis::find_recipe(std::uint64_t offset) {
  const Segment* const segment = image_->code_at_offset(offset);
  if (segment == nullptr) return refused(Refusal::kNoCode);
  const std::uint64_t address = segment->begin + (offset - segment->offset);
  const Function* const function = functions_->holding(address);
  if (const Refusal refusal = refusal_of(function, address); refusal != Refusal::kNone) return refused(refusal);
  Recipe recipe{};
  Displaced displaced;
  Refusal refusal = find_room(*function, address, agent::kJumpSize, recipe, displaced);
  if (is_about_room(refusal)) refusal = find_less_room(*function, address, refusal, recipe, displaced);
  if (refusal != Refusal::kNone) {
    refusal = find_room_before(*function, address, refusal, recipe, displaced);
    if (refusal != Refusal::kNone) return refused(refusal);
  }

  const bool at_entry = address == function->begin && !function->is_part;
  recipe.displaced = static_cast<std::uint8_t>(displaced.size);
  recipe.flags = static_cast<std::uint8_t>((at_entry ? agent::kAtEntry : 0) |
                                           (displaced.never_comes_back ? agent::kNeverComesBack : 0));
  recipe.refusal = return_refusal_of(*function, address);
  // Where one instruction alone is executed, no thread can stand behind its beginning.
  const std::uint64_t jump = address - recipe.lead;
  recipe.way = !in_one_word(jump, displaced.jump_size) ? Way::kAlone
               : displaced.executed == 1               ? Way::kOneStore
                                                       : Way::kQuiet;
  const Bytes bytes = reader_->at(jump, sizeof recipe.expected);
  std::copy(bytes.begin(), bytes.end(), recipe.expected);
  return recipe;
}

Refusal Analysis::return_refusal(std::uint64_t offset) {
  const Segment* const segment = image_->code_at_offset(offset);
  const Function* const function = function_at(offset);
  if (segment == nullptr || function == nullptr) return Refusal::kNoCode;
  return return_refusal_of(*function, segment->begin + (offset - segment->offset));
}

Refusal Analysis::return_refusal_of(const Function& function, std::uint64_t address) {
  if (function.is_signal) return Refusal::kSignalFrame;
  if (is_own(function)) return Refusal::kOwnCode;
  const auto names = functions_->names(function);
  const bool is_start = function.begin == file_->header().e_entry && file_->header().e_entry != 0;
  const bool is_bare =
      function.has_no_return_address || is_start || std::any_of(names.begin(), names.end(), has_no_return_address);
  if (is_bare) return Refusal::kNoReturnAddress;
  if (address != function.begin || function.is_part) return Refusal::kNotAnEntry;
  const bool sees = std::any_of(names.begin(), names.end(), sees_its_caller) || reads_return_address(function);
  return sees ? Refusal::kSeesItsCaller : Refusal::kNone;
}

// Does it read its return address, or take it off the stack, before its first branch? That finds setjmp and its like
// under any name.
bool Analysis::reads_return_address(const Function& function) {
  std::int64_t depth = 0;  // bytes that it has pushed
  std::uint64_t at = function.begin;
  for (int count = 0; count < 64 && at < function.end; ++count) {
    const auto instruction = decode(reader_->at(at, kLongestInstruction));
    if (!instruction || instruction->flow != Flow::kNext) return false;
    switch (instruction->stack) {
      case StackUse::kPush:
        depth += 8;
        break;
      case StackUse::kSubtract:
        depth += instruction->stack_distance;
        break;
      case StackUse::kPop:
        if (depth == 0) return true;
        depth -= 8;
        break;
      case StackUse::kRead:
        if (depth == instruction->stack_distance) return true;
        break;
      case StackUse::kOther:
        return false;
      case StackUse::kNone:
        break;
    }
    at += instruction->length;
  }
  return false;
}

}  // namespace landtrace::code
