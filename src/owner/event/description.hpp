// What a program says of its structs, so that their members can be shown. The kernel knows a field's struct by name and
// size alone; this comes beside the declaration, and is in no `format` file.
//
//   STRUCT SIZE{MEMBER;MEMBER;…}STRUCT SIZE{…}…        MEMBER = TYPE NAME OFFSET SIZE
//
//   position 8{s32 x 0 4;s32 y 4 4}box 24{struct position corners*2 0 16;char[] name 16 8}
//
// TYPE is u8 … u64, s8 … s64, bool, float, double, ptr, char[] (text), or `struct NAME`, described or not. NAME*COUNT
// is an array; SIZE is that of all of it. Offsets are those in the struct, with its padding.
#pragma once

#include <string_view>

#include "event/declaration.hpp"

namespace landtrace::event {

// Most bytes of a description.
inline constexpr std::size_t kMaxDescription = 4096;

// The type of members that are true or false.
inline constexpr const char* kMemberBool = "_Bool";

// Whether it may be one: not too long, and all in one line.
bool is_description(std::string_view text);

// Gives the fields that are structs their members, as far as a struct of their name and size is described. What is no
// description in this form says nothing. The text may come from anybody.
void describe_structs(Declaration& declaration, std::string_view description);

}  // namespace landtrace::event
