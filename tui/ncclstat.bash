# SPDX-License-Identifier: MIT
# Completion of ncclstat's command line for bash.
#
# test/unit/tui/commands/test_options.c compares this file with
# ncclstat/tables/options.def: it must have each option and each word of an
# option's argument.

# _ncclstat_reply ARGUMENT...: completes with what compgen makes of these.
_ncclstat_reply()
{
	mapfile -t COMPREPLY < <(compgen "$@")
}

# _ncclstat_list FIELD: prints a field of each segment that has it.
_ncclstat_list()
{
	ncclstat --list 2>/dev/null |
		awk -v field="$1" 'NR > 1 && $field != "-" { print $field }'
}

_ncclstat()
{
	local word=$2 option=$3
	local -A words=(
		[--view]='ranks communicators channels proxy collectives
			timeline diagnose ranges functions sizes'
		[--window]='now 10s 100s start'
		[--export]='perfetto chrome ndjson csv'
		[--color]='auto always never'
		[--symbols]='block braille ascii'
		[--scheme]='normal colorblind contrast mono'
		[--level]='info diag debug'
		[--numbers]='scaled exact'
		[--units]='bytes bits'
		[--header]='show hide'
		[--idle]='show hide'
		[--set]='default events= sample= timing='
		[--what-if]='net:x latency:- without: stream: host: launch:
			algorithm: overlap'
		# Items of --set.
		[events]='all none default'
		[sample]='default'
		[timing]='auto all off 1/ default'
	)
	# Arguments that may be left out: they must be joined by "=".
	local -A optional=(
		[--dump]='text json'
		[--diagnose]='text json'
		[--critical-path]='text json'
		[--mouse]='off on'
	)
	local -A letters=(
		[-i]=--interval [-n]=--count [-o]=--output [-p]=--pid
		[-s]=--set [-v]=--view [-w]=--window
	)

	# "--view=ra" arrives as three words, and so does "kernel=off".
	if [[ $word == '=' ]]; then
		word=
	elif [[ $option == '=' ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	option=${letters[${option:--}]:-$option}

	COMPREPLY=()
	# An item of a setting or of a scenario may be continued.
	[[ $option != --set && $option != --what-if ]] ||
		compopt -o nospace 2>/dev/null
	if [[ ${words[${option:--}]} ]]; then
		_ncclstat_reply -W "${words[$option]}" -- "$word"
		return
	fi
	if [[ ${optional[${option:--}]} &&
		(${COMP_WORDS[COMP_CWORD]} == '=' ||
		${COMP_WORDS[COMP_CWORD - 1]} == '=') ]]; then
		_ncclstat_reply -W "${optional[$option]}" -- "$word"
		return
	fi
	case $option in
	--config)
		_ncclstat_reply -W 'none' -f -- "$word"
		return
		;;
	--dir)
		_ncclstat_reply -d -- "$word"
		return
		;;
	--keys | --aliases | --output | --record)
		_ncclstat_reply -f -- "$word"
		return
		;;
	--pid)
		_ncclstat_reply -W "$(_ncclstat_list 1)" -- "$word"
		return
		;;
	--comm)
		_ncclstat_reply -W "$(_ncclstat_list 3)" -- "$word"
		return
		;;
	--interval | --wait | --count | --sort | --columns | --synthetic | \
		--at | --from | --until | --duration | --rotate-size | \
		--rotate-time | --keep | --range)
		return
		;;
	esac

	# A word that is no option is a recording.
	if [[ $word != -* ]] &&
		[[ " ${COMP_WORDS[*]} " =~ \ (--(replay|export|dump|diagnose|list|critical-path|what-if)|-[dl])[\ =] ]]; then
		_ncclstat_reply -f -- "$word"
		return
	fi

	_ncclstat_reply -W '
		--dump --diagnose --record --duration --rotate-size --rotate-time
		--keep --compress --replay --export --critical-path --what-if --range
		--at --from --until --output --wait
		--list --clean --set --pid --comm --dir
		--interval --count --view
		--window --color --ascii --symbols --scheme --level --sort --columns
		--numbers --units --header --idle --mouse --config
		--aliases --synthetic --keys --help --version
		' -- "$word"
}

complete -F _ncclstat ncclstat
