# Puts a page together: its page.html with styles and modules in it, and the hashes of both in its security policy.
# Writes it as two C++ string literals, before and behind where the data go.
#
#     cmake -DFOLDER=… -DMODULES="a.js;b.js" -DSTYLES=a.css -DOUT=page.inc -P bundle.cmake
#
# All modules become one script, in one scope: `import` lines and the word `export` are left out. So a module may import
# by names alone, and two modules cannot give the same name to different things.

# A policy names scripts by base64 of their SHA-256: 64 hexadecimal digits, of which each three make two of 6 bits.
function(base64_of_sha256 text result)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hash "${text}")
  string(APPEND hash 00)
  set(base64)
  foreach(at RANGE 0 63 3)
    string(SUBSTRING ${hash} ${at} 3 three)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    string(SUBSTRING ${digits} ${high} 1 high)
    string(SUBSTRING ${digits} ${low} 1 low)
    string(APPEND base64 ${high}${low})
  endforeach()
  # 256 bits are 43 digits.
  string(SUBSTRING ${base64} 0 43 base64)
  set(${result} "sha256-${base64}=" PARENT_SCOPE)
endfunction()

set(script "'use strict';\n(() => {\n")
foreach(module ${MODULES})
  file(READ ${FOLDER}/${module} text)
  string(REGEX REPLACE "(^|\n)import [^;]*;" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  string(APPEND script "\n// ${module}\n${text}")
endforeach()
string(APPEND script "})();\n")
set(style)
foreach(part ${STYLES})
  file(READ ${FOLDER}/${part} text)
  string(APPEND style "${text}")
endforeach()
file(READ ${FOLDER}/page.html page)
base64_of_sha256("${script}" script_hash)
base64_of_sha256("${style}" style_hash)
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")

string(FIND "${page}" "@DATA@" data)
string(SUBSTRING "${page}" 0 ${data} begin)
math(EXPR data "${data} + 6")
string(SUBSTRING "${page}" ${data} -1 end)
string(REPLACE "@SCRIPT@" "${script}" end "${end}")
file(WRITE ${OUT}.new "R\"=page=(${begin})=page=\",\nR\"=page=(${end})=page=\",\n")
file(RENAME ${OUT}.new ${OUT})
