# SPDX-License-Identifier: MIT
# Completion of ncclstat's command line for bash.
#
# test/unit/tui/commands/test_options.c holds it to ncclstat/tables/options.def: each option
# and each word that one expects is in here.

_ncclstat()
{
	local word=$2 option=$3

	# "--view=ra" arrives as three words.
	if [[ $word == '=' ]]; then
		word=
	elif [[ $option == '=' ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi

	COMPREPLY=()
	case $option in
	--dump | --diagnose | --critical-path)
		# Its word is optional and must be joined by "=".
		if [[ ${COMP_WORDS[COMP_CWORD]} == '=' ||
			${COMP_WORDS[COMP_CWORD - 1]} == '=' ]]; then
			mapfile -t COMPREPLY < <(
				compgen -W 'text json' -- "$word")
			return
		fi
		;;
	--view | -v)
		mapfile -t COMPREPLY < <(compgen -W \
			'ranks communicators channels proxy collectives timeline diagnose ranges sizes' \
			-- "$word")
		return
		;;
	--window | -w)
		mapfile -t COMPREPLY < <(
			compgen -W 'now 10s 100s start' -- "$word")
		return
		;;
	--export)
		mapfile -t COMPREPLY < <(
			compgen -W 'perfetto chrome ndjson csv' -- "$word")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(
			compgen -W 'auto always never' -- "$word")
		return
		;;
	--symbols)
		mapfile -t COMPREPLY < <(
			compgen -W 'block braille ascii' -- "$word")
		return
		;;
	--scheme)
		mapfile -t COMPREPLY < <(
			compgen -W 'normal colorblind contrast mono' -- "$word")
		return
		;;
	--level)
		mapfile -t COMPREPLY < <(compgen -W 'info diag debug' -- "$word")
		return
		;;
	--numbers)
		mapfile -t COMPREPLY < <(compgen -W 'scaled exact' -- "$word")
		return
		;;
	--mouse)
		# As for --dump.
		if [[ ${COMP_WORDS[COMP_CWORD]} == '=' ||
			${COMP_WORDS[COMP_CWORD - 1]} == '=' ]]; then
			mapfile -t COMPREPLY < <(compgen -W 'off on' -- "$word")
			return
		fi
		;;
	--units)
		mapfile -t COMPREPLY < <(compgen -W 'bytes bits' -- "$word")
		return
		;;
	--header | --idle)
		mapfile -t COMPREPLY < <(compgen -W 'show hide' -- "$word")
		return
		;;
	--config)
		mapfile -t COMPREPLY < <(
			compgen -W 'none' -- "$word"
			compgen -f -- "$word")
		return
		;;
	--dir)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		return
		;;
	--keys | --aliases | --output | -o | --record)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	--pid | -p)
		mapfile -t COMPREPLY < <(compgen -W \
			"$(ncclstat --list 2>/dev/null |
				awk 'NR > 1 && $1 != "-" { print $1 }')" \
			-- "$word")
		return
		;;
	--set | -s)
		# "kernel=off" arrives as three words, too, and the next item
		# after a comma is part of the third.
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W \
			'default events= kernel= sample=' -- "$word")
		return
		;;
	--what-if)
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W \
			'net:x latency:- without: producer: host: launch: algorithm: overlap' \
			-- "$word")
		return
		;;
	events)
		mapfile -t COMPREPLY < <(
			compgen -W 'all none default' -- "$word")
		return
		;;
	kernel)
		mapfile -t COMPREPLY < <(compgen -W \
			'off sampled sampled:auto always default' -- "$word")
		return
		;;
	sample)
		mapfile -t COMPREPLY < <(compgen -W 'default' -- "$word")
		return
		;;
	--comm)
		mapfile -t COMPREPLY < <(compgen -W \
			"$(ncclstat --list 2>/dev/null |
				awk 'NR > 1 && $3 != "-" { print $3 }')" \
			-- "$word")
		return
		;;
	--interval | -i | --wait | --count | -n | --sort | --columns | --synthetic | \
		--at | --from | --until | --duration | --rotate-size | --rotate-time | \
		--keep | --range)
		return
		;;
	esac

	# What is no option is a recording.
	if [[ $word != -* ]] &&
		[[ " ${COMP_WORDS[*]} " =~ \ (--(replay|export|dump|diagnose|list|critical-path|what-if)|-[dl])[\ =] ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
	fi

	mapfile -t COMPREPLY < <(compgen -W '
		--dump --diagnose --record --duration --rotate-size --rotate-time
		--keep --compress --replay --export --critical-path --what-if --range
		--at --from --until --output --wait
		--list --clean --set --pid --comm --dir
		--interval --count --view
		--window --color --ascii --symbols --scheme --level --sort --columns
		--numbers --units --header --idle --mouse --config
		--aliases --synthetic --keys --help --version
		' -- "$word")
}

complete -F _ncclstat ncclstat
