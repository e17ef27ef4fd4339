#include "reader/reader.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "arch/clock.hpp"
#include "arch/trace_clocks.hpp"
#include "ipc/path.hpp"
#include "output/export/value.hpp"
#include "output/field_text.hpp"
#include "output/json/line.hpp"
#include "output/text/line.hpp"
#include "reader/live_source.hpp"

namespace landtrace::reader {
namespace {

const std::string kNothing;

constexpr std::uint64_t kUsualRing_bytes = 4u << 20;
constexpr std::uint64_t kLeastRing_bytes = 64u << 10;
constexpr int kLongestPause_ms = 10;

// Of the data that a dynamic location stands for, which may lie outside.
bool is_there(const event::Field& field, std::span<const std::byte> payload) {
  return field.offset - abi::kEntryHeaderSize + std::uint64_t{field.size} <= payload.size();
}

}  // namespace

Result<void> Reader::add_pattern(const char* pattern) {
  LT_CHECK(event::Pattern::parse(pattern));
  patterns_.emplace_back(pattern);
  return {};
}

Result<Choice> Reader::take_choice() {
  LT_TRY(EventFilter events, EventFilter::parse(std::exchange(patterns_, {})));
  return Choice{std::move(events), ExpressionFilter(std::exchange(expression_, {}))};
}

void Reader::begin(std::unique_ptr<Source> source) {
  source_ = std::move(source);
  names_.objects().clear();
  const arch::TraceClock* const clock = arch::trace_clock_named(source_->clock());
  columns_.time_in_ns = clock == nullptr || !clock->is_raw();
}

Result<void> Reader::open_file(const std::string& path, Open* how) {
  forget_event();
  source_.reset();
  LT_TRY(Choice choice, take_choice());
  LT_TRY(std::unique_ptr<Source> source, how(path, std::move(choice)));
  begin(std::move(source));
  return {};
}

Result<void> Reader::listen(const char* socket, std::uint64_t ring_bytes) {
  forget_event();
  source_.reset();
  LT_TRY(Choice choice, take_choice());
  const consumer::Session::Options usual{.ring_bytes = kUsualRing_bytes, .least_ring_bytes = kLeastRing_bytes};
  LT_TRY(std::unique_ptr<Source> source,
         LiveSource::open(socket != nullptr && *socket != '\0' ? socket : ipc::default_socket(), std::move(choice),
                          ring_bytes == 0 ? usual : consumer::Session::Options{.ring_bytes = ring_bytes}));
  begin(std::move(source));
  return {};
}

void Reader::forget_event() {
  has_event_ = false;
  texts_.clear();
  text_ = json_ = nullptr;
}

// Nobody wakes it: producers make no calls.
Result<bool> Reader::next(int timeout_ms, const landtrace_record*& record) {
  forget_event();
  if (!source_) return fail(EBADF, "no recording was opened, and no domain");
  const std::uint64_t begin = arch::monotonic_ns();
  bool is_last = false;
  for (int pause_ms = 1; !is_stopped_.load(std::memory_order_relaxed);) {
    LT_TRY(const Source::Answer answer, source_->next(event_));
    if (answer == Source::Answer::kEnd) return false;
    if (answer == Source::Answer::kEvent) {
      describe();
      record = &record_;
      return true;
    }
    if (answer == Source::Answer::kSearching) continue;
    const auto waited_ms = static_cast<std::int64_t>((arch::monotonic_ns() - begin) / 1'000'000);
    const bool is_over = timeout_ms >= 0 && waited_ms >= timeout_ms;
    // What the last look has found came in time.
    if (is_over && (is_last || answer != Source::Answer::kAgain)) return fail(ETIMEDOUT, "no event came in time");
    is_last = is_over;
    if (answer == Source::Answer::kAgain) continue;
    const std::int64_t left_ms = timeout_ms < 0 ? pause_ms : timeout_ms - waited_ms;
    ::poll(nullptr, 0, static_cast<int>(std::min<std::int64_t>(pause_ms, left_ms)));
    pause_ms = std::min(pause_ms + 1, kLongestPause_ms);
  }
  return false;
}

void Reader::describe() {
  has_event_ = true;
  const output::EventType* const type = event_.type;
  const output::Task* const task = event_.task;
  record_ = {.time_ns = event_.record.time_ns,
             .lost = event_.lost,
             .system = type == nullptr ? "" : type->system.c_str(),
             .name = type == nullptr ? "" : type->name.c_str(),
             .comm = task == nullptr ? "" : task->comm.c_str(),
             .tid = static_cast<std::uint32_t>(event_.record.tid),
             .tgid = task == nullptr ? 0 : task->tgid,
             .cpu = event_.record.cpu,
             .id = event_.record.event_id,
             .fields = type == nullptr ? 0 : type->declaration.fields.size(),
             .payload = event_.record.payload.data(),
             .payload_size = event_.record.payload.size()};
}

Result<void> Reader::field(std::size_t index, landtrace_field_value& value) {
  if (!has_event_ || index >= record_.fields) return fail(ENOENT, "the event has no such field");
  const event::Field& field = event_.type->declaration.fields[index];
  const std::span payload = event_.record.payload;
  value = {.name = field.name.c_str(),
           .type = field.type.c_str(),
           .kind = LANDTRACE_VALUE_NONE,
           .number = {},
           .text = "",
           .text_size = 0};
  if (!is_there(field, payload)) return {};
  const auto set_text = [&](landtrace_value_kind kind, std::string text) {
    const std::string& kept = keep(std::move(text));
    value.kind = kind;
    value.text = kept.c_str();
    value.text_size = kept.size();
  };
  if (output::is_text(field)) {
    set_text(LANDTRACE_VALUE_TEXT, std::string(output::text_of(field, payload)));
    return {};
  }
  output::FieldValue found = output::value_of(field, payload);
  if (const auto* const number = std::get_if<std::uint64_t>(&found)) {
    value.kind = LANDTRACE_VALUE_UNSIGNED;
    value.number.as_unsigned = *number;
  } else if (const auto* const negative = std::get_if<std::int64_t>(&found)) {
    value.kind = LANDTRACE_VALUE_SIGNED;
    value.number.as_signed = *negative;
  } else if (const auto* const real = std::get_if<double>(&found)) {
    value.kind = LANDTRACE_VALUE_REAL;
    value.number.as_real = *real;
  } else if (auto& text = std::get<std::string>(found); text != "null") {
    set_text(LANDTRACE_VALUE_JSON, std::move(text));
  }
  return {};
}

Result<void> Reader::find(std::string_view name, landtrace_field_value& value) {
  for (std::size_t i = 0; has_event_ && i < record_.fields; ++i) {
    if (event_.type->declaration.fields[i].name == name) return field(i, value);
  }
  return fail(ENOENT, "the event has no field " + std::string(name));
}

void Reader::know_objects() {
  for (output::MappedObject& object : source_->take_objects()) names_.objects().add(std::move(object));
}

const std::string& Reader::text() {
  if (!has_event_) return kNothing;
  if (text_ != nullptr) return *text_;
  know_objects();
  std::string line;
  output::append_text_line(line, event_.record, event_.task, event_.type, columns_, &names_);
  if (line.ends_with('\n')) line.pop_back();
  return *(text_ = &keep(std::move(line)));
}

const std::string& Reader::json() {
  if (!has_event_) return kNothing;
  if (json_ != nullptr) return *json_;
  know_objects();
  std::string line;
  output::JsonLineWriter(&names_).append(line, event_.record, event_.task, event_.type);
  line.pop_back();
  return *(json_ = &keep(std::move(line)));
}

}  // namespace landtrace::reader
