// Who makes room in shared memory where there is none left.
#pragma once

namespace landtrace::segments {

class RoomMaker {
 public:
  // Frees what is kept only until somebody needs room. True if there was any.
  virtual bool give_way() = 0;
  // Frees some of whatever waits at all. True if there was any.
  virtual bool give_way_entirely() = 0;

 protected:
  ~RoomMaker() = default;
};

}  // namespace landtrace::segments
