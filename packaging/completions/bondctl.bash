# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion of bondctl, which itself says what a word may be (`bondctl complete`).

_bondctl() {
    local line=${COMP_LINE:0:COMP_POINT} word offer
    local -a words
    # COMP_WORDS would have MAC addresses in pieces.
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[-1]}
    COMPREPLY=()
    while IFS=$'\t' read -r offer _; do
        case $offer in
        :files) compopt -o default ;;
        :directories) compopt -o dirnames ;;
        # A device may be called by what the shell would take for a command.
        *) printf -v offer %q "$offer" && COMPREPLY+=("$offer") ;;
        esac
    done < <(PATH=$PATH:/usr/local/sbin:/usr/sbin "${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    # Readline replaces only what follows the last of these characters.
    if [[ $word == *[:=]* && ${COMP_WORDBREAKS} == *[:=]* ]]; then
        local before=${word%"${word##*[:=]}"}
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
}
complete -F _bondctl bondctl
