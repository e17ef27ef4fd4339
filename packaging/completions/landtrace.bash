# bash completion for landtrace
_landtrace() {
  local cur prev words cword
  _get_comp_words_by_ref -n :, cur prev words cword || return
  local helper=${COMP_WORDS[0]}
  helper=$(command -v -- "$helper") || return
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$(LANDTRACE=$helper "${helper%/*}/../share/landtrace/complete" "${words[@]:1:cword}")" -- "$cur"))
  case ${COMPREPLY[*]-} in
    *: | *,) compopt -o nospace ;;
  esac
  __ltrim_colon_completions "$cur"
}
complete -o default -F _landtrace landtrace
