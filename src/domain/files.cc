#include "domain/files.hpp"

#include <sys/random.h>

#include <algorithm>

namespace landtrace::domain {
namespace {

// Not 0, which is no file. Random also so that an owner does not take its predecessor's descriptors for its own.
Result<std::uint32_t> random_generation() {
  std::uint32_t number = 0;
  while (number == 0) {
    if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return fail_errno("getrandom");
  }
  return number;
}

}  // namespace

Result<FileId> Files::open(std::uint32_t uid, std::uint32_t limit) {
  if (const auto own = open_of_.find(uid); own != open_of_.end() && own->second >= limit) {
    return fail(EMFILE, "the user has as many open files as they may");
  }
  LT_TRY(const std::uint32_t generation, random_generation());
  std::uint32_t slot;
  if (!free_.empty()) {
    slot = free_.front();
    free_.pop_front();
  } else if (files_.size() < plan::kMaxFiles) {
    slot = static_cast<std::uint32_t>(files_.size());
    files_.emplace_back();
  } else {
    return fail(EMFILE, "the domain has as many open files as it can");
  }
  files_[slot] = File{generation, uid, {}, {}, 0, false};
  ++open_of_[uid];
  publish(control_.segment().files[slot].generation, generation);
  return FileId{slot, generation};
}

Result<void> Files::check(FileId file) const {
  const bool is_open =
      file.slot < files_.size() && file.generation != 0 && files_[file.slot].generation == file.generation;
  if (!is_open) return fail(EBADF, "no such open file");
  return {};
}

Result<void> Files::check(FileId id, Form form) const {
  LT_CHECK(check(id));
  const File& file = files_[id.slot];
  if (file.events.empty() || file.plain == (form == Form::kPlain)) return {};
  return fail(EINVAL, file.plain ? "the file was registered with as in 2021: what is written to it has no index"
                                 : "what is written to the file starts with an index");
}

// Publishes a copy of the file's table with twice the room.
Result<void> Files::grow(FileId id) {
  File& file = files_[id.slot];
  const std::size_t capacity = std::max<std::size_t>(8, file.capacity * 2);
  LT_TRY(const std::uint32_t next, control_.allocate((capacity + 1) * sizeof(std::uint32_t), 8));
  auto* const words = reinterpret_cast<std::uint32_t*>(control_.at(next));
  words[0] = static_cast<std::uint32_t>(file.events.size());
  std::copy(file.events.begin(), file.events.end(), words + 1);
  publish_table(id, next);
  file.capacity = capacity;
  return {};
}

void Files::publish_table(FileId id, std::uint32_t table) {
  std::uint32_t& published = control_.segment().files[id.slot].table;
  const std::uint32_t old = published & ~plan::kPlainFile;
  publish(published, table);
  if (old != 0) grace_.after_readers([this, old] { control_.free(old); });
}

Result<std::uint32_t> Files::add_event(FileId id, Event& event) {
  File& file = files_[id.slot];
  const auto found = file.index_of.find(event.slot);
  if (found != file.index_of.end()) return found->second;
  if (file.events.size() == file.capacity) LT_CHECK(grow(id));
  const auto index = static_cast<std::uint32_t>(file.events.size());
  auto* const words = reinterpret_cast<std::uint32_t*>(control_.at(control_.segment().files[id.slot].table));
  words[index + 1] = event.slot;
  publish(words[0], index + 1);
  file.events.push_back(event.slot);
  file.index_of.emplace(event.slot, index);
  events_.add_reference(event);
  return index;
}

Result<void> Files::set_plain_event(FileId id, Event& event) {
  File& file = files_[id.slot];
  const std::uint32_t words[] = {1, event.slot};  // a FileTable
  LT_TRY(const std::uint32_t table, control_.store(std::as_bytes(std::span(words))));
  publish_table(id, table | plan::kPlainFile);
  file.plain = true;
  if (!file.index_of.emplace(event.slot, 0).second) return {};
  file.events.push_back(event.slot);
  events_.add_reference(event);
  return {};
}

void Files::close(FileId id) {
  File& file = files_[id.slot];
  publish_table(id, 0);
  publish(control_.segment().files[id.slot].generation, 0);
  const auto events = std::move(file.events);
  if (--open_of_[file.uid] == 0) open_of_.erase(file.uid);
  file = {};
  for (const std::uint32_t event : events) events_.drop_reference(event);
  grace_.after_readers([this, slot = id.slot] { free_.push_back(slot); });
}

}  // namespace landtrace::domain
