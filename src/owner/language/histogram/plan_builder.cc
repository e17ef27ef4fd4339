#include "language/histogram/plan_builder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "abi/entry.hpp"

namespace landtrace::language {
namespace {

constexpr std::uint32_t round_up(std::uint32_t size, std::uint32_t unit) { return (size + unit - 1) / unit * unit; }

bool is_word_size(std::uint32_t size) { return size <= 8 && std::has_single_bit(size); }

std::uint32_t key_size_of(const HistValue& key) {
  switch (key.type) {
    case hist::ValueType::kNumber:
      return 8;
    case hist::ValueType::kStack:
      return hist::kStackSize;
    case hist::ValueType::kText:
      break;
  }
  if (key.origin == hist::Origin::kComm) return hist::kCommSize;
  return key.origin == hist::Origin::kField ? round_up(key.size, 8) : hist::kTextSize;
}

std::uint32_t key_size_of(const std::vector<HistValue>& keys) {
  std::uint32_t size = 0;
  for (const HistValue& key : keys) size += key_size_of(key);
  return size;
}

// -- checks -------------------------------------------------------------------------------------------------------
class Checker {
 public:
  explicit Checker(const HistPlanDescription& what) : what_(what) {}

  Result<void> check_all() {
    if (what_.elements < hist::kMinElements || what_.elements > hist::kMaxElements ||
        !std::has_single_bit(what_.elements)) {
      return fail(EINVAL, "a histogram's size is a power of two from 128 to 1048576");
    }
    if (what_.keys.empty() || what_.keys.size() > hist::kMaxKeys)
      return fail(EINVAL, "a histogram has one to three keys");
    if (what_.values.size() > hist::kMaxValues || what_.variables.size() > hist::kMaxVariables ||
        what_.references.size() > hist::kMaxReferences || what_.actions.size() > hist::kMaxActions) {
      return fail(E2BIG, "a histogram has too many values, variables, references or actions");
    }
    for (const HistValue& key : what_.keys) {
      if (key.origin == hist::Origin::kVariable || key.origin == hist::Origin::kReference) {
        return fail(EINVAL, "a key is no variable");
      }
      LT_CHECK(check(key, 0, false));
    }
    if (key_size_of(what_.keys) > hist::kMaxKeySize) return fail(EINVAL, "the keys of a histogram are too large");
    for (const HistValue& value : what_.values) {
      if (value.type != hist::ValueType::kNumber) return fail(EINVAL, "only numbers can be summed up");
      LT_CHECK(check(value, 0));
    }
    for (std::size_t i = 0; i < what_.variables.size(); ++i) LT_CHECK(check(what_.variables[i], i));
    for (const HistActionDescription& action : what_.actions) LT_CHECK(check(action));
    return {};
  }

 private:
  // `variables`: how many of the own ones are computed by then.
  Result<void> check(const HistValue& value, std::size_t variables, bool has_references = true) {
    const bool is_number = value.type == hist::ValueType::kNumber;
    if (is_number != (value.origin == hist::Origin::kOps)) return fail(EINVAL, "numbers come from expressions");
    const std::size_t references = has_references ? what_.references.size() : 0;
    switch (value.origin) {
      case hist::Origin::kOps:
        return check(value.ops, variables, references);
      case hist::Origin::kReference:
        if (value.index >= references || what_.references[value.index].place.type != value.type) break;
        return {};
      case hist::Origin::kVariable:
        if (value.index >= variables || what_.variables[value.index].type != value.type) break;
        return {};
      case hist::Origin::kThread:
        if (value.type != hist::ValueType::kStack) break;
        return {};
      case hist::Origin::kField:
        if (value.type != hist::ValueType::kText || value.size == 0 || value.size > hist::kTextSize) break;
        return {};
      case hist::Origin::kComm:
        if (value.type != hist::ValueType::kText) break;
        return {};
      case hist::Origin::kDataLoc:
      case hist::Origin::kRelLoc:
        return {};
    }
    return fail(EINVAL, "a histogram's text or stack comes from where there is none");
  }

