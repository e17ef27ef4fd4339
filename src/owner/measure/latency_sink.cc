#include "measure/latency_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "abi/entry.hpp"
#include "output/field_text.hpp"
#include "output/json/value.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::measure {
namespace {

using event::FieldKind;

// A stack is written microseconds after its event, but for a thread that has to wait in between.
constexpr std::uint64_t kStackDelay_ns = 100'000'000;

std::string full_name(const output::EventType& type) { return type.system + ":" + type.name; }

std::uint64_t number_of(const event::Field& field, abi::Bytes payload) {
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  if (!bytes) return 0;
  const std::uint64_t number = abi::load_unsigned(*bytes);
  return field.is_signed ? abi::sign_extended(number, field.size) : number;
}

ipc::KeyKind kind_of(const event::Field& field) {
  if (event::is_float(field)) return ipc::KeyKind::kFloat;
  if (event::is_double(field)) return ipc::KeyKind::kDouble;
  if (field.kind != FieldKind::kInteger) return ipc::KeyKind::kText;
  return field.is_signed ? ipc::KeyKind::kSigned : ipc::KeyKind::kUnsigned;
}

std::string what_it_has(const output::EventType& type) {
  std::string names;
  for (const event::Field& field : type.declaration.fields) names.append(names.empty() ? "" : ", ").append(field.name);
  return names.empty() ? "it has no fields" : "it has " + names;
}

Result<std::vector<KeyField>> find_fields(const output::EventType& type, const std::vector<std::string>& names,
                                          const char* option) {
  std::vector<KeyField> fields;
  for (const std::string& name : names) {
    auto field = KeyField::find(type, name);
    if (!field) {
      return fail(EINVAL,
                  fmt::format("{}: {} has no field '{}'; {}", option, full_name(type), name, what_it_has(type)));
    }
    fields.push_back(*std::move(field));
  }
  return fields;
}

// Numbers of any size are equal if their values are.
std::string key_of(const std::vector<KeyField>& fields, const output::Record& record) {
  std::string key;
  for (const KeyField& field : fields) {
    const ipc::HistogramKeyValue value = field.value(record);
    if (field.key().kind == ipc::KeyKind::kText) {
      key.append(value.text);
    } else {
      key.append(reinterpret_cast<const char*>(&value.number), sizeof value.number);
    }
    key.append(1, '\0');
  }
  return key;
}

}  // namespace

Result<KeyField> KeyField::find(const output::EventType& type, const std::string& name) {
  KeyField found;
  const auto& fields = type.declaration.fields;
  if (const auto at = std::ranges::find(fields, name, &event::Field::name); at != fields.end()) {
    found.field_ = *at;
    found.key_ = {kind_of(*at), name, 0};
    return found;
  }
  found.key_ = {ipc::KeyKind::kUnsigned, name, 0};
  if (name != "common_pid" && name != "common_cpu") return fail(EINVAL, "no such field");
  found.source_ = name == "common_pid" ? Source::kThread : Source::kCpu;
  return found;
}

ipc::HistogramKeyValue KeyField::value(const output::Record& record) const {
  ipc::HistogramKeyValue value;
  if (source_ == Source::kThread) {
    value.number = static_cast<std::uint32_t>(record.tid);
  } else if (source_ == Source::kCpu) {
    value.number = record.cpu;
  } else if (output::is_text(field_)) {
    value.text = std::string(output::text_of(field_, record.payload));
  } else if (key_.kind != ipc::KeyKind::kText) {
    value.number = number_of(field_, record.payload);
  } else {
    output::json::append_value(value.text, field_, record.payload);
  }
  return value;
}

LatencySink::LatencySink(Request request, Pairs::Limits limits) : request_(std::move(request)), pairs_(limits) {
  for (const std::string& name : request_.by) by_.push_back({ipc::KeyKind::kUnsigned, name, 0});
}

// An event that registers again with other fields can be grouped with the one before if those fields are alike.
Result<void> LatencySink::use_keys_of(const std::vector<KeyField>& by) {
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (knows_by_ && by_[i].kind != by[i].key().kind) {
      return fail(EINVAL, fmt::format("--by: '{}' is a field of another type now", by_[i].name));
    }
    by_[i] = by[i].key();
  }
  knows_by_ = true;
  return {};
}

