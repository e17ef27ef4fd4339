#include "rules/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/filters.hpp"
#include "rules/trigger_list.hpp"
#include "event/synthetic.hpp"
#include "plan/probe.hpp"

namespace landtrace::rules {
namespace {

tl::unexpected<RefusedProbe> refuse(language::EventProbeRefusal refusal) {
  return tl::unexpected<RefusedProbe>({std::move(refusal), {}, {}});
}
tl::unexpected<RefusedProbe> refuse(const Error& error) { return refuse(language::EventProbeRefusal{error.code, {}}); }

// Puts a plan::ProbePlan together.
class PlanBytes {
 public:
  PlanBytes(const std::vector<language::EventProbeArgument>& arguments, const event::Declaration& made,
            bool of_synthetic)
      : bytes_(sizeof(plan::ProbePlan) + arguments.size() * sizeof(plan::ProbeArg)) {
    plan_.arg_count = static_cast<std::uint32_t>(arguments.size());
    plan_.values_size = made.min_size;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const plan::ProbeArg arg = argument(arguments[i], made.fields[i].offset - event::kCommonHeaderSize, of_synthetic);
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

  plan::ProbeArg argument(const language::EventProbeArgument& from, std::uint32_t target, bool of_synthetic) {
    const language::Fetch& fetch = from.fetch;
    plan::ProbeArg arg{};
    arg.store = store_of(fetch.store);
    arg.size = static_cast<std::uint8_t>(from.type->size);
    arg.bits = fetch.bits;
    arg.first_bit = fetch.first_bit;
    arg.count = static_cast<std::uint8_t>(from.count);
    arg.target = target;
    arg.store_offset = fetch.store_offset;
    arg.steps = append(fetch.steps.data(), fetch.steps.size() * sizeof fetch.steps[0]);
    arg.step_count = static_cast<std::uint32_t>(fetch.steps.size());
    set_source(arg, fetch, of_synthetic);
    return arg;
  }

  void set_source(plan::ProbeArg& arg, const language::Fetch& fetch, bool of_synthetic) {
    switch (fetch.source) {
      case language::Fetch::Source::kNumber:
        arg.source = plan::ProbeSource::kNumber;
        arg.number = fetch.number;
        return;
      case language::Fetch::Source::kComm:
        arg.source = plan::ProbeSource::kComm;
        return;
      case language::Fetch::Source::kText:
        arg.source = plan::ProbeSource::kText;
        arg.at = append(fetch.text.c_str(), fetch.text.size() + 1);
        arg.number = fetch.text.size();
        return;
      case language::Fetch::Source::kField:
        set_field(arg, fetch.field, of_synthetic);
    }
  }

  static void set_field(plan::ProbeArg& arg, const event::Field& field, bool of_synthetic) {
    arg.at = field.offset - event::kCommonHeaderSize;
    arg.is_signed = field.is_signed ? 1 : 0;
    arg.source_size = static_cast<std::uint8_t>(std::min<std::uint32_t>(field.size, sizeof(std::uint64_t)));
    switch (field.kind) {
      case event::FieldKind::kCharArray:
        arg.source = plan::ProbeSource::kFieldText;
        arg.number = of_synthetic ? event::kSyntheticText : field.size;
        return;
      case event::FieldKind::kDataLocString:
        arg.source = plan::ProbeSource::kDataLocText;
        return;
      case event::FieldKind::kRelLocString:
        arg.source = plan::ProbeSource::kRelLocText;
        return;
      default:
        arg.source = plan::ProbeSource::kField;
    }
  }

  static plan::ProbeStore store_of(language::Fetch::Store store) {
    switch (store) {
      case language::Fetch::Store::kMemory:
        return plan::ProbeStore::kMemory;
      case language::Fetch::Store::kText:
        return plan::ProbeStore::kText;
      case language::Fetch::Store::kSymbolText:
        return plan::ProbeStore::kSymbolText;
      case language::Fetch::Store::kValue:
        break;
    }
    return plan::ProbeStore::kValue;
  }

  plan::ProbePlan plan_{};
  std::vector<std::byte> bytes_;
};

Result<void> put_trigger(Domain& domain, Instance& instance, Event& base, const Event& probe) {
  LT_CHECK(domain.hold_soft(instance, base));
  std::vector<std::uint32_t>& probes = base.files[instance.index].probes;
  probes.push_back(probe.slot);
  auto published = publish_triggers(domain, instance, base);
  if (published) return published;
  std::erase(probes, probe.slot);
  domain.release_soft(instance, base);
  return published;
}

void take_trigger(Domain& domain, Instance& instance, Event& base, const Event& probe) {
  std::erase(base.files[instance.index].probes, probe.slot);
  // With no room for a shorter list producers go on with the old one, and make events that nobody listens to.
  std::ignore = publish_triggers(domain, instance, base);
  domain.release_soft(instance, base);
}

std::optional<std::uint32_t> host_of(Domain& domain, const Event& probe) {
  if (probe.probe->host && probe.listeners[*probe.probe->host]) return probe.probe->host;
  for (const Instance* const instance : domain.instances().all()) {
    if (probe.listeners[instance->index]) return instance->index;
  }
  return std::nullopt;
}

}  // namespace

tl::expected<Event*, RefusedProbe> define_probe(Domain& domain, std::string_view line, std::uint32_t uid) {
  auto command = language::EventProbeCommand::split(line);
  if (!command) return refuse(std::move(command).error());
  Event* const base = domain.events().find(command->base_system(), command->base_name());
  if (base == nullptr || base->flavour() == event::Flavour::kProbe) return refuse(command->no_such_base());
  if (command->lacks_filter()) return refuse(command->no_filter());
  auto state = std::make_shared<Probe>();
  state->base = base->slot;
  const auto give_back = [&] {
    if (state->program != 0) domain.control().free(state->program);
    if (state->plan != 0) domain.control().free(state->plan);
  };
  if (!command->filter().empty()) {
    const auto program = store_program(domain, *base, command->filter());
    if (!program) return tl::unexpected<RefusedProbe>({{}, program.error(), command->filter()});
    state->program = *program;
  }
  const auto arguments = command->arguments(base->declaration);
  event::Declaration made = arguments ? language::declare_event_probe(*command, *arguments) : event::Declaration();
  if (!arguments || made.min_size > plan::kMaxProbeValues) {
    give_back();
    return refuse(arguments ? language::EventProbeRefusal{E2BIG, {}} : arguments.error());
  }
  PlanBytes bytes(*arguments, made, base->flavour() == event::Flavour::kSynthetic);
  const Events::Hold hold(domain.events(), *base);
  const auto added = domain.add_event(command->group(), std::move(made), event_probe_text(*command, *arguments), uid);
  if (!added) {
    give_back();
    return added.error().code == EEXIST ? refuse(command->name_is_taken()) : refuse(added.error());
  }
  Event& probe = **added;
  const auto stored = domain.control().store(std::move(bytes).of_event(probe.slot));
  state->plan = stored.value_or(0);
  domain.events().add_reference(*base);
  probe.probe = state;
  probe.command = language::EventProbeCommand::logged(line);
  auto attached = stored ? attach_probe(domain, probe) : Result<void>(tl::unexpected<Error>(stored.error()));
  if (attached) {
    domain.events().write_down(probe);
    return &probe;
  }
  probe.listeners.reset();
  std::ignore = domain.events().remove(probe, 0);
  return refuse(attached.error());
}

Result<void> attach_probe(Domain& domain, Event& probe) {
  if (!probe.probe) return {};
  Probe& state = *probe.probe;
  const auto wanted = host_of(domain, probe);
  Event* const base = domain.events().at(state.base);
  if (wanted == state.host || base == nullptr) return {};
  if (wanted) LT_CHECK(put_trigger(domain, *domain.instances().at(*wanted), *base, probe));
  const auto old = std::exchange(state.host, wanted);
  if (old) take_trigger(domain, *domain.instances().at(*old), *base, probe);
  return {};
}

void let_go_of_base(Domain& domain, Event& probe) {
  const std::shared_ptr<Probe> state = std::exchange(probe.probe, nullptr);
  if (!state) return;
  if (state->host) {
    Event* const base = domain.events().at(state->base);
    Instance* const instance = domain.instances().at(*state->host);
    if (base != nullptr && instance != nullptr) take_trigger(domain, *instance, *base, probe);
  }
  domain.grace().after_readers([&domain, state] {
    if (state->plan != 0) domain.control().free(state->plan);
    if (state->program != 0) domain.control().free(state->program);
  });
  domain.events().drop_reference(state->base);
}

}  // namespace landtrace::rules
