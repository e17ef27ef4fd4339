#include "output/ctf/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <tuple>

#include "abi/entry.hpp"
#include "output/field_text.hpp"
#include "output/json/value.hpp"
#include "output/text/own_events.hpp"
#include "output/trace_dat/put.hpp"
#include "output/utf8.hpp"

namespace landtrace::output {
namespace {

constexpr const char* kMetadata = "metadata";
constexpr const char* kStreams = "channel0_";  // and the CPU
constexpr std::uint32_t kMostTypes = 65'536;

void put_text(std::string& out, std::string_view text) {
  out += valid_utf8(text.substr(0, text.find('\0')));
  out += '\0';
}

void put_field(std::string& out, const event::Field& field, std::span<const std::byte> payload) {
  if (ctf::form_of(field) == ctf::FieldForm::kBytes) {
    const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
    const std::size_t there = bytes ? bytes->size() : 0;
    if (bytes) out.append(reinterpret_cast<const char*>(bytes->data()), there);
    out.append(field.size - there, '\0');  // a record that is too short
  } else if (is_text(field)) {
    put_text(out, text_of(field, payload));
  } else {
    std::string value;
    json::append_value(value, field, payload);
    put_text(out, value);
  }
}

}  // namespace

CtfWriter::CtfWriter(const Options& options) : options_(options) {
  if (::getrandom(uuid_.data(), uuid_.size(), 0) != static_cast<ssize_t>(uuid_.size())) note(fail_errno("getrandom"));
  uuid_[6] = static_cast<unsigned char>((uuid_[6] & 0x0f) | 0x40);  // a random one, as RFC 4122 marks it
  uuid_[8] = static_cast<unsigned char>((uuid_[8] & 0x3f) | 0x80);
  auto file = create(kMetadata);
  if (file) {
    metadata_ = *std::move(file);
  } else {
    note(tl::unexpected<Error>(file.error()));
  }
  put_metadata(ctf::preamble(uuid_, options_.wall_offset_ns, options_.has_stacks));
  // babeltrace2 2.0 aborts where there are stacks and no event is described, as in a recording where nothing happens.
  if (options_.has_stacks) std::ignore = number_of(user_stack_type());
}

// All of the text or nothing: a disk may have room for its beginning, which no reader takes.
void CtfWriter::put_metadata(const std::string& text) {
  if (!metadata_ || !result_) return;
  const off_t whole = ::lseek(metadata_.get(), 0, SEEK_CUR);
  note(write_all(metadata_.get(), text.data(), text.size()));
  if (!result_) std::ignore = ::ftruncate(metadata_.get(), whole);
}

bool CtfWriter::is_file(const std::string& name) { return name == kMetadata || name.starts_with(kStreams); }

void CtfWriter::note(const Result<void>& result) {
  if (result_ && !result) result_ = result;
}

Result<Fd> CtfWriter::create(const std::string& name) const {
  Fd fd(::openat(options_.folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return fail_errno(name);
  return fd;
}

// An id that has got other fields is another event.
std::uint16_t CtfWriter::number_of(const EventType& type) {
  const auto found = types_.find(type.id);
  std::string fields = ctf::fields_text(type);
  if (found != types_.end() && found->second.fields == fields) return found->second.id;
  const auto id = static_cast<std::uint16_t>(next_id_++);
  if (next_id_ > kMostTypes) note(fail(E2BIG, "more types of events than CTF has numbers"));
  put_metadata(ctf::event_text(id, type, fields));
  types_.insert_or_assign(type.id, Known{std::move(fields), id});
  return id;
}

ctf::Stream* CtfWriter::stream_of(std::uint32_t cpu) {
  const auto found = streams_.find(cpu);
  if (found != streams_.end()) return &found->second;
  auto fd = create(kStreams + std::to_string(cpu));
  if (!fd) {
    note(tl::unexpected<Error>(fd.error()));
    return nullptr;
  }
  return &streams_.try_emplace(cpu, *std::move(fd), cpu, uuid_).first->second;
}

void CtfWriter::put_context(std::string& out, const ExportedEvent& event) const {
  const std::uint32_t pid = event.task != nullptr && event.task->tgid != 0 ? event.task->tgid
                            : event.stack != nullptr                       ? event.stack->tgid
                                                                           : 0;
  trace_dat::put(out, static_cast<std::int32_t>(pid));
  trace_dat::put(out, event.record.tid);
  put_text(out, event.task != nullptr ? std::string_view(event.task->comm) : "<...>");
  if (!options_.has_stacks) return;
  trace_dat::put(out, static_cast<std::uint32_t>(event.stack != nullptr ? event.stack->caller.size() : 0));
  if (event.stack == nullptr) return;
  for (const std::uint64_t address : event.stack->caller) trace_dat::put(out, address);
}

void CtfWriter::event(const ExportedEvent& event) {
  ctf::Stream* const stream = stream_of(event.record.cpu);
  if (stream == nullptr) return;
  const auto known = types_.find(event.type.id);
  const std::uint16_t id = known != types_.end() ? known->second.id : number_of(event.type);
  if (!result_) return;  // its type may be in no metadata
  std::string& out = stream->begin_event(id, event.record.time_ns);
  put_context(out, event);
  if (is_user_stack(event.type)) return;
  for (const event::Field& field : event.type.declaration.fields) put_field(out, field, event.record.payload);
  note(stream->result());
}

void CtfWriter::lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  knows_no_count_ = knows_no_count_ || count == kLostUnknown;
  if (ctf::Stream* const stream = stream_of(cpu)) stream->lost(count == kLostUnknown ? 1 : count, time_ns);
}

void CtfWriter::checkpoint() {
  for (auto& [cpu, stream] : streams_) {
    stream.flush();
    note(stream.result());
  }
}

std::string CtfWriter::complaint() const {
  return knows_no_count_ ? "events were lost, nobody knows how many: each time they count as one" : "";
}

}  // namespace landtrace::output
