#include "plan/made_payload.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "abi/entry.hpp"
#include "base/digits.hpp"
#include "plan/program_memory.hpp"

namespace landtrace::plan {
namespace {

// Memory that an argument names: an address of the program, a place in the event's payload, or bytes of our own.
struct Place {
  enum class In : std::uint8_t { kProgram, kPayload, kOwn };
  In in = In::kProgram;
  std::uint64_t address = 0;  // or the offset in the payload
  const char* own = nullptr;
  std::uint32_t room = ~0u;  // of kPayload and kOwn: bytes that belong to it
};

class Maker {
 public:
  Maker(const View& view, const Thread& thread, const EventProbePlan& probe, const MadeOf& from, std::byte* out)
      : view_(view),
        thread_(thread),
        probe_(probe),
        payload_(from.segments, from.segment_count),
        from_(from),
        out_(out),
        end_(probe.values_size) {}

  // Returns the payload's size.
  std::uint32_t make() {
    clear_values();
    const std::size_t words = std::min(probe_.header / sizeof(std::uint64_t), std::size(from_.header));
    for (std::size_t i = 0; i < words; ++i) put_number(out_ + i * sizeof(std::uint64_t), from_.header[i], 8);
    for (std::uint32_t i = 0; i < probe_.arg_count; ++i) {
      const EventProbeArg& arg = probe_.args()[i];
      if (is_plain_register(arg)) {
        put_number(out_ + arg.target, register_at(arg.at), arg.size);
      } else {
        put(arg);
      }
    }
    return end_;
  }

 private:
  template <typename T>
  const T* at(std::uint32_t offset) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(&probe_) + offset);
  }

  // Most arguments are registers as they are, and most payloads short: without a call of memcpy() or memset() for each.
  static bool is_plain_register(const EventProbeArg& arg) {
    return arg.source == EventProbeSource::kRegister && arg.store == EventProbeStore::kValue &&
           (arg.step_count | arg.bits | arg.count) == 0;
  }
  void clear_values() {
    for (std::uint32_t at = 0; at < end_; at += sizeof(std::uint64_t)) {
      const std::uint64_t zero = 0;
      std::memcpy(out_ + at, &zero, sizeof zero);  // there is room behind the values
    }
  }
  static void put_number(std::byte* to, std::uint64_t number, std::uint32_t size) {
    switch (size) {
      case 1:
        std::memcpy(to, &number, 1);
        return;
      case 2:
        std::memcpy(to, &number, 2);
        return;
      case 4:
        std::memcpy(to, &number, 4);
        return;
      default:
        std::memcpy(to, &number, 8);
    }
  }

  void put(const EventProbeArg& arg) {
    Place place;
    if (arg.source == EventProbeSource::kLoad) {
      if (!load_operand(arg, place)) return;
    } else {
      place = source_of(arg);
    }
    const std::uint32_t count = std::max<std::uint32_t>(arg.count, 1);
    std::byte* to = out_ + arg.target;
    if (arg.store == EventProbeStore::kText && arg.count != 0) return put_texts(arg, place, to, count);
    if (!follow(arg, place)) return;
    for (std::uint32_t i = 0; i < count; ++i, to += arg.size) {
      put_one(arg, place, to);
      place.address += arg.size;
    }
  }

  // An array of texts is one of pointers, which follow one another where the last step leads.
  void put_texts(const EventProbeArg& arg, const Place& first, std::byte* to, std::uint32_t count) {
    Place before = first;
    const std::uint32_t steps = arg.step_count;
    if (steps == 0) {
      put_text(first, 0, to);
      return;
    }
    const std::int64_t* const offsets = at<std::int64_t>(arg.steps);
    if (!follow(before, offsets, steps - 1)) return;
    for (std::uint32_t i = 0; i < count; ++i, to += arg.size) {
      Place element = before;
      element.address += i * sizeof(std::uint64_t);
      if (step(element, offsets[steps - 1])) put_text(element, 0, to);
    }
  }