  Result<void> check(const HistExpression& ops, std::size_t variables, std::size_t references) {
    std::uint32_t depth = 0;
    for (const hist::Op& op : ops) {
      bool is_good = true;
      switch (op.code) {
        case hist::OpCode::kField:
          is_good = is_word_size(op.size);
          break;
        case hist::OpCode::kHeader:
          is_good = is_word_size(op.size) && op.offset <= abi::kEntryHeaderSize &&
                    op.offset + op.size <= abi::kEntryHeaderSize;
          break;
        case hist::OpCode::kReference:
          is_good = op.offset < references && what_.references[op.offset].place.type == hist::ValueType::kNumber;
          break;
        case hist::OpCode::kVariable:
          is_good = op.offset < variables && what_.variables[op.offset].type == hist::ValueType::kNumber;
          break;
        case hist::OpCode::kTimestamp:
          is_good = op.number != 0;
          break;
        case hist::OpCode::kBucket:
          is_good = op.number != 0 && depth >= 1;
          break;
        case hist::OpCode::kLog2:
          is_good = op.number < 63 && depth >= 1;
          break;
        case hist::OpCode::kNegate:
          is_good = depth >= 1;
          break;
        case hist::OpCode::kAdd:
        case hist::OpCode::kSubtract:
        case hist::OpCode::kMultiply:
        case hist::OpCode::kDivide:
          is_good = depth >= 2;
          --depth;
          break;
        case hist::OpCode::kConstant:
        case hist::OpCode::kCpu:
          break;
      }
      if (op.code <= hist::OpCode::kVariable) ++depth;
      if (!is_good || depth > hist::kMaxStack) return fail(EINVAL, "an expression that cannot be computed");
    }
    if (depth != 1) return fail(EINVAL, "an expression that is not one number");
    return {};
  }

  Result<void> check(const HistActionDescription& action) {
    const std::size_t all = what_.variables.size();
    if (action.handler != hist::Handler::kOnMatch) {
      if (action.tracked.type != hist::ValueType::kNumber) return fail(EINVAL, "onmax and onchange look at numbers");
      LT_CHECK(check(action.tracked, all));
    }
    if (action.params.size() > hist::kMaxParams) return fail(E2BIG, "an action has too many parameters");
    for (const HistParamDescription& param : action.params) {
      LT_CHECK(check(param.value, all));
      if (action.deed == hist::Deed::kTrace) LT_CHECK(check_field(param, action.fixed_size));
    }
    return {};
  }

  static Result<void> check_field(const HistParamDescription& param, std::uint32_t fixed_size) {
    const bool is_number = param.value.type == hist::ValueType::kNumber;
    const std::uint32_t size = param.is_dynamic ? 8 : param.size;
    const bool fits = param.at % 8 == 0 && param.at <= fixed_size && size <= fixed_size - param.at;
    const bool is_good = is_number ? !param.is_dynamic && is_word_size(param.size)
                                   : param.is_dynamic || (param.value.type == hist::ValueType::kText && param.size > 0);
    if (!fits || !is_good) return fail(EINVAL, "a field that does not fit its synthetic event");
    return {};
  }

