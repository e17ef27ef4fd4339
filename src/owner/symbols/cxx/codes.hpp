// What stands for what in a linker's name.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace landtrace::symbols::cxx {

struct Code {
  std::string_view code;
  std::string_view text;
};

constexpr std::array kBuiltinTypes = std::to_array<Code>({
    {"a", "signed char"},
    {"b", "bool"},
    {"c", "char"},
    {"d", "double"},
    {"e", "long double"},
    {"f", "float"},
    {"g", "__float128"},
    {"h", "unsigned char"},
    {"i", "int"},
    {"j", "unsigned int"},
    {"l", "long"},
    {"m", "unsigned long"},
    {"n", "__int128"},
    {"o", "unsigned __int128"},
    {"s", "short"},
    {"t", "unsigned short"},
    {"v", "void"},
    {"w", "wchar_t"},
    {"x", "long long"},
    {"y", "unsigned long long"},
    {"z", "..."},
    {"Da", "auto"},
    {"Dc", "decltype(auto)"},
    {"Dd", "decimal64"},
    {"De", "decimal128"},
    {"Df", "decimal32"},
    {"Dh", "half"},
    {"Di", "char32_t"},
    {"Dn", "decltype(nullptr)"},
    {"Ds", "char16_t"},
    {"Du", "char8_t"},
});

// As names: "operator+".
constexpr std::array kOperatorNames = std::to_array<Code>({
    {"aN", "&="},      {"aS", "="},   {"aa", "&&"}, {"ad", "&"},   {"an", "&"},         {"aw", " co_await"},
    {"cl", "()"},      {"cm", ","},   {"co", "~"},  {"dV", "/="},  {"da", " delete[]"}, {"de", "*"},
    {"dl", " delete"}, {"ds", ".*"},  {"dv", "/"},  {"eO", "^="},  {"eo", "^"},         {"eq", "=="},
    {"ge", ">="},      {"gt", ">"},   {"ix", "[]"}, {"lS", "<<="}, {"le", "<="},        {"ls", "<<"},
    {"lt", "<"},       {"mI", "-="},  {"mL", "*="}, {"mi", "-"},   {"ml", "*"},         {"mm", "--"},
    {"na", " new[]"},  {"ne", "!="},  {"ng", "-"},  {"nt", "!"},   {"nw", " new"},      {"oR", "|="},
    {"oo", "||"},      {"or", "|"},   {"pL", "+="}, {"pl", "+"},   {"pm", "->*"},       {"pp", "++"},
    {"ps", "+"},       {"pt", "->"},  {"qu", "?"},  {"rM", "%="},  {"rS", ">>="},       {"rm", "%"},
    {"rs", ">>"},      {"ss", "<=>"},
});