  void put_one(const EventProbeArg& arg, const Place& place, std::byte* to) {
    switch (arg.store) {
      case EventProbeStore::kText:
        return put_text(place, arg.store_offset, to);
      case EventProbeStore::kSymbolText:
        return put_address(place.address, to);
      case EventProbeStore::kMemory:
        if (read(place, arg.store_offset, to, arg.size)) break;
        std::memset(to, 0, arg.size);  // part of it may be there
        return;
      case EventProbeStore::kValue:
        put_number(to, place.address, arg.size);
        break;
    }
    if (arg.bits != 0) cut_bits(arg, to);
  }

  static void cut_bits(const EventProbeArg& arg, std::byte* to) {
    std::uint64_t value = 0;
    std::memcpy(&value, to, arg.size);
    value >>= arg.first_bit;
    if (arg.bits < 64) value &= (1ull << arg.bits) - 1;
    std::memcpy(to, &value, arg.size);
  }

  Place source_of(const EventProbeArg& arg) {
    switch (arg.source) {
      case EventProbeSource::kNumber:
        return {Place::In::kProgram, arg.number};
      case EventProbeSource::kField:
        return {Place::In::kProgram, payload_.number(arg.at, arg.source_size, arg.is_signed != 0)};
      case EventProbeSource::kFieldText:
        return {Place::In::kPayload, arg.at, nullptr, static_cast<std::uint32_t>(arg.number)};
      case EventProbeSource::kDataLocText:
      case EventProbeSource::kRelLocText:
        return located(arg);
      case EventProbeSource::kComm:
        detail::read_name(view_, thread_, comm_);
        return {Place::In::kOwn, 0, comm_, sizeof comm_};
      case EventProbeSource::kText:
        return {Place::In::kOwn, 0, at<char>(arg.at), static_cast<std::uint32_t>(arg.number)};
      case EventProbeSource::kRegister:
        return {Place::In::kProgram, register_at(arg.at)};
      case EventProbeSource::kStackWord:
        return stack_word(arg.number);
      case EventProbeSource::kKept:
        return {Place::In::kProgram,
                from_.kept == nullptr || arg.number >= kKeptArguments ? 0 : from_.kept[arg.number]};
      case EventProbeSource::kPlace:
        return {Place::In::kProgram, from_.place + arg.number};
      case EventProbeSource::kPartOfRegister:
        return {Place::In::kProgram, extended(register_at(arg.at) >> (arg.number & 63), arg)};
      case EventProbeSource::kLoad:  // in put()
        break;
    }
    return {};
  }

