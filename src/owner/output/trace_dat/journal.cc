#include "output/trace_dat/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/object_lines.hpp"
#include "output/trace_dat/put.hpp"

namespace landtrace::output::trace_dat {
namespace {

enum class Kind : std::uint8_t { kStart = 1, kEvent, kTask, kObject };

constexpr std::uint32_t kMaxBody = 64 * 1024 * 1024;
constexpr std::size_t kEntryHead = 2 * sizeof(std::uint32_t);

// FNV-1a. It tells a whole entry from a torn one; it is no protection against anybody.
std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t hash = 2166136261u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::string body_of(Kind kind) { return std::string(1, static_cast<char>(kind)); }

// Takes a body apart. What it does not hold reads as nothing, and `whole` becomes false.
class Body {
 public:
  explicit Body(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    if (bytes_.size() < sizeof value) {
      whole_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<std::uint32_t>();
    if (size > bytes_.size()) whole_ = false;
    if (!whole_) return {};
    std::string out(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return out;
  }
  [[nodiscard]] bool is_whole() const { return whole_; }
  [[nodiscard]] bool is_at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool whole_ = true;
};

bool take_event(Body& body, Unfinished& out) {
  const auto id = body.number<std::uint16_t>();
  std::string system = body.text();
  std::string format = body.text();
  if (!body.is_whole()) return false;
  auto parsed = event::parse_format(format, system);
  if (!parsed) return false;
  std::string name = parsed->declaration.name;
  EventType type{id, std::move(system), std::move(name), std::move(parsed->declaration), std::move(format)};
  if (!body.is_at_end()) describe(type, body.text());
  out.metadata.events.insert_or_assign(id, std::move(type));
  return body.is_whole();
}

void take_wall_offset(Body& body, Unfinished& out) {
  const auto offset = body.number<std::int64_t>();
  if (is_plausible_wall_offset(offset)) out.metadata.wall_offset_ns = offset;
}

bool take(Body& body, Unfinished& out) {
  switch (body.number<Kind>()) {
    case Kind::kStart:
      out.cpus = body.number<std::uint32_t>();
      out.spare = body.number<std::uint32_t>();
      out.metadata.clock = body.text();
      out.metadata.kallsyms = body.text();
      if (!body.is_at_end()) take_wall_offset(body, out);
      return body.is_whole();
    case Kind::kEvent:
      return take_event(body, out);
    case Kind::kTask: {
      const auto tid = body.number<std::int32_t>();
      Task task;
      task.tgid = body.number<std::uint32_t>();
      task.comm = body.text();
      out.metadata.tasks.insert_or_assign(tid, std::move(task));
      return body.is_whole();
    }
    case Kind::kObject:
      for (MappedObject& object : parse_object_lines(body.text())) out.metadata.objects.push_back(std::move(object));
      return body.is_whole();
  }
  return false;
}

// The next entry's body; nothing where there is no whole one.
std::optional<std::string> read_body(const InputFile& file, std::uint64_t at) {
  FileCursor cursor(file, at, file.size());
  const auto size = cursor.number<std::uint32_t>("size of an entry");
  if (!size || *size == 0 || *size > kMaxBody) return std::nullopt;
  const auto sum = cursor.number<std::uint32_t>("checksum of an entry");
  if (!sum) return std::nullopt;
  auto body = cursor.text(*size, "entry");
  if (!body || checksum(*body) != *sum) return std::nullopt;
  return *std::move(body);
}

// Room for the damaged part, and work that whole entries are looked for with: numbers in it may look like sizes.
constexpr std::uint64_t kMostDamaged = 1024 * 1024;
constexpr std::uint64_t kMostWork = 16 * 1024 * 1024;
constexpr std::uint64_t kWorkPerTry = 4096;
constexpr int kMostPlaces = 64;  // of that; behind the last one nothing is looked for

// Where the next whole entry is, behind one that is not, whose size may be wrong, too.
std::optional<std::uint64_t> find_whole(const InputFile& file, std::uint64_t at) {
  FileCursor cursor(file, at, file.size());
  const auto bytes = cursor.text(std::min(kMostDamaged, file.size() - at), "damaged part");
  std::uint64_t work = kMostWork;
  for (std::size_t i = 1; bytes && i + kEntryHead < bytes->size(); ++i) {
    std::uint32_t size = 0;
    std::memcpy(&size, bytes->data() + i, sizeof size);
    const auto kind = static_cast<Kind>((*bytes)[i + kEntryHead]);
    if (kind < Kind::kStart || kind > Kind::kObject) continue;
    if (size == 0 || at + i + kEntryHead + size > file.size()) continue;
    if (size + kWorkPerTry > work) break;
    work -= size + kWorkPerTry;
    if (read_body(file, at + i)) return at + i;
  }
  return std::nullopt;
}

// 0 where there is none.
std::uint64_t read_horizon(const InputFile& file) {
  FileCursor cursor(file, kHorizonAt, file.size());
  const auto time = cursor.number<std::uint64_t>("horizon");
  return time ? *time : 0;
}

// Of the last entry, which is not whole. The end of a file whose writer was killed has not all its bytes, or zeros.
bool is_torn(const InputFile& file, std::uint64_t at) {
  FileCursor head(file, at, file.size());
  const auto size = head.number<std::uint32_t>("size of an entry");
  if (!size || *size == 0 || *size > kMaxBody || at + kEntryHead + *size > file.size()) return true;
  FileCursor end(file, file.size() - 1, file.size());
  const auto last = end.number<char>("last byte");
  return !last || *last == '\0';
}

}  // namespace

Result<void> Journal::begin(const Metadata& metadata, std::uint32_t cpus, std::uint32_t spare) {
  pending_ = kJournalMagic;
  pending_.resize(kJournalStart, '\0');
  std::string body = body_of(Kind::kStart);
  put(body, cpus);
  put(body, spare);
  put_text(body, metadata.clock);
  put_text(body, metadata.kallsyms);
  if (metadata.wall_offset_ns) put(body, *metadata.wall_offset_ns);
  append(body);
  return write();
}

void Journal::append(std::string_view body) {
  put(pending_, static_cast<std::uint32_t>(body.size()));
  put(pending_, checksum(body));
  pending_ += body;
}

void Journal::add(const EventType& type) {
  std::string body = body_of(Kind::kEvent);
  put(body, type.id);
  put_text(body, type.system);
  put_text(body, format_of(type));
  if (!type.description.empty()) put_text(body, type.description);
  append(body);
}

void Journal::add(std::int32_t tid, const Task& task) {
  std::string body = body_of(Kind::kTask);
  put(body, tid);
  put(body, task.tgid);
  put_text(body, task.comm);
  append(body);
}

void Journal::add(const MappedObject& object) {
  std::string body = body_of(Kind::kObject);
  put_text(body, object_line(object));
  append(body);
}

Result<void> Journal::write() {
  if (pending_.empty()) return {};
  LT_CHECK(write_at(file_, size_, std::as_bytes(std::span(pending_))));
  size_ += pending_.size();
  pending_.clear();
  return {};
}

Result<void> Journal::set_horizon(std::uint64_t time_ns) {
  return write_at(file_, kHorizonAt, std::as_bytes(std::span(&time_ns, 1)));
}

bool is_journal(const InputFile& file) {
  FileCursor cursor(file, 0, file.size());
  const auto start = cursor.text(kJournalMagic.size(), "beginning");
  return start && *start == kJournalMagic;
}

bool is_journal_at(const std::string& path) {
  const auto file = InputFile::open(path);
  return file && is_journal(*file);
}

bool has_writer(const InputFile& journal) {
  struct flock whole {};
  whole.l_type = F_RDLCK;
  return ::fcntl(journal.fd(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

void wait_for_beginning(InputFile& file) {
  constexpr int kMostWaits = 5000;
  constexpr useconds_t kWait = 1000;
  const auto may_begin = [&] { return file.size() == 0 || (is_journal(file) && !read_body(file, kJournalStart)); };
  for (int i = 0; i < kMostWaits && may_begin() && has_writer(file); ++i) {
    ::usleep(kWait);
    if (!file.look_again()) return;
  }
  // Written before the lock was let go.
  std::ignore = file.look_again();
}

Result<void> refuse_other_version(const InputFile& file, const std::string& path) {
  constexpr std::string_view kEveryVersions = "landtrace unfinished recording";
  FileCursor cursor(file, 0, file.size());
  const auto start = cursor.text(kEveryVersions.size(), "beginning");
  if (!start || *start != kEveryVersions || is_journal(file)) return {};
  return fail(EEXIST, path + " was left unfinished by another version of landtrace; `landtrace recover " + path +
                          "` of that version completes it");
}

// Entries are written before the horizon is moved beyond the events that they are about: it is read first.
Result<Unfinished> read_journal(InputFile& file) {
  Unfinished out;
  out.horizon_ns = read_horizon(file);
  out.journal_size = kJournalStart;
  LT_CHECK(read_more(file, out));
  if (out.cpus == 0 && out.damaged_at) {
    return fail(EBADMSG,
                fmt::format("damaged at offset {}, where an unfinished recording says what it is", *out.damaged_at));
  }
  if (out.cpus == 0) return fail(EBADMSG, "an unfinished recording that had hardly begun");
  LT_CHECK(check_cpu_count(out.cpus, FileCursor(file, kJournalStart, file.size())));
  LT_CHECK(check_cpu_count(out.spare, FileCursor(file, kJournalStart, file.size())));
  return out;
}

Result<void> read_more(InputFile& file, Unfinished& out) {
  LT_CHECK(file.look_again());
  std::uint64_t& at = out.journal_size;
  int places = 0;
  while (at < file.size()) {
    const auto bytes = read_body(file, at);
    Body body(bytes ? *bytes : std::string_view());
    const bool is_whole = bytes && take(body, out);
    if (!is_whole && !out.damaged_at && (bytes || !is_torn(file, at))) out.damaged_at = at;
    if (bytes) {
      at += kEntryHead + bytes->size();
      continue;
    }
    const auto next = ++places <= kMostPlaces ? find_whole(file, at) : std::nullopt;
    if (!next) break;
    if (!out.damaged_at) out.damaged_at = at;
    at = *next;
  }
  return {};
}

std::string stream_path(const std::string& path, std::uint32_t cpu) { return fmt::format("{}.cpu{}", path, cpu); }
std::string partial_path(const std::string& path) { return path + ".partial"; }
std::string new_path(const std::string& path) { return path + ".new"; }
std::string old_path(const std::string& path) { return path + ".old"; }

}  // namespace landtrace::output::trace_dat
