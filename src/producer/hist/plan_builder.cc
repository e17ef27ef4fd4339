#include "hist/plan_builder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace landtrace::hist {
namespace {

constexpr std::uint32_t round_up(std::uint32_t size, std::uint32_t unit) { return (size + unit - 1) / unit * unit; }

bool is_number_size(std::uint32_t size) { return size <= 8 && std::has_single_bit(size); }

std::uint32_t key_size_of(const Value& key) {
  switch (key.type) {
    case ValueType::kNumber:
      return 8;
    case ValueType::kStack:
      return kStackSize;
    case ValueType::kText:
      break;
  }
  if (key.origin == Origin::kComm) return kCommSize;
  return key.origin == Origin::kField ? round_up(key.size, 8) : kTextSize;
}

std::uint32_t key_size_of(const std::vector<Value>& keys) {
  std::uint32_t size = 0;
  for (const Value& key : keys) size += key_size_of(key);
  return size;
}

// -- checks -------------------------------------------------------------------------------------------------------
class Checker {
 public:
  explicit Checker(const PlanDescription& what) : what_(what) {}

  Result<void> check_all() {
    if (what_.elements < kMinElements || what_.elements > kMaxElements || !std::has_single_bit(what_.elements)) {
      return fail(EINVAL, "a histogram's size is a power of two from 128 to 1048576");
    }
    if (what_.keys.empty() || what_.keys.size() > kMaxKeys) return fail(EINVAL, "a histogram has one to three keys");
    if (what_.values.size() > kMaxValues || what_.variables.size() > kMaxVariables ||
        what_.references.size() > kMaxReferences || what_.actions.size() > kMaxActions) {
      return fail(E2BIG, "a histogram has too many values, variables, references or actions");
    }
    for (const Value& key : what_.keys) {
      if (key.origin == Origin::kVariable || key.origin == Origin::kReference) {
        return fail(EINVAL, "a key is no variable");
      }
      LT_CHECK(check(key, 0, false));
    }
    if (key_size_of(what_.keys) > kMaxKeySize) return fail(EINVAL, "the keys of a histogram are too large");
    for (const Value& value : what_.values) {
      if (value.type != ValueType::kNumber) return fail(EINVAL, "only numbers can be summed up");
      LT_CHECK(check(value, 0));
    }
    for (std::size_t i = 0; i < what_.variables.size(); ++i) LT_CHECK(check(what_.variables[i], i));
    for (const ActionDescription& action : what_.actions) LT_CHECK(check(action));
    return {};
  }

 private:
  // `variables`: how many of the own ones are computed by then.
  Result<void> check(const Value& value, std::size_t variables, bool has_references = true) {
    const bool is_number = value.type == ValueType::kNumber;
    if (is_number != (value.origin == Origin::kOps)) return fail(EINVAL, "numbers come from expressions");
    const std::size_t references = has_references ? what_.references.size() : 0;
    switch (value.origin) {
      case Origin::kOps:
        return check(value.ops, variables, references);
      case Origin::kReference:
        if (value.index >= references || what_.references[value.index].place.type != value.type) break;
        return {};
      case Origin::kVariable:
        if (value.index >= variables || what_.variables[value.index].type != value.type) break;
        return {};
      case Origin::kThread:
        if (value.type != ValueType::kStack) break;
        return {};
      case Origin::kField:
        if (value.type != ValueType::kText || value.size == 0 || value.size > kTextSize) break;
        return {};
      case Origin::kComm:
        if (value.type != ValueType::kText) break;
        return {};
      case Origin::kDataLoc:
      case Origin::kRelLoc:
        return {};
    }
    return fail(EINVAL, "a histogram's text or stack comes from where there is none");
  }

  Result<void> check(const Expression& ops, std::size_t variables, std::size_t references) {
    std::uint32_t depth = 0;
    for (const Op& op : ops) {
      bool is_good = true;
      switch (op.code) {
        case OpCode::kField:
          is_good = is_number_size(op.size);
          break;
        case OpCode::kHeader:
          is_good = is_number_size(op.size) && op.offset <= kEntryHeader && op.offset + op.size <= kEntryHeader;
          break;
        case OpCode::kReference:
          is_good = op.offset < references && what_.references[op.offset].place.type == ValueType::kNumber;
          break;
        case OpCode::kVariable:
          is_good = op.offset < variables && what_.variables[op.offset].type == ValueType::kNumber;
          break;
        case OpCode::kTimestamp:
          is_good = op.number != 0;
          break;
        case OpCode::kBucket:
          is_good = op.number != 0 && depth >= 1;
          break;
        case OpCode::kNegate:
        case OpCode::kLog2:
          is_good = depth >= 1;
          break;
        case OpCode::kAdd:
        case OpCode::kSubtract:
        case OpCode::kMultiply:
        case OpCode::kDivide:
          is_good = depth >= 2;
          --depth;
          break;
        case OpCode::kConstant:
        case OpCode::kCpu:
          break;
      }
      if (op.code <= OpCode::kVariable) ++depth;
      if (!is_good || depth > kMaxStack) return fail(EINVAL, "an expression that cannot be computed");
    }
    if (depth != 1) return fail(EINVAL, "an expression that is not one number");
    return {};
  }

