#include "plan/made_payload.hpp"

#include <algorithm>
#include <cstring>

#include "abi/entry.hpp"
#include "arch/clock.hpp"
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
        end_(probe.values_size),
        memory_(from.probed == nullptr ? ProgramMemory() : ProgramMemory(from.probed->registers[kRsp])) {}

  // False where the event does not happen.
  bool make() {
    clear_values(out_, end_);
    if (from_.probed != nullptr) {
      const std::uint64_t header[] = {from_.probed->place, from_.probed->return_address};
      std::memcpy(out_, header, std::min<std::size_t>(probe_.header, sizeof header));
    }
    for (std::uint32_t i = 0; i < probe_.arg_count; ++i) {
      const EventProbeArg& arg = probe_.args()[i];
      if (is_plain_register(arg)) {
        store_number(out_ + arg.target, register_at(arg.at), arg.size);
      } else {
        put(arg);
      }
    }
    return happens_;
  }
  [[nodiscard]] std::uint32_t size() const { return end_; }

 private:
  template <typename T>
  const T* at(std::uint32_t offset) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(&probe_) + offset);
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
        store_number(to, place.address, arg.size);
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
        return {Place::In::kProgram, from_.probed == nullptr ? 0 : from_.probed->argument(arg.number)};
      case EventProbeSource::kElapsed:
        return elapsed();
      case EventProbeSource::kPlace:
        return {Place::In::kProgram, probed_place() + arg.number};
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
    const std::uint64_t from = (base == kRip ? probed_place() : register_at(base)) +
                               register_at(arg.at >> 8 & 0xff) * (arg.at >> 16 & 0xff) + arg.number;
    std::uint64_t value = 0;
    const std::uint32_t size = std::clamp<std::uint32_t>(arg.source_size, 1, sizeof value);
    if (!may_read() || from_.probed == nullptr || memory_.read(from, &value, size) != size) return false;
    place = {Place::In::kProgram, extended(value, arg)};
    return true;
  }

  [[nodiscard]] std::uint64_t probed_place() const { return from_.probed == nullptr ? 0 : from_.probed->place; }
  [[nodiscard]] std::uint64_t register_at(std::uint32_t index) const {
    return from_.probed == nullptr || index >= kRegisters ? 0 : from_.probed->registers[index];
  }
  // One that is not there is 0.
  [[nodiscard]] Place stack_word(std::uint64_t number) const {
    std::uint64_t word = 0;
    if (from_.probed != nullptr) {
      memory_.read(from_.probed->registers[kRsp] + number * sizeof word, &word, sizeof word);
    }
    return {Place::In::kProgram, word};
  }

  Place elapsed() {
    const bool is_known = from_.probed != nullptr && from_.probed->has(kNeedsTime);
    happens_ &= is_known;
    return {Place::In::kProgram, is_known ? elapsed_ns(thread_, from_.probed->kept[kKeptTime]) : 0};
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
    return may_read() && memory_.read(from, to, size) == size;
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
    } else {
      const std::uint64_t from = place.address + static_cast<std::uint64_t>(offset);
      if (!may_read() || !memory_.read_text(from, text, room - 1, size)) return;
      if (size != 0 && text[size - 1] == '\0') --size;
      return finish_text(text, size, to);
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
  bool happens_ = true;
  char comm_[filter::kCommSize] = {};
  mutable ProgramMemory memory_;
};

}  // namespace

std::uint64_t elapsed_ns(const Thread& thread, std::uint64_t began) {
  const std::uint64_t raw = arch::read_raw_clock(thread.mode.clock) - began;
  return thread.mode.clock == arch::RawClock::kTsc ? arch::counter_ns(raw) : raw;
}

void emit_made(const View& view, const Thread& thread, const EventProbePlan& plan, const MadeOf& from) {
  if (!is_enabled(view, plan.event)) return;
  alignas(8) std::byte payload[kMaxEventProbePayload];
  Maker maker(view, thread, plan, from, payload);
  if (!maker.make()) return;
  const Segment segment{payload, maker.size()};
  emit_in_section(view, thread, plan.event, &segment, 1, maker.size());
}

}  // namespace landtrace::plan
