#include "rules/probe_plan.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "event/synthetic.hpp"
#include "plan/event_probe.hpp"
#include "plan/made_payload.hpp"

namespace landtrace::rules {
namespace {

// Before the values are the addresses of a return.
static_assert(language::kMaxProbeValues + 2 * sizeof(std::uint64_t) <= plan::kMaxEventProbeValues);

// What the arguments are taken from.
struct TakenFrom {
  bool is_synthetic = false;  // an event
  const ProbedPlace* place = nullptr;  // code
};

// Puts a plan::EventProbePlan together.
class PlanBytes {
 public:
  PlanBytes(const std::vector<language::ProbeArgument>& arguments, const event::Declaration& made,
            const TakenFrom& from)
      : from_(from), bytes_(sizeof(plan::EventProbePlan) + arguments.size() * sizeof(plan::EventProbeArg)) {
    plan_.arg_count = static_cast<std::uint32_t>(arguments.size());
    plan_.values_size = made.min_size;
    const std::size_t addresses = made.fields.size() - arguments.size();
    plan_.header = static_cast<std::uint32_t>(addresses * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const plan::EventProbeArg arg = argument(arguments[i], made.fields[addresses + i].offset - abi::kEntryHeaderSize);
      std::memcpy(bytes_.data() + sizeof plan_ + i * sizeof arg, &arg, sizeof arg);
    }
  }

  std::vector<std::byte> of_event(std::uint32_t slot) && {
    plan_.event = slot;
    std::memcpy(bytes_.data(), &plan_, sizeof plan_);
    return std::move(bytes_);
  }

 private:
  std::uint32_t append(const void* from, std::size_t size) {
    const auto at = static_cast<std::uint32_t>((bytes_.size() + 7) & ~std::size_t{7});
    bytes_.resize(at + size);
    if (size != 0) std::memcpy(bytes_.data() + at, from, size);
    return at;
  }

  plan::EventProbeArg argument(const language::ProbeArgument& from, std::uint32_t target) {
    const language::Fetch& fetch = from.fetch;
    plan::EventProbeArg arg{};
    arg.store = store_of(fetch.store);
    arg.size = static_cast<std::uint8_t>(from.type->size);
    arg.bits = fetch.bits;
    arg.first_bit = fetch.first_bit;
    arg.count = static_cast<std::uint8_t>(from.count);
    arg.target = target;
    arg.store_offset = fetch.store_offset;
    arg.steps = append(fetch.steps.data(), fetch.steps.size() * sizeof fetch.steps[0]);
    arg.step_count = static_cast<std::uint32_t>(fetch.steps.size());
    set_source(arg, fetch);
    return arg;
  }

  void set_source(plan::EventProbeArg& arg, const language::Fetch& fetch) {
    using Source = language::Fetch::Source;
    switch (fetch.source) {
      case Source::kSymbol:  // of an object that is not there yet
      case Source::kNumber:
        arg.source = plan::EventProbeSource::kNumber;
        arg.number = fetch.number;
        return;
      case Source::kComm:
        arg.source = plan::EventProbeSource::kComm;
        return;
      case Source::kText:
        arg.source = plan::EventProbeSource::kText;
        arg.at = append(fetch.text.c_str(), fetch.text.size() + 1);
        arg.number = fetch.text.size();
        return;
      case Source::kField:
        return set_field(arg, fetch.field, from_.is_synthetic);
      case Source::kRegister:
        return set_register(arg, fetch.reg);
      case Source::kStackWord:
        return set_stack_word(arg, fetch.number);
      case Source::kArgument:
        return set_argument(arg, fetch.number);
      case Source::kElapsed:
        arg.source = plan::EventProbeSource::kElapsed;
        return;
      case Source::kFileOffset:
        arg.source = plan::EventProbeSource::kPlace;
        arg.number = fetch.number - from_.place->offset;
        return;
      case Source::kOperand:
        return set_operand(arg, fetch.operand);
    }
  }