  static std::uint64_t extended(std::uint64_t value, const EventProbeArg& arg) {
    const std::uint32_t unused = 64 - 8u * std::clamp<std::uint32_t>(arg.source_size, 1, 8);
    const std::uint64_t high = value << unused;
    return arg.is_signed != 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> unused) : high >> unused;
  }
  [[nodiscard]] bool load_operand(const EventProbeArg& arg, Place& place) const {
    const std::uint32_t base = arg.at & 0xff;
    const std::uint64_t from = (base == kRip ? from_.place : register_at(base)) +
                               register_at(arg.at >> 8 & 0xff) * (arg.at >> 16 & 0xff) + arg.number;
    std::uint64_t value = 0;
    const std::uint32_t size = std::clamp<std::uint32_t>(arg.source_size, 1, sizeof value);
    if (!may_read() || from_.registers == nullptr || read_program(from, &value, size) != size) return false;
    place = {Place::In::kProgram, extended(value, arg)};
    return true;
  }

  [[nodiscard]] std::uint64_t register_at(std::uint32_t index) const {
    return from_.registers == nullptr || index >= kRegisters ? 0 : from_.registers[index];
  }
  // One that is not there is 0.
  [[nodiscard]] Place stack_word(std::uint64_t number) const {
    std::uint64_t word = 0;
    if (from_.registers != nullptr) read_program(from_.registers[kRsp] + number * sizeof word, &word, sizeof word);
    return {Place::In::kProgram, word};
  }

  [[nodiscard]] Place located(const EventProbeArg& arg) const {
    const auto location = payload_.load<std::uint32_t>(arg.at);
    const bool is_relative = arg.source == EventProbeSource::kRelLocText;
    const abi::Location where =
        abi::in_payload(is_relative ? abi::rel_location(location, abi::kEntryHeaderSize + arg.at + sizeof location)
                                    : abi::data_location(location));
    return {Place::In::kPayload, where.begin, nullptr, static_cast<std::uint32_t>(where.length)};
  }

  [[nodiscard]] bool follow(const EventProbeArg& arg, Place& place) const {
    if (!follow(place, at<std::int64_t>(arg.steps), arg.step_count)) return false;
    // As a number, a place of ours is not the program's business.
    if (arg.store == EventProbeStore::kValue && place.in != Place::In::kProgram) place = {};
    return true;
  }
  bool follow(Place& place, const std::int64_t* offsets, std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!step(place, offsets[i])) return false;
    }
    return true;
  }
  bool step(Place& place, std::int64_t offset) const {
    std::uint64_t next = 0;
    if (!read(place, offset, &next, sizeof next)) return false;
    place = {Place::In::kProgram, next};
    return true;
  }

  bool read(const Place& place, std::int64_t offset, void* to, std::uint32_t size) const {
    const std::uint64_t from = place.address + static_cast<std::uint64_t>(offset);
    if (place.in == Place::In::kPayload) return payload_.copy(from, to, size) == size;
    if (place.in == Place::In::kOwn) return false;
    return may_read() && read_program(from, to, size) == size;
  }
  // A program that comes through a mount has its memory elsewhere.
  [[nodiscard]] bool may_read() const { return !thread_.is_proxy; }

  // A text that cannot be read stays one of no length, which is shown as such.
  void put_text(const Place& place, std::int64_t offset, std::byte* to) {
    const std::uint32_t room = kMaxEventProbePayload - end_;
    if (room == 0) return;
    auto* const text = reinterpret_cast<char*>(out_ + end_);
    std::size_t size = 0;
    if (place.in == Place::In::kOwn) {
      size = std::min<std::size_t>(place.room, room - 1);
      std::memcpy(text, place.own, size);
    } else if (place.in == Place::In::kPayload) {
      size = payload_.copy(place.address + static_cast<std::uint64_t>(offset), text,
                           std::min<std::uint64_t>(place.room, room - 1));
    } else if (!may_read() ||
               !read_program_text(place.address + static_cast<std::uint64_t>(offset), text, room - 1, size)) {
      return;
    }
    finish_text(text, ::strnlen(text, size), to);
  }

  void put_address(std::uint64_t address, std::byte* to) {
    char text[2 + kMaxDigits + 1] = {'0', 'x'};
    const char* const end = put_hex(text + 2, address);
    const auto size = static_cast<std::size_t>(end - text);
    if (kMaxEventProbePayload - end_ <= size) return;
    auto* const place = reinterpret_cast<char*>(out_ + end_);
    std::memcpy(place, text, size);
    finish_text(place, size, to);
  }

  void finish_text(char* text, std::size_t size, std::byte* to) {
    text[size++] = '\0';
    const auto location = abi::location_word(abi::kEntryHeaderSize + end_, size);
    std::memcpy(to, &location, sizeof location);
    end_ += static_cast<std::uint32_t>(size);
  }

  const View& view_;
  const Thread& thread_;
  const EventProbePlan& probe_;
  abi::Payload payload_;
  const MadeOf& from_;
  std::byte* out_;
  std::uint32_t end_;
  char comm_[filter::kCommSize] = {};
};

}  // namespace

void emit_made(const View& view, const Thread& thread, const EventProbePlan& plan, const MadeOf& from) {
  if (!is_enabled(view, plan.event)) return;
  alignas(8) std::byte payload[kMaxEventProbePayload];
  const std::uint32_t size = Maker(view, thread, plan, from, payload).make();
  const Segment segment{payload, size};
  emit_in_section(view, thread, plan.event, &segment, 1, size);
}

}  // namespace landtrace::plan