  const HistPlanDescription& what_;
};

std::uint32_t longest_payload(const HistActionDescription& action) {
  std::uint32_t size = action.fixed_size;
  for (const HistParamDescription& param : action.params) {
    if (param.is_dynamic) size += param.value.type == hist::ValueType::kStack ? hist::kStackSize + 8 : hist::kTextSize;
  }
  return size;
}

// -- where things lie in an element -----------------------------------------------------------------------------
class Arranger {
 public:
  TableShape arrange(const HistPlanDescription& what) {
    hist::TableLayout& layout = shape_.layout;
    layout.elements = what.elements;
    for (const HistValue& key : what.keys) {
      shape_.key_sizes.push_back(key_size_of(key));
      layout.key_size += shape_.key_sizes.back();
    }
    layout.value_count = static_cast<std::uint32_t>(what.values.size());
    layout.variable_count = static_cast<std::uint32_t>(what.variables.size());
    layout.sets_at = layout.sums_at() + 8 * layout.value_count;
    for (const HistValue& variable : what.variables) shape_.variables.push_back(named(variable.type));
    for (const HistActionDescription& action : what.actions) {
      shape_.actions.emplace_back();
      if (action.deed != hist::Deed::kSave) continue;
      for (const HistParamDescription& param : action.params) {
        shape_.actions.back().saved.push_back({param.value.type, {}, 0, 0});
      }
    }
    place_sets();
    place_numbers(what);
    if (what.has_comm) layout.comm_at = take(hist::kCommSize);
    place_large(hist::ValueType::kText, hist::kTextSize);
    place_large(hist::ValueType::kStack, hist::kStackSize);
    layout.stride = round_up(end_, 64);
    const std::uint64_t slots = std::uint64_t{8} * layout.slots();
    layout.elements_at = sizeof(hist::TableHeader) + slots;
    layout.bytes = layout.elements_at + std::uint64_t{layout.stride} * layout.elements;
    return std::move(shape_);
  }

 private:
  static hist::Place named(hist::ValueType type) { return {type, {}, 0, 0}; }
  std::uint32_t take(std::uint32_t size) {
    const std::uint32_t at = end_;
    end_ += size;
    return at;
  }

  void place_sets() {
    end_ = shape_.layout.sets_at;
    for (hist::Place& place : shape_.variables) place.set_at = take(1);
    for (TableShape::ActionPlace& action : shape_.actions) {
      if (action.saved.empty()) continue;
      action.saved_at = take(1);
      for (hist::Place& place : action.saved) place.set_at = action.saved_at;
    }
    end_ = round_up(end_, 8);
  }

  void place_numbers(const HistPlanDescription& what) {
    for (hist::Place& place : shape_.variables) place_number(place);
    for (std::size_t i = 0; i < shape_.actions.size(); ++i) {
      TableShape::ActionPlace& action = shape_.actions[i];
      if (what.actions[i].handler != hist::Handler::kOnMatch) action.tracked_at = take(8);
      if (what.actions[i].deed == hist::Deed::kSnapshot) action.taken_at = take(8);
      for (hist::Place& place : action.saved) place_number(place);
    }
  }
  void place_number(hist::Place& place) {
    if (place.type == hist::ValueType::kNumber) place.at = take(8);
  }

  void place_large(hist::ValueType type, std::uint32_t size) {
    for (hist::Place& place : shape_.variables) {
      if (place.type == type) place.at = take(size);
    }
    for (TableShape::ActionPlace& action : shape_.actions) {
      for (hist::Place& place : action.saved) {
        if (place.type == type) place.at = take(size);
      }
    }
  }

  TableShape shape_;
  std::uint32_t end_ = 0;
};

// -- the bytes ----------------------------------------------------------------------------------------------------
class Writer {
 public:
  Writer(const HistPlanDescription& what, const TableShape& shape, std::uint64_t table) : what_(what), shape_(shape) {
    plan_.table = table;
    plan_.layout = shape.layout;
    plan_.pause_cell = what.pause_cell;
    plan_.event_pause_cell = what.event_pause_cell;
  }

