#include "domain/files.hpp"

#include <sys/random.h>

#include <algorithm>

#include "ipc/protocol.hpp"

namespace landtrace::domain {
namespace {

// Of what is one user's and not yet free.
constexpr std::size_t kMaxWaitingFiles = 4096;

// Not 0, which is none.
template <typename Number>
Result<Number> random_number(unsigned bits) {
  Number number = 0;
  while (number == 0) {
    if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return fail_errno("getrandom");
    number >>= 8 * sizeof number - bits;
  }
  return number;
}

// Random so that an owner does not take its predecessor's descriptors for its own.
Result<std::uint32_t> random_generation() { return random_number<std::uint32_t>(32); }
Result<std::uint64_t> random_key() { return random_number<std::uint64_t>(ipc::kKeyBits); }

}  // namespace

Result<FileId> Files::open(std::uint32_t uid, std::uint32_t limit, std::uint32_t opener) {
  // With those that are closed, and wait for a program that is stopped while it writes to one.
  if (grace_.waiting_of(uid) >= kMaxWaitingFiles) grace_.poll();
  if (count_of(uid) + grace_.held_by(uid) >= limit || grace_.waiting_of(uid) >= kMaxWaitingFiles) {
    return fail(EMFILE, "the user has as many open files as they may");
  }
  LT_TRY(const std::uint32_t generation, random_generation());
  LT_TRY(const std::uint64_t key, random_key());
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
  File& file = files_[slot] = File{};
  file.generation = generation;
  file.uid = uid;
  file.key = key;
  if (journal_ != nullptr && opener != 0) file.opener = process_id(opener);
  ++open_of_[uid];
  publish(control_.segment().files[slot].generation, generation);
  write_down(slot);
  return FileId{slot, generation};
}

void Files::write_down(std::uint32_t slot) {
  if (journal_ == nullptr) return;
  const File& file = files_[slot];
  journal_->file_opened({slot, file.generation, file.uid, file.plain, file.opener, {}, file.key});
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
  if (old != 0) grace_.after_readers([this, old] { control_.free(old); }, Holders::these({files_[id.slot].uid}));
}

Result<void> Files::check_room(const File& file, std::uint32_t limit) const {
  if (indices_of(file.uid) < limit) return {};
  return fail(ENOMEM, "the open files of a user may have " + std::to_string(limit) +
                          " write indices; closing files that are not needed makes room");
}

void Files::append_event(File& file, Event& event) {
  file.events.push_back(event.slot);
  ++indices_of_[file.uid];
  events_.add_reference(event, file.uid);
}

Result<std::uint32_t> Files::add_event(FileId id, Event& event, std::uint32_t limit) {
  File& file = files_[id.slot];
  const auto found = file.index_of.find(event.slot);
  if (found != file.index_of.end()) return found->second;
  LT_CHECK(check_room(file, limit));
  if (file.events.size() == file.capacity) LT_CHECK(grow(id));
  const auto index = static_cast<std::uint32_t>(file.events.size());
  auto* const words = reinterpret_cast<std::uint32_t*>(control_.at(control_.segment().files[id.slot].table));
  words[index + 1] = event.slot;
  publish(words[0], index + 1);
  file.index_of.emplace(event.slot, index);
  append_event(file, event);
  if (journal_ != nullptr) journal_->file_event(id.slot, index, event.slot);
  return index;
}

Result<void> Files::set_plain_event(FileId id, Event& event, std::uint32_t limit) {
  File& file = files_[id.slot];
  if (!file.index_of.contains(event.slot)) LT_CHECK(check_room(file, limit));
  if (auto room = grace_.check_room(file.uid); !room) return fail(ENOMEM, std::move(room).error().message);
  const std::uint32_t words[] = {1, event.slot};  // a FileTable
  LT_TRY(const std::uint32_t table, control_.store(std::as_bytes(std::span(words))));
  publish_table(id, table | plan::kPlainFile);
  file.plain = true;
  if (!file.index_of.emplace(event.slot, 0).second) return {};
  append_event(file, event);
  write_down(id.slot);
  // The last one is what is written to it.
  if (journal_ != nullptr)
    journal_->file_event(id.slot, static_cast<std::uint32_t>(file.events.size() - 1), event.slot);
  return {};
}

void Files::close(FileId id) {
  File& file = files_[id.slot];
  if (file.open_by > 0) --file.open_by;
  close_unused(id.slot);
}

void Files::close_unused(std::uint32_t slot) {
  File& file = files_[slot];
  if (file.open_by > 0 || !file.keepers.empty()) return;
  publish_table({slot, file.generation}, 0);
  publish(control_.segment().files[slot].generation, 0);
  if (journal_ != nullptr) journal_->file_closed(slot);
  const auto events = std::move(file.events);
  const std::uint32_t uid = file.uid;
  if (--open_of_[uid] == 0) open_of_.erase(uid);
  if (const auto own = indices_of_.find(uid); own != indices_of_.end()) {
    own->second -= static_cast<std::uint32_t>(events.size());
    if (own->second == 0) indices_of_.erase(own);
  }
  file = {};
  for (const std::uint32_t event : events) events_.drop_reference(event, uid);
  // Who was given the descriptor, as another user, and is in the middle of writing to it has it open yet.
  grace_.after_readers([this, slot] { free_.push_back(slot); }, Holders::these({uid}));
}

Result<FileId> Files::restore(const SavedFile& saved, const std::vector<Event*>& events,
                              std::vector<ProcessId> keepers) {
  if (saved.slot >= plan::kMaxFiles || saved.generation == 0) return fail(EINVAL, "not a file");
  // What an owner from before there were keys has opened gets one now.
  std::uint64_t key = saved.key;
  if (key == 0) {
    LT_TRY(key, random_key());
  }
  while (files_.size() <= saved.slot) {
    free_.push_back(static_cast<std::uint32_t>(files_.size()));
    files_.emplace_back();
  }
  const auto free = std::find(free_.rbegin(), free_.rend(), saved.slot);
  if (free == free_.rend()) return fail(EBUSY, "the place of the file is taken");
  free_.erase(std::next(free).base());
  File& file = files_[saved.slot] = File{};
  file.generation = saved.generation;
  file.uid = saved.uid;
  file.key = key;
  file.opener = saved.opener;
  file.open_by = 0;
  file.restored = true;
  for (const ProcessId& keeper : keepers) wait_for(saved.slot, keeper);
  ++open_of_[saved.uid];
  publish(control_.segment().files[saved.slot].generation, saved.generation);
  write_down(saved.slot);
  const FileId id{saved.slot, saved.generation};
  LT_CHECK(restore_events(id, saved.plain, events));
  return id;
}

Result<void> Files::restore_events(FileId id, bool plain, const std::vector<Event*>& events) {
  for (Event* const event : events) {
    if (event == nullptr) return {};  // the indices after it would be others
    if (plain) {
      LT_CHECK(set_plain_event(id, *event));
    } else {
      LT_CHECK(add_event(id, *event));
    }
  }
  return {};
}

Result<void> Files::reopen(FileId id, std::uint32_t pid) {
  LT_CHECK(check(id));
  File& file = files_[id.slot];
  if (!file.restored) return fail(EBADF, "not a file of an earlier owner");
  ++file.open_by;
  std::erase_if(file.keepers, [&](const ProcessId& keeper) {
    if (keeper.pid != pid) return false;
    const auto waiting = waiting_for_.find({keeper.pid, keeper.start});
    std::erase(waiting->second, id.slot);
    if (waiting->second.empty()) waiting_for_.erase(waiting);
    return true;
  });
  return {};
}

void Files::await_again(FileId id, std::uint32_t pid) {
  const ProcessId keeper = process_id(pid);
  const auto& keepers = files_[id.slot].keepers;
  const bool is_known = std::find(keepers.begin(), keepers.end(), keeper) != keepers.end();
  if (keeper.start != 0 && !is_known) wait_for(id.slot, keeper);
  close(id);
}

void Files::wait_for(std::uint32_t slot, const ProcessId& keeper) {
  files_[slot].keepers.push_back(keeper);
  waiting_for_[{keeper.pid, keeper.start}].push_back(slot);
}

void Files::drop_dead_keepers() {
  for (auto at = waiting_for_.begin(); at != waiting_for_.end();) {
    const ProcessId keeper{at->first.first, at->first.second};
    if (process_id(keeper.pid) == keeper) {
      ++at;
      continue;
    }
    for (const std::uint32_t slot : at->second) {
      std::erase(files_[slot].keepers, keeper);
      close_unused(slot);
    }
    at = waiting_for_.erase(at);
  }
}

std::vector<std::uint32_t> Files::keepers() const {
  std::vector<std::uint32_t> pids;
  for (const auto& [keeper, slots] : waiting_for_) pids.push_back(keeper.first);
  return pids;
}

}  // namespace landtrace::domain
