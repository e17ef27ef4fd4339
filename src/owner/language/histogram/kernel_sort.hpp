// Sorts as Linux 6.12 sorts the rows of a histogram. The kernel's sort is not stable, so rows that compare equal come
// in an order of its own, which a `hist` file must show too. It is a heap sort; it gets the rows in the order of their
// keys' bytes.
//
// Three things decide the order of equal rows. A row that sinks goes down to a leaf first, along the larger children,
// and then up to its place. Of two equal children the right one is the larger. While more than three rows are left, the
// two largest leave the heap together.
#pragma once

#include <utility>
#include <vector>

namespace landtrace::language {

// No histogram of the kernel has more.
inline constexpr std::size_t kMostRowsOfKernel = 131072;

// `compare(a, b)` is negative, 0 or positive.
template <typename T, typename Compare>
class KernelSort {
 public:
  KernelSort(std::vector<T>& rows, Compare compare) : rows_(rows), compare_(compare), left_(rows.size()) {}

  void sort() {
    if (rows_.size() < 2) return;
    for (std::size_t root = rows_.size() / 2; root-- > 0;) sift_down(root);
    while (left_ > 3) sift_down(take_two());
    std::swap(rows_[0], rows_[--left_]);
    if (left_ == 2 && compare_(rows_[0], rows_[1]) > 0) std::swap(rows_[0], rows_[1]);
  }

 private:
  // Puts the largest, and the larger of its children, behind the heap. What takes the place of that child sinks.
  std::size_t take_two() {
    std::swap(rows_[0], rows_[--left_]);
    const std::size_t child = compare_(rows_[1], rows_[2]) <= 0 ? 2 : 1;
    std::swap(rows_[child], rows_[--left_]);
    sift_down(child);
    return 0;
  }

  void sift_down(std::size_t root) {
    std::size_t place = leaf_below(root);
    while (place != root && compare_(rows_[root], rows_[place]) >= 0) place = (place - 1) / 2;
    // What is on the way from the root to there moves up by one, and the root takes the place.
    for (std::size_t at = place; at != root;) {
      at = (at - 1) / 2;
      std::swap(rows_[at], rows_[place]);
    }
  }

  [[nodiscard]] std::size_t leaf_below(std::size_t at) const {
    while (2 * at + 2 < left_) {
      const std::size_t child = 2 * at + 1;
      at = compare_(rows_[child], rows_[child + 1]) > 0 ? child : child + 1;
    }
    return 2 * at + 2 == left_ ? 2 * at + 1 : at;
  }

  std::vector<T>& rows_;
  Compare compare_;
  std::size_t left_;  // in the heap
};

template <typename T, typename Compare>
void sort_as_kernel(std::vector<T>& rows, Compare compare) {
  KernelSort<T, Compare>(rows, compare).sort();
}

}  // namespace landtrace::language
