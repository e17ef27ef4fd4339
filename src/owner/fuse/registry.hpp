// Objects that the kernel names by their address, from opening to releasing. Those that it never releases go with the
// registry.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

namespace landtrace::fuse {

template <typename T>
class Registry {
 public:
  template <typename... Args>
  T& add(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    T& added = *made;
    all_.emplace(&added, std::move(made));
    return added;
  }
  void remove(T& thing) { all_.erase(&thing); }
  void clear() { all_.clear(); }
  template <typename F>
  void for_each(F&& each) {
    for (auto& [address, thing] : all_) each(*thing);
  }

  static std::uint64_t name(T& thing) { return reinterpret_cast<std::uintptr_t>(&thing); }
  // `name` is what the kernel was given by name().
  static T& named(std::uint64_t name) { return *reinterpret_cast<T*>(static_cast<std::uintptr_t>(name)); }

 private:
  std::unordered_map<T*, std::unique_ptr<T>> all_;
};

}  // namespace landtrace::fuse