  static void set_register(plan::EventProbeArg& arg, std::uint32_t reg) {
    arg.source = plan::EventProbeSource::kRegister;
    arg.at = reg;
  }
  static void set_stack_word(plan::EventProbeArg& arg, std::uint64_t number) {
    arg.source = plan::EventProbeSource::kStackWord;
    arg.number = number;
  }
  // At a function's beginning. Where it returns, it is what was kept of the call.
  void set_argument(plan::EventProbeArg& arg, std::uint64_t index) const {
    if (from_.place->is_return) {
      arg.source = plan::EventProbeSource::kKept;
      arg.number = index;
      return;
    }
    constexpr std::array kInRegisters{plan::kRdi, plan::kRsi, plan::kRdx, plan::kRcx, plan::kR8, plan::kR9};
    if (index < kInRegisters.size()) return set_register(arg, kInRegisters[index]);
    set_stack_word(arg, index - kInRegisters.size() + 1);  // behind the return address
  }

  // What is narrower than the value is extended to it, so that it says the same as a wider type.
  static void set_operand(plan::EventProbeArg& arg, const language::UsdtOperand& operand) {
    using Kind = language::UsdtOperand::Kind;
    arg.number = static_cast<std::uint64_t>(operand.number);
    arg.is_signed = operand.is_signed ? 1 : 0;
    arg.source_size = operand.size;
    switch (operand.kind) {
      case Kind::kRegister:
        arg.source = plan::EventProbeSource::kPartOfRegister;
        arg.at = operand.base.value_or(plan::kRax);
        arg.number = operand.is_high ? 8 : 0;
        return;
      case Kind::kMemory:
        arg.source = plan::EventProbeSource::kLoad;
        arg.at = plan::operand_word(operand.is_from_place ? plan::kRip : operand.base.value_or(plan::kRegisters),
                                    operand.index.value_or(plan::kRegisters), operand.scale);
        return;
      case Kind::kAddress:
        arg.source = plan::EventProbeSource::kPlace;
        return;
      default:
        arg.source = plan::EventProbeSource::kNumber;
    }
  }

  static void set_field(plan::EventProbeArg& arg, const event::Field& field, bool of_synthetic) {
    arg.at = field.offset - abi::kEntryHeaderSize;
    // The kernel's char is unsigned, and so is what an event probe takes from a field of one byte.
    arg.is_signed = field.is_signed && field.size > 1 ? 1 : 0;
    arg.source_size = static_cast<std::uint8_t>(std::min<std::uint32_t>(field.size, sizeof(std::uint64_t)));
    switch (field.kind) {
      case event::FieldKind::kCharArray:
        arg.source = plan::EventProbeSource::kFieldText;
        arg.number = of_synthetic ? event::kSyntheticText : field.size;
        return;
      case event::FieldKind::kDataLocString:
        arg.source = plan::EventProbeSource::kDataLocText;
        return;
      case event::FieldKind::kRelLocString:
        arg.source = plan::EventProbeSource::kRelLocText;
        return;
      default:
        arg.source = plan::EventProbeSource::kField;
    }
  }

  static plan::EventProbeStore store_of(language::Fetch::Store store) {
    switch (store) {
      case language::Fetch::Store::kMemory:
        return plan::EventProbeStore::kMemory;
      case language::Fetch::Store::kText:
        return plan::EventProbeStore::kText;
      case language::Fetch::Store::kSymbolText:
        return plan::EventProbeStore::kSymbolText;
      case language::Fetch::Store::kValue:
        break;
    }
    return plan::EventProbeStore::kValue;
  }

  TakenFrom from_;
  plan::EventProbePlan plan_{};
  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> event_probe_plan(const std::vector<language::ProbeArgument>& arguments,
                                        const event::Declaration& made, bool of_synthetic, std::uint32_t slot) {
  return PlanBytes(arguments, made, {of_synthetic, 0}).of_event(slot);
}

std::vector<std::byte> function_probe_plan(const std::vector<language::ProbeArgument>& arguments,
                                           const event::Declaration& made, const ProbedPlace& place,
                                           std::uint32_t slot) {
  return PlanBytes(arguments, made, {false, &place}).of_event(slot);
}

}  // namespace landtrace::rules
