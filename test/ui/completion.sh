#!/bin/sh
# SPDX-License-Identifier: MIT
# Completion of the command line in bash, zsh and fish: it has every option and
# every word of an option's argument. Shells that are not installed are left
# out, in words.
# shellcheck source=test/ui/checks
. "$(dirname "$0")/checks"

root=$PWD

options=$("$ncclstat" --help=all | sed -n 's/^ *\(-., \)\{0,1\}--\([a-z-]*\).*/\2/p')

# --- bash ------------------------------------------------------------------

cat >"$tmp/bash" <<'END'
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_ncclstat ncclstat "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
END

# in_bash WORD...: prints the completions of the last word.
in_bash() {
	bash "$tmp/bash" "$root/$build/man/completion.bash" ncclstat "$@"
}

# has_all PATTERN: succeeds if each option is a line of $tmp/found with the
# pattern around it, %s.
has_all() {
	[ -n "$options" ] || return 1
	for option in $options; do
		# shellcheck disable=SC2059 # the pattern is a format
		grep -q -e "$(printf "$1" "--$option")" "$tmp/found" && continue
		echo "without --$option"
		return 1
	done
}

words_in_bash() {
	[ "$(in_bash --dump = j)" = json ] &&
		[ "$(in_bash --view pro)" = proxy ] &&
		[ "$(in_bash -v pro)" = proxy ] &&
		[ "$(in_bash --view = pro)" = proxy ]
}

recording_in_bash() {
	touch "$tmp/job.ncs"
	(cd "$tmp" && [ "$(in_bash --replay jo)" = job.ncs ])
}

in_bash -- >"$tmp/found"
check 'bash has every option' has_all '^%s$'
check 'bash has the words of an argument' words_in_bash
check 'bash completes a recording' recording_in_bash
check 'bash completes a command' [ "$(in_bash diag)" = diagnose ]

# --- zsh -------------------------------------------------------------------

if command -v zsh >/dev/null 2>&1; then
	mkdir "$tmp/functions"
	cp "$root/$build/man/completion.zsh" "$tmp/functions/_ncclstat"
	cat >"$tmp/zsh" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= fpath=($1 \$fpath); autoload -U compinit; compinit -D -u"
zpty -w shell "setopt nobeep nolistambiguous; LISTMAX=10000 COLUMNS=200 LINES=200"
# The prompt comes once the line editor reads keys: before, the terminal would take
# control-U for itself.
zpty -w shell "zstyle ':completion:*' list-separator ''; PS1=RE''ADY"
zpty -r shell heard '*READY*'
zpty -n -w shell "ncclstat $2"$'\t\t'
# The next command is read once the list has been shown.
zpty -w shell $'\C-u'"echo DO''NE"
zpty -r shell heard '*DONE*' && print -r -- "$heard"
zpty -d shell
END
	zsh -f "$tmp/zsh" "$tmp/functions" '--' >"$tmp/found" 2>&1
	check 'zsh has every option' has_all '%s'
	zsh -f "$tmp/zsh" "$tmp/functions" '--view=pro' >"$tmp/found" 2>&1
	check 'zsh has the words of an argument' grep -q 'view=proxy' "$tmp/found"
	zsh -f "$tmp/zsh" "$tmp/functions" 'diag' >"$tmp/found" 2>&1
	check 'zsh completes a command' grep -q 'ncclstat diagnose' "$tmp/found"
else
	echo 'skipped: zsh is not installed'
fi

# --- fish ------------------------------------------------------------------

if command -v fish >/dev/null 2>&1; then
	# in_fish LINE: prints the completions of the end of the line.
	in_fish() {
		HOME=$tmp fish --no-config -c "source $root/$build/man/completion.fish
			complete -C '$1'" | cut -f1
	}
	in_fish 'ncclstat --' >"$tmp/found"
	check 'fish has every option' has_all '^%s=*$'
	in_fish 'ncclstat --view pro' >"$tmp/found"
	check 'fish has the words of an argument' grep -qx proxy "$tmp/found"
	in_fish 'ncclstat diag' >"$tmp/found"
	check 'fish completes a command' grep -qx diagnose "$tmp/found"
else
	echo 'skipped: fish is not installed'
fi

exit "$failed"
