#include "fuse/waiters.hpp"

#include "fuse/answer.hpp"

namespace landtrace::fuse {

void Waiters::park(fuse_req_t request, Handle& handle, const tracefs::Caller& caller, std::size_t size,
                   std::uint64_t offset) {
  parked_.push_back({request, &handle, caller, size, offset, handle.file->wakes()});
}

void Waiters::watch(Handle& handle, fuse_pollhandle* poll, short wanted, short told) {
  drop(handle);
  handle.poll = poll;
  handle.wanted = wanted;
  handle.told = told;
  watched_.push_back(&handle);
}

void Waiters::drop(Handle& handle) {
  if (handle.poll == nullptr) return;
  fuse_pollhandle_destroy(std::exchange(handle.poll, nullptr));
  std::erase(watched_, &handle);
}

// True: it is answered. A reader that was woken (ioctl) gets the end of the file when there is nothing, as from the
// kernel.
bool Waiters::serve_one(const Parked& parked) {
  if (fuse_req_interrupted(parked.request) != 0) {
    answer_error(parked.request, EINTR);
    return true;
  }
  tracefs::OpenFile& file = *parked.handle->file;
  const bool is_woken = file.wakes() != parked.wakes;
  if (!is_woken && !file.has_input()) return false;
  buffer_.resize(std::max(buffer_.size(), parked.size));
  auto got = file.read(parked.caller, {buffer_.data(), parked.size}, parked.offset);
  if (!got && got.error().code == tracefs::kNotYet) return false;
  if (!got && got.error().code == EAGAIN) {
    if (!is_woken) return false;
    got = 0;
  }
  has_read(*parked.handle);
  if (!got) {
    answer_error(parked.request, got.error().code);
  } else {
    answer_data(parked.request, buffer_.data(), *got);
  }
  return true;
}

// True: the kernel was told. A poll handle is good for one notification; the kernel polls again and brings another one.
bool Waiters::tell(Handle& handle) {
  const short ready = static_cast<short>(handle.file->ready() & handle.wanted);
  if ((ready & ~handle.told) == 0) {
    handle.told = static_cast<short>(handle.told & ready);
    return false;
  }
  fuse_lowlevel_notify_poll(handle.poll);
  fuse_pollhandle_destroy(std::exchange(handle.poll, nullptr));
  return true;
}

Waiters::Round Waiters::serve() {
  const auto served = parked_.remove_if([this](const Parked& parked) { return serve_one(parked); });
  const auto told = std::erase_if(watched_, [this](Handle* handle) { return is_waiting(*handle) && tell(*handle); });
  const bool is_polled =
      std::any_of(watched_.begin(), watched_.end(), [](Handle* handle) { return is_waiting(*handle); });
  if (parked_.empty()) buffer_ = {};
  return {!parked_.empty() || is_polled, served + told != 0};
}

void Waiters::give_up(int error) {
  for (const Parked& parked : std::exchange(parked_, {})) answer_error(parked.request, error);
}

}  // namespace landtrace::fuse
