# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion of bondctl, which itself says what a word may be (`bondctl complete`).

function __bondctl_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l begin (string match -r -- '^--[a-z-]+=' "$word")
    set -q begin[1]; or set begin ''
    set -lx PATH $PATH /usr/local/sbin /usr/sbin
    for offer in ($words[1] complete -- $words[2..-1] "$word" 2>/dev/null)
        switch $offer
            case :files
                printf '%s\n' $begin(__fish_complete_path (string replace -- "$begin" '' "$word"))
            case :directories
                printf '%s\n' \
                    $begin(__fish_complete_directories (string replace -- "$begin" '' "$word") '')
            case '*'
                printf '%s\n' $offer
        end
    end
end

complete -c bondctl -f -a '(__bondctl_complete)'
