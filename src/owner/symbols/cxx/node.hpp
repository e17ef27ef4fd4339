// A C++ linker's name as a tree. Parts that are named once more by a substitution are shared, so that a short name can
// stand for more text than any memory holds: the tree's size is bounded by the name's, its text's is not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <type_traits>

namespace landtrace::symbols::cxx {

enum class Kind : std::uint8_t {
  kText,
  kPattern,     // text in which each $ stands for the next of the parts, each @ for it as an operand
  kList,        // parts, with commas between
  kQualified,   // left::right
  kTemplate,    // left<parts>
  kFunction,    // right left(parts) third: of a function's type there is no left, third may be what it throws.
                // The template parameters in it are those of `scope`, a kTemplate, if there is one
  kSuffixed,    // a type and what stands behind it: left and text
  kCv,          // left and one of const, volatile and restrict, by number
  kPointer,     // also a reference, by text
  kMember,      // a pointer to a member of left, of type right
  kArray,       // of left, right is the dimension
  kVector,      // of left, right is the dimension
  kPack,        // parts
  kParameter,   // of the template that it is written in, by number
  kLater,       // left, an argument that is known behind the name only
  kLambda,      // left, in which the parameters are its own: parts, else auto
  kExpansion,   // left, once for each element of its pack
  kPackLength,  // of left's pack
  kLiteral,     // text of type left
};

// What is said of functions behind their parameters.
constexpr unsigned kConst = 1, kVolatile = 2, kRestrict = 4, kLvalue = 8, kRvalue = 16;

struct Node {
  Kind kind = Kind::kText;
  std::string_view text = {};
  const Node* left = nullptr;
  const Node* right = nullptr;
  const Node* third = nullptr;
  const Node* scope = nullptr;
  std::span<const Node* const> parts = {};
  unsigned number = 0;
  bool is_simple = false;        // an operand without brackets
  std::uint64_t parameters = 0;  // of templates, that are written in it: a bit for each number
};

class Tree {
 public:
  const Node* add(Node node) {
    if (node.kind != Kind::kLambda && node.kind != Kind::kExpansion) {
      if (node.left != nullptr) node.parameters |= node.left->parameters;
      if (node.scope == nullptr) {
        if (node.right != nullptr) node.parameters |= node.right->parameters;
        if (node.third != nullptr) node.parameters |= node.third->parameters;
        for (const Node* part : node.parts) node.parameters |= part->parameters;
      }
    }
    return std::construct_at(memory_of<Node>(1), node);
  }
  Node* add_later(unsigned number) {
    return std::construct_at(memory_of<Node>(1), Node{.kind = Kind::kLater, .number = number});
  }
  std::span<const Node* const> keep(std::span<const Node* const> parts) {
    const auto copy = memory_of<const Node*>(parts.size());
    std::uninitialized_copy(parts.begin(), parts.end(), copy);
    return {copy, parts.size()};
  }
  std::string_view keep(std::string_view text) {
    const auto copy = memory_of<char>(text.size());
    std::uninitialized_copy(text.begin(), text.end(), copy);
    return {copy, text.size()};
  }

 private:
  template <class T>
  T* memory_of(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(memory_.allocate(count * sizeof(T), alignof(T)));
  }

  alignas(std::max_align_t) std::array<std::byte, 16'384> first_;
  std::pmr::monotonic_buffer_resource memory_{first_.data(), first_.size()};
};

}  // namespace landtrace::symbols::cxx
