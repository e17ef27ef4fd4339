# fish completion for landtrace
function __landtrace_complete
    set -l tokens (commandline -opc)
    set -l program (command -s $tokens[1]); or return
    set -l helper (dirname $program)/../share/landtrace/complete
    env LANDTRACE=$program $helper $tokens[2..-1] (commandline -ct)
end
# Files where there is nothing else to be said.
complete -c landtrace -f -n '__landtrace_complete | string length -q' -a '(__landtrace_complete)'