  Result<void> check(const ActionDescription& action) {
    const std::size_t all = what_.variables.size();
    if (action.handler != Handler::kOnMatch) {
      if (action.tracked.type != ValueType::kNumber) return fail(EINVAL, "onmax and onchange look at numbers");
      LT_CHECK(check(action.tracked, all));
    }
    if (action.params.size() > kMaxParams) return fail(E2BIG, "an action has too many parameters");
    for (const ParamDescription& param : action.params) {
      LT_CHECK(check(param.value, all));
      if (action.deed == Deed::kTrace) LT_CHECK(check_field(param, action.fixed_size));
    }
    return {};
  }

  static Result<void> check_field(const ParamDescription& param, std::uint32_t fixed_size) {
    const bool is_number = param.value.type == ValueType::kNumber;
    const std::uint32_t size = param.is_dynamic ? 8 : param.size;
    const bool fits = param.at % 8 == 0 && param.at <= fixed_size && size <= fixed_size - param.at;
    const bool is_good = is_number ? !param.is_dynamic && is_number_size(param.size)
                                   : param.is_dynamic || (param.value.type == ValueType::kText && param.size > 0);
    if (!fits || !is_good) return fail(EINVAL, "a field that does not fit its synthetic event");
    return {};
  }

  const PlanDescription& what_;
};

std::uint32_t longest_payload(const ActionDescription& action) {
  std::uint32_t size = action.fixed_size;
  for (const ParamDescription& param : action.params) {
    if (param.is_dynamic) size += param.value.type == ValueType::kStack ? kStackSize + 8 : kTextSize;
  }
  return size;
}

// -- where things lie in an element -----------------------------------------------------------------------------
class Arranger {
 public:
  Shape arrange(const PlanDescription& what) {
    TableLayout& layout = shape_.layout;
    layout.elements = what.elements;
    for (const Value& key : what.keys) {
      shape_.key_sizes.push_back(key_size_of(key));
      layout.key_size += shape_.key_sizes.back();
    }
    layout.value_count = static_cast<std::uint32_t>(what.values.size());
    layout.variable_count = static_cast<std::uint32_t>(what.variables.size());
    layout.sets_at = layout.sums_at() + 8 * layout.value_count;
    for (const Value& variable : what.variables) shape_.variables.push_back(named(variable.type));
    for (const ActionDescription& action : what.actions) {
      shape_.actions.emplace_back();
      if (action.deed != Deed::kSave) continue;
      for (const ParamDescription& param : action.params) {
        shape_.actions.back().saved.push_back({param.value.type, {}, 0, 0});
      }
    }
    place_sets();
    place_numbers(what);
    if (what.has_comm) layout.comm_at = take(kCommSize);
    place_large(ValueType::kText, kTextSize);
    place_large(ValueType::kStack, kStackSize);
    layout.stride = round_up(end_, 64);
    const std::uint64_t slots = std::uint64_t{8} * layout.slots();
    layout.elements_at = sizeof(TableHeader) + slots;
    layout.bytes = layout.elements_at + std::uint64_t{layout.stride} * layout.elements;
    return std::move(shape_);
  }

 private:
  static Place named(ValueType type) { return {type, {}, 0, 0}; }
  std::uint32_t take(std::uint32_t size) {
    const std::uint32_t at = end_;
    end_ += size;
    return at;
  }

  void place_sets() {
    end_ = shape_.layout.sets_at;
    for (Place& place : shape_.variables) place.set_at = take(1);
    for (Shape::ActionPlace& action : shape_.actions) {
      if (action.saved.empty()) continue;
      action.saved_at = take(1);
      for (Place& place : action.saved) place.set_at = action.saved_at;
    }
    end_ = round_up(end_, 8);
  }

  void place_numbers(const PlanDescription& what) {
    for (Place& place : shape_.variables) place_number(place);
    for (std::size_t i = 0; i < shape_.actions.size(); ++i) {
      Shape::ActionPlace& action = shape_.actions[i];
      if (what.actions[i].handler != Handler::kOnMatch) action.tracked_at = take(8);
      if (what.actions[i].deed == Deed::kSnapshot) action.taken_at = take(8);
      for (Place& place : action.saved) place_number(place);
    }
  }
  void place_number(Place& place) {
    if (place.type == ValueType::kNumber) place.at = take(8);
  }

  void place_large(ValueType type, std::uint32_t size) {
    for (Place& place : shape_.variables) {
      if (place.type == type) place.at = take(size);
    }
    for (Shape::ActionPlace& action : shape_.actions) {
      for (Place& place : action.saved) {
        if (place.type == type) place.at = take(size);
      }
    }
  }

