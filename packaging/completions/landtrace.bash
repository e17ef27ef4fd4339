# bash completion for landtrace

# _landtrace_add QUOTE WORD: offers it so that the shell reads this very word, behind an opened quote if there is one.
_landtrace_add() {
  local word=$2
  case $1 in
    \') word=${word//\'/\'\\\'\'} ;;
    \") word=$(printf %s "$word" | sed 's/[\\$`"]/\\&/g') ;;
    *) [[ $word == *[!A-Za-z0-9_.,:/@%+=-]* ]] && printf -v word %q "$word" ;;
  esac
  COMPREPLY+=("$word")
}

_landtrace() {
  local cur prev words cword found word quote= typed= before=
  _get_comp_words_by_ref -n :, cur prev words cword || return
  local helper=${COMP_WORDS[0]}
  helper=$(type -P -- "$helper") || return
  case $cur in
    \'*) quote=\' typed=${cur:1} ;;
    \"*) quote=\" && IFS= read typed <<<"${cur:1}" ;;
    *) IFS= read typed <<<"$cur" ;;
  esac
  # What is completed begins behind a colon, where that parts words.
  if [[ -z $quote && $COMP_WORDBREAKS == *:* ]]; then before=${typed%"${typed##*:}"}; fi
  # Names of functions can be anything, also `$(...)`: nothing may expand them.
  mapfile -t found < <(LANDTRACE=$helper "${helper%/*}/../share/landtrace/complete" "${words[@]:1:cword-1}" "$typed")
  COMPREPLY=()
  for word in "${found[@]}"; do
    if [[ $word == "$typed"* ]]; then _landtrace_add "$quote" "${word#"$before"}"; fi
  done
  case ${COMPREPLY[*]-} in
    *: | *,) compopt -o nospace ;;
  esac
}
complete -o default -F _landtrace landtrace
