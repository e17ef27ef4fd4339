// An object's programs in a domain.
#pragma once

#include <bpf/libbpf.h>

#include <memory>
#include <string>
#include <vector>

#include "bpf/map_layout.hpp"
#include "bpf_calls/objects.hpp"

namespace landtrace::loading {

class Session {
 public:
  Session();

  // False: it has been said why not.
  bool load(const char* path);
  // By their sections (section.hpp). An event that is not there yet gets its program when it comes.
  bool attach();
  // "SYSTEM:EVENT" of each, or "" of one at a place, with a 0 behind it.
  [[nodiscard]] std::string events() const;

  // Lines and records that have come. False: nobody reads the output.
  bool show_new();
  void show_maps();
  // Programs that did not fit their events, when these came. False: there are none.
  bool complain_of_links();

 private:
  struct CloseObject {
    void operator()(bpf_object* object) const { bpf_object__close(object); }
  };
  bool take_lines();
  void show_lines();
  void show_records();

  std::unique_ptr<bpf_object, CloseObject> object_;
  std::byte* data_ = nullptr;
  bpf::MapLayout lines_{};
  struct Ring {
    std::string name;
    bpf_calls::ObjectRef map;
  };
  std::vector<Ring> rings_;
};

}  // namespace landtrace::loading