  Shape shape_;
  std::uint32_t end_ = 0;
};

// -- the bytes ----------------------------------------------------------------------------------------------------
class Writer {
 public:
  Writer(const PlanDescription& what, const Shape& shape, std::uint64_t table) : what_(what), shape_(shape) {
    plan_.table = table;
    plan_.layout = shape.layout;
    plan_.pause_cell = what.pause_cell;
    plan_.event_pause_cell = what.event_pause_cell;
  }

  std::vector<std::byte> write() {
    describe_keys_and_values();
    for (std::size_t i = 0; i < what_.actions.size(); ++i) describe(what_.actions[i], shape_.actions[i]);
    for (const ReferenceDescription& reference : what_.references) {
      references_.push_back({reference.table, reference.layout, reference.place, reference.once ? 1u : 0u});
    }
    bytes_.resize(sizeof plan_);
    plan_.key_count = append(keys_, plan_.keys);
    plan_.value_count = append(values_, plan_.values);
    plan_.variable_count = append(variables_, plan_.variables);
    plan_.reference_count = append(references_, plan_.references);
    plan_.action_count = append(actions_, plan_.actions);
    append(params_, plan_.params);
    append(ops_, plan_.ops);
    plan_.bytes = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &plan_, sizeof plan_);
    return std::move(bytes_);
  }

 private:
  void describe_keys_and_values() {
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < what_.keys.size(); ++i) {
      keys_.push_back({operand(what_.keys[i]), at, shape_.key_sizes[i]});
      at += shape_.key_sizes[i];
    }
    for (const Value& value : what_.values) values_.push_back(operand(value));
    for (std::size_t i = 0; i < what_.variables.size(); ++i) {
      variables_.push_back({operand(what_.variables[i]), shape_.variables[i], 0});
    }
  }

  void describe(const ActionDescription& action, const Shape::ActionPlace& place) {
    Action made{};
    made.handler = action.handler;
    made.deed = action.deed;
    made.param_count = static_cast<std::uint16_t>(action.params.size());
    made.params = static_cast<std::uint32_t>(params_.size());
    if (action.handler != Handler::kOnMatch) made.tracked = operand(action.tracked);
    made.tracked_at = place.tracked_at;
    made.taken_at = place.taken_at;
    made.saved_at = place.saved_at;
    made.target = action.target;
    made.fixed_size = action.fixed_size;
    made.max_size = longest_payload(action);
    actions_.push_back(made);
    for (std::size_t i = 0; i < action.params.size(); ++i) {
      const ParamDescription& param = action.params[i];
      const bool is_saved = action.deed == Deed::kSave;
      params_.push_back(
          {operand(param.value), is_saved ? place.saved[i].at : param.at, param.size, param.is_dynamic, {}});
    }
  }

  Operand operand(const Value& value) {
    Operand made{value.type, value.origin, 0, value.index, value.offset, value.size};
    switch (value.origin) {
      case Origin::kOps:
        made.index = static_cast<std::uint32_t>(ops_.size());
        made.size = static_cast<std::uint32_t>(value.ops.size());
        for (const Op& op : value.ops) {
          if (op.code == OpCode::kField) needs(op.offset + op.size);
        }
        ops_.insert(ops_.end(), value.ops.begin(), value.ops.end());
        break;
      case Origin::kField:
        needs(value.offset + value.size);
        break;
      case Origin::kDataLoc:
      case Origin::kRelLoc:
        needs(value.offset + 4);
        break;
      default:
        break;
    }
    return made;
  }
  void needs(std::uint32_t size) { plan_.min_size = std::max(plan_.min_size, size); }

  template <typename T>
  std::uint32_t append(const std::vector<T>& parts, std::uint32_t& offset) {
    offset = static_cast<std::uint32_t>(bytes_.size());
    const auto bytes = std::as_bytes(std::span(parts));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    return static_cast<std::uint32_t>(parts.size());
  }

  const PlanDescription& what_;
  const Shape& shape_;
  HistPlan plan_{};
  std::vector<Key> keys_;
  std::vector<Operand> values_;
  std::vector<Variable> variables_;
  std::vector<Reference> references_;
  std::vector<Action> actions_;
  std::vector<Param> params_;
  std::vector<Op> ops_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Result<Shape> shape_of(const PlanDescription& what) {
  LT_CHECK(Checker(what).check_all());
  for (const ActionDescription& action : what.actions) {
    if (action.deed == Deed::kTrace && longest_payload(action) > kMaxSyntheticPayload) {
      return fail(E2BIG, "a synthetic event that may be larger than a histogram can make it");
    }
  }
  return Arranger().arrange(what);
}

std::vector<std::byte> build(const PlanDescription& what, const Shape& shape, std::uint64_t table) {
  return Writer(what, shape, table).write();
}

}  // namespace landtrace::hist
