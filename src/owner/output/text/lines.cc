#include "output/text/lines.hpp"

#include <algorithm>

#include "base/digits.hpp"
#include "output/text/line.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;
// What is kept is copied in pieces of this size: with a length that is known, a copy is one instruction or two.
constexpr std::size_t kPiece = 32;
constexpr std::ptrdiff_t kBehindPoint = 8;  // "675388: "

char* put_pieces(char* to, const char* from, std::size_t size) {
  for (std::size_t done = 0; done < size; done += kPiece) std::memcpy(to + done, from + done, kPiece);
  return to + size;
}

char* put_six_digits(char* at, std::uint32_t number) {
  std::memcpy(at, kDecimalPairs[number / 10'000].data(), 2);
  std::memcpy(at + 2, kDecimalPairs[number / 100 % 100].data(), 2);
  std::memcpy(at + 4, kDecimalPairs[number % 100].data(), 2);
  return at + 6;
}

}  // namespace

void TextLines::know(const EventType& type) {
  if (types_.size() <= type.id) types_.resize(std::size_t{type.id} + 1);
  types_[type.id] = nullptr;
  if (is_marker(type) || is_raw_marker(type) || is_user_stack(type)) return;
  types_[type.id] =
      std::make_shared<const TypeTexts>(TypeTexts{type.name + ':', event::FieldsPrinter(type.declaration)});
}

void TextLines::append(event::TextBuffer& out, const Record& record, const Task* task, const EventType* type,
                       const TextColumns& columns) {
  const Context& context = context_of(record, task, columns);
  char* at = put_pieces(out.room(2 * kContextRoom), context.text, context.size);
  const std::uint64_t time = record.time_ns - std::min(record.time_ns, columns.origin_ns);
  out.end(columns.time_in_ns ? put_time(at, time) : put_text_time(at, time, false));
  append_body(out, record, type);
}

const TextLines::Context& TextLines::context_of(const Record& record, const Task* task, const TextColumns& columns) {
  const auto tid = static_cast<std::uint32_t>(record.tid);
  Context& context = contexts_[(tid ^ record.cpu * 37) % kContexts];
  const bool is_kept =
      context.size != 0 && context.tid == record.tid && context.cpu == record.cpu && context.task == task;
  if (is_kept) return context;
  char* const end = put_text_place(context.text, record, task, columns);
  context.tid = record.tid;
  context.cpu = record.cpu;
  context.task = task;
  context.size = static_cast<std::uint32_t>(end - context.text);
  return context;
}

// As put_text_time() does, rounded to microseconds.
char* TextLines::put_time(char* at, std::uint64_t time_ns) {
  const std::uint64_t rest_ns = time_ns - second_.begin_ns;
  // What is rounded up to the next second is not of this one.
  constexpr std::uint64_t kEnd_ns = kSecond_ns - kNsPerUs / 2;
  if (second_.size == 0 || time_ns < second_.begin_ns || rest_ns >= kEnd_ns) {
    char* const end = put_text_time(at, time_ns, true);
    second_.begin_ns = time_ns / kSecond_ns * kSecond_ns;
    second_.size = time_ns - second_.begin_ns < kEnd_ns ? static_cast<std::uint32_t>(end - at - kBehindPoint) : 0;
    std::memcpy(second_.text, at, second_.size);
    return end;
  }
  at = put_pieces(at, second_.text, second_.size);
  constexpr std::uint32_t kUs = kNsPerUs;
  at = put_six_digits(at, (static_cast<std::uint32_t>(rest_ns) + kUs / 2) / kUs);
  return put_text(at, ": ");
}

void TextLines::append_body(event::TextBuffer& out, const Record& record, const EventType* type) {
  const TypeTexts* const texts = type != nullptr && type->id < types_.size() ? types_[type->id].get() : nullptr;
  if (texts == nullptr) {
    std::string text;
    append_text_body(text, record, type, names_);
    return out.append(text);
  }
  out.append(texts->name);
  texts->fields.print(out, record.payload);
  out.append("\n");
}

}  // namespace landtrace::output