  std::vector<std::byte> write() {
    describe_keys_and_values();
    for (std::size_t i = 0; i < what_.actions.size(); ++i) describe(what_.actions[i], shape_.actions[i]);
    for (const HistReferenceDescription& reference : what_.references) {
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
    plan_.is_plain = is_plain();
    plan_.uses_time = std::any_of(ops_.begin(), ops_.end(),
                                  [](const hist::Op& op) { return op.code == hist::OpCode::kTimestamp; });
    std::memcpy(bytes_.data(), &plan_, sizeof plan_);
    return std::move(bytes_);
  }

 private:
  [[nodiscard]] bool is_plain() const {
    const auto is_field = [this](const hist::Operand& operand) {
      return operand.origin == hist::Origin::kOps && operand.size == 1 &&
             ops_[operand.index].code == hist::OpCode::kField;
    };
    return keys_.size() == 1 && is_field(keys_[0].operand) &&
           std::all_of(values_.begin(), values_.end(), is_field) && variables_.empty() && references_.empty() &&
           actions_.empty() && shape_.layout.comm_at == 0;
  }

  void describe_keys_and_values() {
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < what_.keys.size(); ++i) {
      keys_.push_back({operand(what_.keys[i]), at, shape_.key_sizes[i]});
      at += shape_.key_sizes[i];
    }
    for (const HistValue& value : what_.values) values_.push_back(operand(value));
    for (std::size_t i = 0; i < what_.variables.size(); ++i) {
      variables_.push_back({operand(what_.variables[i]), shape_.variables[i], 0});
    }
  }

  void describe(const HistActionDescription& action, const TableShape::ActionPlace& place) {
    hist::Action made{};
    made.handler = action.handler;
    made.deed = action.deed;
    made.param_count = static_cast<std::uint16_t>(action.params.size());
    made.params = static_cast<std::uint32_t>(params_.size());
    if (action.handler != hist::Handler::kOnMatch) made.tracked = operand(action.tracked);
    made.tracked_at = place.tracked_at;
    made.taken_at = place.taken_at;
    made.saved_at = place.saved_at;
    made.target = action.target;
    made.fixed_size = action.fixed_size;
    made.max_size = longest_payload(action);
    actions_.push_back(made);
    for (std::size_t i = 0; i < action.params.size(); ++i) {
      const HistParamDescription& param = action.params[i];
      const bool is_saved = action.deed == hist::Deed::kSave;
      params_.push_back(
          {operand(param.value), is_saved ? place.saved[i].at : param.at, param.size, param.is_dynamic, {}});
    }
  }

  hist::Operand operand(const HistValue& value) {
    hist::Operand made{value.type, value.origin, 0, value.index, value.offset, value.size};
    switch (value.origin) {
      case hist::Origin::kOps:
        made.index = static_cast<std::uint32_t>(ops_.size());
        made.size = static_cast<std::uint32_t>(value.ops.size());
        for (const hist::Op& op : value.ops) {
          if (op.code == hist::OpCode::kField) needs(op.offset + op.size);
        }
        ops_.insert(ops_.end(), value.ops.begin(), value.ops.end());
        break;
      case hist::Origin::kField:
        needs(value.offset + value.size);
        break;
      case hist::Origin::kDataLoc:
      case hist::Origin::kRelLoc:
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

  const HistPlanDescription& what_;
  const TableShape& shape_;
  hist::HistPlan plan_{};
  std::vector<hist::Key> keys_;
  std::vector<hist::Operand> values_;
  std::vector<hist::Variable> variables_;
  std::vector<hist::Reference> references_;
  std::vector<hist::Action> actions_;
  std::vector<hist::Param> params_;
  std::vector<hist::Op> ops_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Result<TableShape> shape_of(const HistPlanDescription& what) {
  LT_CHECK(Checker(what).check_all());
  for (const HistActionDescription& action : what.actions) {
    if (action.deed == hist::Deed::kTrace && longest_payload(action) > hist::kMaxSyntheticPayload) {
      return fail(E2BIG, "a synthetic event that may be larger than a histogram can make it");
    }
  }
  return Arranger().arrange(what);
}

std::vector<std::byte> build_hist_plan(const HistPlanDescription& what, const TableShape& shape, std::uint64_t table) {
  return Writer(what, shape, table).write();
}

}  // namespace landtrace::language