// What stands behind a code, a letter each: e an expression, t a type, m a member's name, E expressions up to an E.
struct Operation {
  std::string_view code;
  std::string_view operands;
  std::string_view pattern;  // as of a node
};
constexpr std::array kOperations = std::to_array<Operation>({
    {"aN", "ee", "@&=@"},
    {"aS", "ee", "@=@"},
    {"aa", "ee", "@&&@"},
    {"an", "ee", "@&@"},
    {"at", "t", "alignof @"},
    {"aw", "e", "co_await @"},
    {"az", "e", "alignof @"},
    {"cc", "te", "const_cast<$>($)"},
    {"cm", "ee", "@,@"},
    {"co", "e", "~@"},
    {"dV", "ee", "@/=@"},
    {"da", "e", "delete[] @"},
    {"dc", "te", "dynamic_cast<$>($)"},
    {"de", "e", "*@"},
    {"di", "me", ".$=@"},
    {"dl", "e", "delete @"},
    {"ds", "ee", "@.*@"},
    {"dt", "em", "@.@"},
    {"dv", "ee", "@/@"},
    {"dx", "ee", "[$]=@"},
    {"dX", "eee", "[$ ... $]=@"},
    {"eO", "ee", "@^=@"},
    {"eo", "ee", "@^@"},
    {"eq", "ee", "@==@"},
    {"ge", "ee", "@>=@"},
    {"gs", "e", "::$"},
    {"gt", "ee", "(@>@)"},
    {"il", "E", "{$}"},
    {"ix", "ee", "@[$]"},
    {"lS", "ee", "@<<=@"},
    {"le", "ee", "@<=@"},
    {"ls", "ee", "@<<@"},
    {"lt", "ee", "@<@"},
    {"mI", "ee", "@-=@"},
    {"mL", "ee", "@*=@"},
    {"mi", "ee", "@-@"},
    {"ml", "ee", "@*@"},
    {"mm_", "e", "--@"},
    {"mm", "e", "@--"},
    {"ne", "ee", "@!=@"},
    {"ng", "e", "-@"},
    {"nt", "e", "!@"},
    {"nx", "e", "noexcept($)"},
    {"oR", "ee", "@|=@"},
    {"oo", "ee", "@||@"},
    {"or", "ee", "@|@"},
    {"pL", "ee", "@+=@"},
    {"pl", "ee", "@+@"},
    {"pm", "ee", "@->*@"},
    {"pp_", "e", "++@"},
    {"pp", "e", "@++"},
    {"ps", "e", "+@"},
    {"pt", "em", "@->@"},
    {"qu", "eee", "@?@ : @"},
    {"rM", "ee", "@%=@"},
    {"rS", "ee", "@>>=@"},
    {"rc", "te", "reinterpret_cast<$>($)"},
    {"rm", "ee", "@%@"},
    {"rs", "ee", "@>>@"},
    {"sc", "te", "static_cast<$>($)"},
    {"ss", "ee", "@<=>@"},
    {"st", "t", "sizeof ($)"},
    {"sz", "e", "sizeof @"},
    {"te", "e", "typeid @"},
    {"ti", "t", "typeid ($)"},
    {"tl", "tE", "${$}"},
    {"tr", "", "throw"},
    {"tw", "e", "throw @"},
    {"cl", "eE", "@($)"},
});

// What stands before a name or a type that is no function: n a name, e an encoding, t a type.
struct Special {
  std::string_view code;
  char operand;
  std::string_view pattern;
};
constexpr std::array kSpecials = std::to_array<Special>({
    {"TV", 't', "vtable for $"},
    {"TT", 't', "VTT for $"},
    {"TI", 't', "typeinfo for $"},
    {"TS", 't', "typeinfo name for $"},
    {"TF", 't', "typeinfo fn for $"},
    {"TH", 'n', "TLS init function for $"},
    {"TW", 'n', "TLS wrapper function for $"},
    {"TA", 'a', "template parameter object for $"},
    {"GV", 'n', "guard variable for $"},
    {"GA", 'e', "hidden alias for $"},
    {"GTn", 'e', "non-transaction clone for $"},
    {"GTt", 'e', "transaction clone for $"},
});

// By their letter: as such, as before the name of a constructor or destructor, and the arguments then.
struct Standard {
  char code;
  std::string_view text;
  std::string_view name;
  std::string_view arguments;
};
constexpr std::array kStandards = std::to_array<Standard>({
    {'a', "std::allocator", "allocator", ""},
    {'b', "std::basic_string", "basic_string", ""},
    {'s', "std::string", "basic_string", "char, std::char_traits<char>, std::allocator<char>"},
    {'i', "std::istream", "basic_istream", "char, std::char_traits<char>"},
    {'o', "std::ostream", "basic_ostream", "char, std::char_traits<char>"},
    {'d', "std::iostream", "basic_iostream", "char, std::char_traits<char>"},
});

template <class Table>
auto find_code(const Table& table, std::string_view text) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& one) { return text.starts_with(one.code); });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace landtrace::symbols::cxx