Result<LatencySink::Part> LatencySink::part_of(const output::EventType& type) {
  Part part;
  if (full_name(type) == request_.from) {
    LT_TRY(part.start, find_fields(type, request_.from_key, "--key"));
  }
  if (full_name(type) == request_.to) {
    const char* const option = request_.to_key == request_.from_key ? "--key" : "--to-key";
    LT_TRY(part.end, find_fields(type, request_.to_key, option));
    LT_TRY(part.by, find_fields(type, request_.by, "--by"));
    LT_CHECK(use_keys_of(part.by));
  }
  return part;
}

void LatencySink::type(const output::EventType& type) {
  auto part = part_of(type);
  if (!part) {
    fits_ = tl::unexpected<Error>(part.error());
    misfit_ = type;
  } else if (part->start || part->end) {
    parts_[type.id] = *std::move(part);
  } else {
    parts_.erase(type.id);
  }
}

// It is of its thread's last end, which mostly is the last one of all.
void LatencySink::take_stack(const output::Record& record) {
  constexpr std::ptrdiff_t kFar = 1024;
  const auto far = waiting_.rend() - waiting_.rbegin() > kFar ? waiting_.rbegin() + kFar : waiting_.rend();
  const auto of = std::find_if(waiting_.rbegin(), far,
                               [&](const Seen& seen) { return seen.kept && seen.kept->tid == record.tid; });
  if (of == far || of->kept->stack || of->time_ns > record.time_ns) return;
  of->kept->stack = output::parse_user_stack(record.payload);
  of->kept->stack->time_ns = record.time_ns;
}

void LatencySink::event(const output::Record& record, const output::EventType& type) {
  if (kept_ == Kept::kStacks && output::is_user_stack(type)) return take_stack(record);
  const auto found = parts_.find(type.id);
  if (found == parts_.end()) return;
  const Part& part = found->second;
  Seen seen{.time_ns = record.time_ns, .start = {}, .end = {}, .by = {}};
  if (part.start) seen.start = key_of(*part.start, record);
  if (part.end) seen.end = key_of(*part.end, record);
  for (const KeyField& field : part.by) seen.by.push_back(field.value(record));
  if (kept_ != Kept::kNothing && seen.end) {
    seen.kept = std::make_unique<Paired>(Paired{.time_ns = record.time_ns,
                                                .tid = record.tid,
                                                .event_id = type.id,
                                                .payload = {record.payload.begin(), record.payload.end()}});
  }
  waiting_.push_back(std::move(seen));
}

// Between occurrences of one event: each ends what the one before began.
void LatencySink::pair(Seen& seen) {
  if (seen.end && !seen.kept) pairs_.end(*seen.end, seen.time_ns, std::move(seen.by));
  if (seen.end && seen.kept) {
    seen.kept->by = seen.by;
    const auto ns = pairs_.end(*seen.end, seen.time_ns, std::move(seen.by));
    seen.kept->ns = ns.value_or(0);
    if (ns) paired(*std::move(seen.kept));
  }
  if (seen.start) pairs_.start(*std::move(seen.start), seen.time_ns);
}

void LatencySink::settled(std::uint64_t horizon_ns) {
  const bool waits = kept_ == Kept::kStacks && horizon_ns != std::numeric_limits<std::uint64_t>::max();
  if (waits) horizon_ns -= std::min(horizon_ns, kStackDelay_ns);
  const auto later = std::stable_partition(waiting_.begin(), waiting_.end(),
                                           [&](const Seen& seen) { return seen.time_ns < horizon_ns; });
  // At the same time: what begins is older.
  std::stable_sort(waiting_.begin(), later, [](const Seen& a, const Seen& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : !a.end && b.end;
  });
  for (auto seen = waiting_.begin(); seen != later; ++seen) pair(*seen);
  waiting_.erase(waiting_.begin(), later);
}

}  // namespace landtrace::measure
