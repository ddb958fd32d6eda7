# SPDX-License-Identifier: MIT
# Builds, tests and installs ncclstat: the whole build is this one file.
#
# Sources are found by folder (a folder is a layer, see test/check_layers.sh),
# so a new .c file needs no line here, and a folder that does not exist yet is
# an empty list.  Only install and uninstall write outside $(BUILD); only
# test/setup.sh uses the network.
#
#   V=1                      show the commands
#   BUILD=folder             where everything built goes
#   SANITIZE=address,undefined | thread
#                            build with sanitizers, in a separate folder
#   WERROR=1                 a warning is an error
#   CC=clang                 use another compiler
#   WITH_URING=0             do without liburing; recordings are written by
#                            pwrite
#   FUZZ_SECONDS=60          how long "make fuzz" runs each fuzzer, and
#                            "make scribble" all modes
#   WITH_HTTP=0              leave --listen out, and libmicrohttpd
#   DESTDIR= PREFIX= LIBDIR= MANDIR=
#                            install below these folders

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

# --- Build folders ---------------------------------------------------------

comma := ,
SANITIZE ?=
ifeq ($(SANITIZE),)
VARIANT := plain
BUILD ?= build
else ifneq ($(findstring thread,$(SANITIZE)),)
VARIANT := tsan
BUILD ?= build-tsan
else
VARIANT := asan
BUILD ?= build-asan
endif

OBJ := $(BUILD)/obj/$(VARIANT)
# "make check" builds these beside this one.
ASAN_BUILD := $(BUILD)-asan
TSAN_BUILD := $(BUILD)-tsan
# "make fuzz" builds this one, with clang.
FUZZ_BUILD := $(BUILD)-fuzz
FUZZ_SECONDS ?= 60
# "make check-aarch64" builds this one, with a cross compiler.
AARCH64_BUILD := $(BUILD)-aarch64

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
BINDIR := $(PREFIX)/bin
INCDIR := $(PREFIX)/include/ncclstat
BASHDIR := $(PREFIX)/share/bash-completion/completions
ZSHDIR := $(PREFIX)/share/zsh/site-functions
SHAREDIR := $(PREFIX)/share/ncclstat
RECIPES := $(wildcard tui/share/recipes/*)
FISHDIR := $(PREFIX)/share/fish/vendor_completions.d
PKGDIR := $(LIBDIR)/pkgconfig

# The scripts under test/ find the build and the compiler by these.
export BUILD CC WITH_URING

# --- Tools and flags -------------------------------------------------------

ifeq ($(origin CC),default)
CC := cc
endif
PKG_CONFIG ?= pkg-config
pkg = $(shell $(PKG_CONFIG) $(1) 2>/dev/null)

CURSES_CFLAGS := $(call pkg,--cflags ncursesw)
CURSES_LIBS := $(or $(call pkg,--libs ncursesw),-lncursesw -ltinfo)
JANSSON_CFLAGS := $(call pkg,--cflags jansson)
JANSSON_LIBS := $(or $(call pkg,--libs jansson),-ljansson)
LZMA_CFLAGS := $(call pkg,--cflags liblzma)
LZMA_LIBS := $(or $(call pkg,--libs liblzma),-llzma)
WITH_URING ?= 1
URING := $(if $(filter 0,$(WITH_URING)),,liburing)
RECORD_CFLAGS := $(call pkg,--cflags $(URING) libxxhash libzstd)
RECORD_LIBS := $(or $(call pkg,--libs $(URING) libxxhash libzstd),\
	$(if $(URING),-luring) -lxxhash -lzstd)
# WITH_HTTP=0 leaves --listen out; so does a machine without libmicrohttpd.
WITH_HTTP ?= $(if $(call pkg,--modversion libmicrohttpd),1,0)
ifeq ($(WITH_HTTP),1)
HTTP_CFLAGS := -DNCS_WITH_HTTP $(call pkg,--cflags libmicrohttpd)
HTTP_LIBS := $(or $(call pkg,--libs libmicrohttpd),-lmicrohttpd)
endif
CMOCKA_CFLAGS := $(call pkg,--cflags cmocka)
CMOCKA_LIBS := $(or $(call pkg,--libs cmocka),-lcmocka)

# With -O1 -g1, builds with sanitizers take half the time.
CFLAGS ?= $(if $(SANITIZE),-O1 -g1,-O2 -g)
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wformat=2 -Wvla
ifeq ($(WERROR),1)
WARN += -Werror
endif

ALL_CPPFLAGS := -D_GNU_SOURCE -Iinclude -I. $(CPPFLAGS)
ALL_CFLAGS := -std=c11 $(WARN) -fvisibility=hidden $(CFLAGS)
ALL_LDFLAGS := $(LDFLAGS)

ifneq ($(SANITIZE),)
SAN_FLAGS := -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
ifneq ($(findstring undefined,$(SANITIZE)),)
SAN_FLAGS += -fno-sanitize-recover=undefined
endif
ifeq ($(VARIANT),tsan)
# TSan does not support fences; with NCS_TSAN the ring orders each word instead.
ALL_CPPFLAGS += -DNCS_TSAN
endif
ALL_CFLAGS += $(SAN_FLAGS)
ALL_LDFLAGS += $(SAN_FLAGS)
endif

# For code that runs for each event: where the kernel restricts branch
# prediction (IBRS), an indirect jump takes some 10 ns.
HOT_CFLAGS := -fno-jump-tables
# The plugin is loaded into another program's process.  Access to its few
# thread-local words must not call __tls_get_addr, which may call malloc.
# Functions that the plugin does not call are left out of it.  With 16 bytes of
# alignment, a callback takes up to a seventh longer if it happens to begin in
# the other half of 32; with a line's, the lines that it takes do not depend on
# the functions before it.
PIC_CFLAGS := -fPIC -ftls-model=initial-exec -ffunction-sections \
	-falign-functions=64 $(HOT_CFLAGS)
# One segment for code and constants saves the space between them.
PLUGIN_LDFLAGS := -shared -Wl,-z,nodelete -Wl,-z,now -Wl,--gc-sections \
	-Wl,-z,noseparate-code \
	-Wl,--version-script=plugin/plugin.map \
	-Wl,-soname,libnccl-profiler-ncclstat.so
ifeq ($(SANITIZE),)
# The program that loads the plugin brings the sanitizer's run time along.
PLUGIN_LDFLAGS += -Wl,--no-undefined
endif

TUI_CFLAGS := $(CURSES_CFLAGS) $(JANSSON_CFLAGS) $(HTTP_CFLAGS)
# Libraries for libncclstat, for the program, and for the programs of test/host.
LIB_LIBS := $(RECORD_LIBS) $(JANSSON_LIBS) -lm -lpthread -ldl
TUI_LIBS := $(CURSES_LIBS) $(HTTP_LIBS) $(LIB_LIBS)
HOST_LIBS := $(LZMA_LIBS) $(LIB_LIBS) -ldl
TEST_CFLAGS := $(TUI_CFLAGS) $(RECORD_CFLAGS) $(LZMA_CFLAGS) $(CMOCKA_CFLAGS) \
	-pthread
TEST_DEFS = -DNCS_PLUGIN_PATH='"$(PLUGIN)"' -DNCS_CAPTURES='"test/captures"' \
	-DNCS_NEXT='"$(BUILD)/test/next"' -DNCS_BUILD='"$(BUILD)"'

# --- Sources ---------------------------------------------------------------

objs = $(patsubst %.c,$(OBJ)/%.o,$(1))

# The C files of a folder and of all floors below it.
sources_in = $(shell find $(1) -name '*.c' 2>/dev/null | LC_ALL=C sort)

SHM_SRC := $(call sources_in,shm)
# The reader's half of shm/ must not go into the training process.
WRITER_SRC := $(filter-out shm/read/%,$(SHM_SRC))
PLUGIN_SRC := $(call sources_in,plugin)
LIB_SRC := $(strip $(filter-out shm/write/%,$(SHM_SRC)) \
	$(filter-out record/write/sink_$(if $(URING),no_)uring.c,\
	$(call sources_in,analysis record fleet)))
TUI_SRC := $(call sources_in,tui)
HOST_SRC := $(wildcard test/host/*.c)
UNIT_SRC := $(call sources_in,test/unit)
PTEST_SRC := $(wildcard test/plugin/*.c)
STRESS_SRC := $(wildcard test/stress/*.c)
BENCH_SRC := $(wildcard test/bench/bench_*.c)
FUZZ_SRC := $(wildcard test/fuzz/fuzz_*.c)

SHM_OBJ := $(call objs,$(SHM_SRC))
WRITER_OBJ := $(call objs,$(WRITER_SRC))
LIB_OBJ := $(call objs,$(LIB_SRC))
TUI_OBJ := $(call objs,$(TUI_SRC)) $(OBJ)/report_template.o
TUI_TEST_OBJ := $(filter-out %/main.o,$(TUI_OBJ))
HOST_OBJ := $(filter-out %/ncclsimulate.o,$(call objs,$(HOST_SRC)))
HOST_TEST_OBJ := $(filter-out %/ncclreplay.o,$(HOST_OBJ))
SIMULATOR_OBJ := $(call objs,$(wildcard test/unit/support/simulator/*.c))
SIMULATE_OBJ := $(call objs,test/host/ncclsimulate.c) $(SIMULATOR_OBJ)
PIC_OBJ := $(patsubst %.c,$(OBJ)/pic/%.o,$(PLUGIN_SRC) $(WRITER_SRC))
# Code that callbacks run rarely or never may be slow, and had better be small.
COLD_SRC := $(filter-out shm/characters.c plugin/life/nvtx.c \
	plugin/life/range_api.c plugin/nccl/nccl_names.c,$(WRITER_SRC) \
	$(filter plugin/chain/next_plugin.c plugin/events/control_watch.c \
	plugin/life/% plugin/mask/% plugin/nccl/% plugin/state/comm_memory.c \
	plugin/state/stamp_choice.c,\
	$(PLUGIN_SRC)))
COLD_OBJ := $(patsubst %.c,$(OBJ)/pic/%.o,$(COLD_SRC))

# In a folder of tests, test_*.c are programs; all other files are linked to each.
programs = $(foreach f,$(1),$(if $(filter test_%,$(notdir $(f))),$(f)))
helpers = $(call objs,$(filter-out $(call programs,$(1)),$(1)))
UNIT := $(patsubst %.c,%,$(call programs,$(UNIT_SRC)))
PTEST := $(patsubst %.c,%,$(call programs,$(PTEST_SRC)))
STRESS := $(patsubst %.c,%,$(call programs,$(STRESS_SRC)))
TEST_OBJ := $(patsubst %,$(OBJ)/%.o,$(UNIT) $(PTEST))
THREADS := $(filter test/plugin/test_threads% test/plugin/test_control%,$(PTEST))

BENCH := $(patsubst test/bench/%.c,$(BUILD)/%,$(BENCH_SRC))
FUZZ := $(patsubst test/fuzz/%.c,fuzz/%,$(FUZZ_SRC))
# Benchmarks compare with these profiler plugins.
BENCH_SO := $(patsubst test/bench/%_plugin.c,$(BUILD)/bench/libnccl-profiler-%.so,\
	$(wildcard test/bench/*_plugin.c))

# Plugins that tests chain to ours, built from one source; each name lists the
# versions of the API that the plugin exports.
RECORDERS := all 4 5 6 1-2-3 6-7
RECORDER_SO := $(patsubst %,$(BUILD)/test/next/recorder-%.so,$(RECORDERS))
NVTX_TOOL := $(BUILD)/test/next/nvtx-tool.so
# A library that calls functions of NCCL which report nothing, and one that loads
# another one later.
OUTSIDE_SO := $(patsubst %,$(BUILD)/test/next/%.so,one_sided late)
# A fake CUPTI that needs no GPU, and one that lacks a function.
CUPTI_SO := $(BUILD)/test/next/cupti.so $(BUILD)/test/next/cupti-bare.so
# A fake CUDA driver that needs no GPU, one that lacks a function, and one that
# has an older version of one.
CUDA_SO := $(patsubst %,$(BUILD)/test/next/%.so,cuda cuda-bare cuda-old)
# A fake of NVIDIA's management library, where LD_LIBRARY_PATH can name its
# folder, and one that lacks a function.
NVML_SO := $(patsubst %,$(BUILD)/test/next/%/libnvidia-ml.so.1,nvml nvml-bare)
versions = $(if $(filter all,$(1)),1 2 3 4 5 6 7,$(subst -, ,$(1)))

# A process for test/soak/soak.py.
SOAK := $(BUILD)/test/soak/soak
# The program with a made-up job, for tests of its output and screens.
SYNTHETIC := $(BUILD)/test/synthetic/ncclstat_synthetic
MODEL := $(wildcard test/model/*.py)
# Calls of a job that is played must come on time here.
QUIET_UI := $(patsubst %,test/ui/%.sh,late_captures healthy dump_late export figures)
UI := $(filter-out $(QUIET_UI),$(wildcard test/ui/*.sh))
GPU := $(wildcard test/gpu/*.sh)
STATIC := $(wildcard test/check_*.sh)

PLUGIN := $(BUILD)/libnccl-profiler-ncclstat.so
LIB := $(BUILD)/libncclstat.a
MANGEN := $(BUILD)/mangen
MANGEN_OBJ := $(addprefix $(OBJ)/man/,mangen.o mdoc.o json_keys.o \
	json_schema.o) $(OBJ)/shm/characters.o
MAKE_COMPLETION := $(BUILD)/completions

# Only the plain build makes the manual pages.
ifeq ($(VARIANT),plain)
MAN := $(patsubst man/%,$(BUILD)/man/%,$(wildcard man/*.[1-8]))
ifneq ($(wildcard man/mangen.c),)
MAN += $(patsubst man/%.in,$(BUILD)/man/%,$(wildcard man/*.in))
SCHEMA := $(BUILD)/share/ncclstat.schema.json
endif
COMPLETION := $(addprefix $(BUILD)/man/completion.,bash zsh fish)
endif

PRODUCTS := $(if $(PLUGIN_SRC),$(PLUGIN)) \
	$(if $(LIB_SRC),$(LIB)) \
	$(if $(wildcard tui/main.c),$(BUILD)/ncclstat) \
	$(if $(wildcard test/host/ncclreplay.c),$(BUILD)/ncclreplay) \
	$(if $(wildcard test/host/ncclsimulate.c),$(BUILD)/ncclsimulate)
in_build = $(addprefix $(BUILD)/,$(1))

# --- Targets ---------------------------------------------------------------

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' $(1) '$(2)'
endif

.PHONY: all
all: $(PRODUCTS) $(MAN) $(SCHEMA) $(COMPLETION) ## everything that install needs, and the players of captured jobs

# Set-up may install libraries that the first lines of this file look for, so
# another make runs after it.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
RUN := sh test/run_tests.sh
# Unit tests that take longest begin first: the others fill what they leave.
LONG_UNIT := %/test_truth %/test_truth_pipeline %/test_truth_cost \
	%/test_truth_what_if %/test_fuzz_stream %/test_screens %/test_captures \
	%/test_agents %/test_stream_reader
longest_first = $(filter $(LONG_UNIT),$(1)) $(filter-out $(LONG_UNIT),$(1))

.PHONY: plugin
plugin: $(PLUGIN) ## the plugin alone, which needs a C compiler and nothing else

.PHONY: demo
demo: ## install what is missing, build, show it at work
	@sh test/setup.sh demo
	@sh test/progress.sh $(MAKE) $(JOBS) all
	@test/demo.sh

.PHONY: check
check: ## install what is missing, build, run every test
	@sh test/setup.sh check
	@$(MAKE) $(JOBS) build-check
	@$(MAKE) $(JOBS) build-asan
	@$(MAKE) $(JOBS) build-tsan
	@$(RUN) --alone $(QUIET_UI) --beside $(UI) $(STATIC) $(MODEL) \
		$(call in_build,$(PTEST) $(STRESS)) \
		$(patsubst %,$(ASAN_BUILD)/%,$(PTEST)) \
		$(patsubst %,$(TSAN_BUILD)/%,$(STRESS) $(THREADS)) \
		$(call longest_first,$(patsubst %,$(ASAN_BUILD)/%,$(UNIT)) \
			$(call in_build,$(UNIT))) $(GPU)

# The tests that tell most about a change, in about a minute once built.
QUICK_UNIT := $(foreach t,$(UNIT),$(if $(filter test_truth% test_fuzz%,\
	$(notdir $(t))),,$(t)))
QUICK := $(call in_build,$(QUICK_UNIT) test/plugin/test_captures)
.PHONY: quick
quick: all $(SYNTHETIC) $(QUICK) ## unit tests, captures, dump, diagnosis, layers, names, words
	@$(RUN) --alone test/ui/dump_late.sh --beside test/ui/dump.sh test/ui/diagnose.sh \
		$(call longest_first,$(QUICK)) \
		test/check_layers.sh test/check_names.sh test/check_words.sh

.PHONY: check-long
check-long: check fuzz scribble storm truth healthy check-aarch64 ## the same, each fuzzer for FUZZ_SECONDS, a storm, more jobs, and aarch64

# A machine that cannot be set up for this has skipped it; it says why.
.PHONY: check-aarch64
check-aarch64: ## unit, plugin and stress tests on aarch64, emulated
	@if sh test/setup.sh aarch64; then \
		BUILD=$(AARCH64_BUILD) sh test/aarch64/run.sh $(AARCH64_BUILD)/sysroot \
			$(patsubst test/%,%,$(UNIT) $(PTEST) $(STRESS)); \
	else echo "skip aarch64: this machine cannot be set up for it"; fi

.PHONY: storm
storm: all $(call in_build,test/plugin/test_storm) ## a thousand short jobs that end in every way
	@STORM_JOBS=1000 TEST_TIMEOUT=600 $(RUN) \
		$(call in_build,test/plugin/test_storm)

TRUTH := $(patsubst %,test/unit/analysis/%,cost/test_truth_cost \
	diagnosis/test_truth \
	diagnosis/test_truth_links diagnosis/test_truth_pipeline \
	path/test_truth_what_if)
.PHONY: truth
truth: $(call in_build,$(TRUTH)) ## what is concluded of jobs with known faults: COUNT=500 of each KIND=, from SEED=1 on
	@printf '%-32s %6s %6s %7s %7s\n' KIND RIGHT WRONG BOUNDED UNKNOWN >$(BUILD)/truth.table
	@status=0; TRUTH_JOBS=$(or $(COUNT),500) TRUTH_SEED=$(SEED) \
		TRUTH_KIND=$(KIND) TRUTH_TABLE=$(BUILD)/truth.table \
		TEST_TIMEOUT=2400 $(RUN) $^ || status=$$?; \
		cat $(BUILD)/truth.table; exit $$status

.PHONY: soak
soak: all $(SOAK) ## RECORDS=1e10 through rings, beside a recorder, a view and metrics: counts and memory
	@test/soak/soak.py --records $(or $(RECORDS),1e10)

.PHONY: healthy
healthy: all ## nothing is found in any captured job that was healthy
	@HEALTHY=all TEST_TIMEOUT=600 $(RUN) test/ui/healthy.sh

.PHONY: check-unit check-plugin check-stress check-ui check-static
check-unit: $(call in_build,$(UNIT)) ## tests of one module each
	@$(RUN) $^
check-plugin: all $(call in_build,$(PTEST)) ## the plugin, loaded as NCCL does
	@$(RUN) $(call in_build,$(PTEST))
check-stress: $(call in_build,$(STRESS)) $(MODEL) ## the ring under load; its proof
	@$(RUN) $^
check-ui: all $(SOAK) $(SYNTHETIC) ## the program in a terminal
	@$(RUN) --alone $(QUIET_UI) --beside $(UI)
check-static: all $(SYNTHETIC) ## layers, headers, memory order, exports, man pages
	@$(RUN) $(STATIC)

.PHONY: check-asan check-tsan
check-asan: build-asan ## unit and plugin tests with ASan and UBSan
	@$(RUN) $(patsubst %,$(ASAN_BUILD)/%,$(UNIT) $(PTEST))
check-tsan: build-tsan ## stress and thread tests with TSan
	@$(RUN) $(patsubst %,$(TSAN_BUILD)/%,$(STRESS) $(THREADS))

# Some unit and plugin tests start the programs, so these builds have all of them.
.PHONY: build-check build-asan build-tsan build-tests
build-tests: all $(SOAK) $(SYNTHETIC) $(call in_build,$(UNIT) $(PTEST) $(STRESS))
build-check: build-tests
build-asan:
	@$(MAKE) $(JOBS) SANITIZE=address$(comma)undefined \
		BUILD=$(ASAN_BUILD) all $(patsubst %,$(ASAN_BUILD)/%,$(UNIT) $(PTEST))
build-tsan:
	@$(MAKE) $(JOBS) SANITIZE=thread \
		BUILD=$(TSAN_BUILD) $(patsubst %,$(TSAN_BUILD)/%,$(STRESS) $(THREADS))

# Not part of check: a newer compiler may warn about something new, which must
# not fail the tests of a user who only wants to know whether they pass.
.PHONY: check-warnings
check-warnings: ## everything without a warning, by gcc and by clang
	@$(MAKE) $(JOBS) CC=gcc WERROR=1 BUILD=$(BUILD)-gcc build-tests
	@$(MAKE) $(JOBS) CC=clang WERROR=1 BUILD=$(BUILD)-clang build-tests

.PHONY: bench-fleet
bench-fleet: all $(BUILD)/ncclreplay ## what it costs Prometheus to watch 200 simulated nodes, in 12 minutes
	python3 test/bench/bench_prometheus.py --build $(BUILD)

.PHONY: bench
bench: all $(BENCH) $(BENCH_SO) ## what a callback costs, and the like
	@set -e; for b in $(BENCH); do echo "# $$b"; "$$b"; done

# The plain build makes the seeds.
.PHONY: fuzz build-fuzz
fuzz: ## hostile files and segments, made up by libFuzzer
	@sh test/setup.sh fuzz
	@$(MAKE) $(JOBS) all $(filter %/test_fuzz_segment %/test_fuzz_recording \
		%/test_fuzz_stream,\
		$(call in_build,$(UNIT)))
	@$(MAKE) $(JOBS) build-fuzz
	@FUZZ_BUILD=$(FUZZ_BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) \
		sh test/fuzz/run_fuzzers.sh $(notdir $(FUZZ))
build-fuzz:
	@$(MAKE) $(JOBS) CC=clang BUILD=$(FUZZ_BUILD) \
		SANITIZE=fuzzer-no-link$(comma)address$(comma)undefined \
		$(patsubst %,$(FUZZ_BUILD)/%,$(FUZZ))

.PHONY: scribble
scribble: all ## write into live segments while each mode of ncclstat reads them
	@$(MAKE) $(JOBS) SANITIZE=address$(comma)undefined \
		BUILD=$(ASAN_BUILD) $(ASAN_BUILD)/ncclstat
	@SCRIBBLE_BUILD=$(ASAN_BUILD) SCRIBBLE_SECONDS=$(FUZZ_SECONDS) \
		test/fuzz/scribble.py

.PHONY: clean
clean: ## remove what was built
	rm -rf -- $(BUILD) $(ASAN_BUILD) $(TSAN_BUILD) $(FUZZ_BUILD) \
		$(AARCH64_BUILD) \
		$(BUILD)-gcc $(BUILD)-clang

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | \
		awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

# --- Install ---------------------------------------------------------------

VERSION := $(shell sed -n 's/.*NCS_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$$/\2/p' \
	include/ncclstat/version.h | paste -sd.)
HEADERS := $(wildcard include/ncclstat/*.h)
TABLES := $(wildcard include/ncclstat/tables/*.def)
man_dir = $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(1)))

.PHONY: install
install: all ## plugin, program, library, headers, man pages
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR) \
		$(DESTDIR)$(INCDIR)/tables
	$(if $(wildcard tui/main.c),install -m 755 $(BUILD)/ncclstat $(DESTDIR)$(BINDIR))
	$(if $(PLUGIN_SRC),install -m 755 $(PLUGIN) $(DESTDIR)$(LIBDIR))
	$(if $(LIB_SRC),install -m 644 $(LIB) $(DESTDIR)$(LIBDIR))
	install -d $(DESTDIR)$(PKGDIR)
	printf '%s\n' 'Name: libncclstat' \
		'Description: reads what the plugin of ncclstat publishes' \
		'Version: $(VERSION)' 'Cflags: -I$(PREFIX)/include' \
		'Libs: -L$(LIBDIR) -lncclstat -lm -lpthread -ldl' \
		'Requires: jansson $(URING) libxxhash libzstd' \
		>$(DESTDIR)$(PKGDIR)/libncclstat.pc
	$(if $(HEADERS),install -m 644 $(HEADERS) $(DESTDIR)$(INCDIR))
	$(if $(TABLES),install -m 644 $(TABLES) $(DESTDIR)$(INCDIR)/tables)
	@set -e; $(foreach p,$(MAN),install -d $(call man_dir,$(p)); \
		install -m 644 $(p) $(call man_dir,$(p));) :
	install -d $(addprefix $(DESTDIR),$(BASHDIR) $(ZSHDIR) $(FISHDIR))
	install -m 644 $(BUILD)/man/completion.bash $(DESTDIR)$(BASHDIR)/ncclstat
	install -m 644 $(BUILD)/man/completion.zsh $(DESTDIR)$(ZSHDIR)/_ncclstat
	install -m 644 $(BUILD)/man/completion.fish $(DESTDIR)$(FISHDIR)/ncclstat.fish
	install -d $(addprefix $(DESTDIR)$(SHAREDIR)/,prometheus grafana json sql \
		recipes)
	install -m 644 tui/share/prometheus/*.yml $(DESTDIR)$(SHAREDIR)/prometheus
	install -m 644 tui/share/grafana/*.json $(DESTDIR)$(SHAREDIR)/grafana
	install -m 644 $(SCHEMA) $(DESTDIR)$(SHAREDIR)/json
	install -m 644 tui/share/sql/*.sql $(DESTDIR)$(SHAREDIR)/sql
	install -m 644 $(filter-out %.sh,$(RECIPES)) $(DESTDIR)$(SHAREDIR)/recipes
	install -m 755 $(filter %.sh,$(RECIPES)) $(DESTDIR)$(SHAREDIR)/recipes
	install -d $(DESTDIR)$(SHAREDIR)/python
	install -m 644 tui/share/python/*.py $(DESTDIR)$(SHAREDIR)/python

.PHONY: uninstall
uninstall: ## remove what install put there
	rm -f -- $(DESTDIR)$(BINDIR)/ncclstat \
		$(DESTDIR)$(LIBDIR)/$(notdir $(PLUGIN)) \
		$(DESTDIR)$(LIBDIR)/$(notdir $(LIB)) \
		$(DESTDIR)$(PKGDIR)/libncclstat.pc \
		$(DESTDIR)$(BASHDIR)/ncclstat $(DESTDIR)$(ZSHDIR)/_ncclstat \
		$(DESTDIR)$(FISHDIR)/ncclstat.fish \
		$(foreach p,$(MAN),$(call man_dir,$(p))/$(notdir $(p)))
	rm -rf -- $(DESTDIR)$(INCDIR) $(DESTDIR)$(SHAREDIR)

.PHONY: dist deb rpm
dist: ## the sources of the current commit, as build/ncclstat-VERSION.tar.gz
	@mkdir -p $(BUILD)
	git archive --prefix=ncclstat-$(VERSION)/ \
		-o $(BUILD)/ncclstat-$(VERSION).tar.gz HEAD . ':!debian'
deb: dist ## Debian packages of the current commit, in build/deb
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	@cp $(BUILD)/ncclstat-$(VERSION).tar.gz \
		$(BUILD)/deb/ncclstat_$(VERSION).orig.tar.gz
	@git archive --prefix=ncclstat-$(VERSION)/ HEAD debian | \
		tar -C $(BUILD)/deb -x
	@cd $(BUILD)/deb && tar -xf ncclstat_$(VERSION).orig.tar.gz && \
		cd ncclstat-$(VERSION) && dpkg-buildpackage -us -uc
# RPMFLAGS=--nodeps where rpm does not know what is installed, as on Debian.
rpm: dist ## RPM packages of the current commit, in build/rpm
	@rm -rf $(BUILD)/rpm && mkdir -p $(BUILD)/rpm
	rpmbuild -ba $(RPMFLAGS) -D '_topdir $(abspath $(BUILD))/rpm' \
		-D '_sourcedir $(abspath $(BUILD))' \
		tui/share/packaging/ncclstat.spec

# --- Rules -----------------------------------------------------------------

# These stamps change with the flags and with the list of sources, neither of
# which shows in a file's time: they rebuild objects and programs.
FLAGS := $(OBJ)/flags
SOURCES := $(OBJ)/sources
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' >$@.new; \
	if cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi

.PHONY: FORCE
FORCE:
$(FLAGS): FORCE
	$(call stamp,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(PIC_CFLAGS) $(TEST_CFLAGS) \
		$(COLD_SRC))
$(SOURCES): FORCE
	$(call stamp,$(ALL_LDFLAGS) $(PLUGIN_LDFLAGS) $(SHM_SRC) $(PLUGIN_SRC) \
		$(LIB_SRC) $(TUI_SRC) $(HOST_SRC) $(UNIT_SRC) $(PTEST_SRC) $(STRESS_SRC) \
		$(FUZZ_SRC))

compile = @mkdir -p $(@D); \
	$(if $(Q),printf '  %-7s %s\n' CC $<;) set $(if $(Q),-e,-ex); \
	$(CC) $(ALL_CPPFLAGS) $(1) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
link = @mkdir -p $(@D); \
	$(if $(Q),printf '  %-7s %s\n' LINK $@;) set $(if $(Q),-e,-ex); \
	$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(1) $(LDLIBS)

# Names the packages of libraries that are missing before a compiler fails. The
# plugin needs none.
LIBRARIES := $(OBJ)/libraries
$(LIBRARIES): test/setup.sh $(FLAGS)
	$(Q)sh test/setup.sh build && touch $@
ifeq ($(filter clean help plugin,$(MAKECMDGOALS)),)
$(LIB_OBJ) $(TUI_OBJ) $(MANGEN_OBJ): | $(LIBRARIES)
endif

$(OBJ)/%.o: %.c $(FLAGS)
	$(call compile)
$(OBJ)/tui/%.o: tui/%.c $(FLAGS)
	$(call compile,$(TUI_CFLAGS))
$(OBJ)/record/%.o: record/%.c $(FLAGS)
	$(call compile,$(RECORD_CFLAGS) $(JANSSON_CFLAGS))
$(OBJ)/man/%.o: man/%.c $(FLAGS)
	$(call compile,$(JANSSON_CFLAGS))
$(OBJ)/fleet/%.o: fleet/%.c $(FLAGS)
	$(call compile,$(RECORD_CFLAGS))
# The template of the report as a string of C.
$(OBJ)/report_template.o: $(OBJ)/report_template.c $(FLAGS)
	$(call compile,$(TUI_CFLAGS))
$(OBJ)/report_template.c: tui/share/report/report.html
	@mkdir -p $(@D)
	$(Q){ echo '#include "tui/commands/report_parts.h"'; \
		echo 'const char ncs_report_template[] ='; \
		sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $<; echo ';'; } >$@
$(OBJ)/test/%.o: test/%.c $(FLAGS)
	$(call compile,$(TEST_CFLAGS) $(TEST_DEFS))
# They compile in half the time so. What they call is optimized; warnings want
# them to be, too.
ifneq ($(WERROR),1)
$(TEST_OBJ): private ALL_CFLAGS := $(ALL_CFLAGS:-O%=-O0)
endif
$(OBJ)/pic/%.o: %.c $(FLAGS)
	$(call compile,$(PIC_CFLAGS))
$(COLD_OBJ): private ALL_CFLAGS := $(ALL_CFLAGS:-O2=-Os)

# Libraries to link the plugin with in place of newer ones. A sanitizer's run
# time replaces some of their functions.
OLD_GLIBC := $(OBJ)/old_glibc
$(OLD_GLIBC): plugin/old_glibc.sh $(FLAGS)
	$(Q)rm -rf $@ && sh plugin/old_glibc.sh $@

$(PLUGIN): $(PIC_OBJ) plugin/plugin.map $(SOURCES) $(if $(SANITIZE),,$(OLD_GLIBC))
	$(call link,$(PLUGIN_LDFLAGS)$(if $(SANITIZE),, $$(ls -d $(OLD_GLIBC)/lib*)))

$(LIB): $(LIB_OBJ) $(SOURCES)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/ncclstat: $(TUI_OBJ) $(LIB) $(SOURCES)
	$(call link,$(TUI_LIBS))
	$(if $(filter 0,$(WITH_HTTP)),@echo '  NOTE    $@ is without --listen: no libmicrohttpd (libmicrohttpd-dev)')

$(BUILD)/ncclreplay: $(HOST_OBJ) $(LIB) $(SOURCES) | $(BUILD)/test/next/cuda.so $(NVML_SO)
	$(call link,$(HOST_LIBS) -lpthread)

$(BUILD)/ncclsimulate: $(SIMULATE_OBJ) $(LIB) $(SOURCES)
	$(call link,$(LIB_LIBS))

# From an archive each test links only what it needs.
TESTED := $(BUILD)/test/tested.a
$(TESTED): $(call helpers,$(UNIT_SRC)) $(WRITER_OBJ) $(TUI_TEST_OBJ) \
		$(OBJ)/man/json_schema.o $(SOURCES)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D); rm -f $@; $(AR) rcsT $@ $(filter %.o,$^)
$(call in_build,$(UNIT)): $(BUILD)/%: $(OBJ)/%.o $(TESTED) $(LIB) $(SOURCES) \
		| $(NVML_SO)
	$(call link,$(TUI_LIBS) $(CMOCKA_LIBS) -lpthread)

$(call in_build,$(PTEST)): $(BUILD)/%: $(OBJ)/%.o $(call helpers,$(PTEST_SRC)) \
		$(OBJ)/test/unit/support/unit.o $(HOST_TEST_OBJ) $(LIB) \
		$(SOURCES) | $(PLUGIN) $(RECORDER_SO) \
		$(NVTX_TOOL) $(OUTSIDE_SO) $(CUPTI_SO) $(CUDA_SO)
	$(call link,$(HOST_LIBS) $(CMOCKA_LIBS) -lpthread)

$(call in_build,$(STRESS)): $(BUILD)/%: $(OBJ)/%.o $(call helpers,$(STRESS_SRC)) \
		$(SHM_OBJ) $(SOURCES)
	$(call link,$(CMOCKA_LIBS) -lm -lpthread)

$(BENCH): $(BUILD)/%: $(OBJ)/test/bench/%.o $(OBJ)/test/bench/caller.o \
		$(OBJ)/test/bench/viewer.o $(SIMULATOR_OBJ) $(HOST_TEST_OBJ) $(WRITER_OBJ) $(LIB) $(SOURCES)
	$(call link,$(HOST_LIBS) -lpthread)

$(SYNTHETIC): $(OBJ)/test/synthetic/ncclstat_synthetic.o $(TUI_OBJ) \
		$(patsubst %,$(OBJ)/test/unit/support/%.o,source_synthetic \
		synthetic_channels synthetic_counters synthetic_records) \
		$(LIB) $(SOURCES)
	$(call link,-Wl$(comma)--wrap=main$(comma)--wrap=ncs_source_open_shm \
		$(TUI_LIBS) -lpthread)

$(SOAK): $(OBJ)/test/soak/soak.o $(OBJ)/test/bench/caller.o $(HOST_TEST_OBJ) \
		$(LIB) $(SOURCES) | $(PLUGIN)
	$(call link,$(HOST_LIBS) -lpthread)

$(call in_build,$(FUZZ)): $(BUILD)/fuzz/%: $(OBJ)/test/fuzz/%.o \
		$(TUI_TEST_OBJ) $(LIB) $(SOURCES)
	$(call link,-fsanitize=fuzzer $(TUI_LIBS) -lpthread)

# private keeps these flags out of $(FLAGS), a prerequisite of the objects.
$(OBJ)/test/bench/%_plugin.o: private TEST_CFLAGS += $(PIC_CFLAGS)
$(OBJ)/test/bench/bench_callbacks.o $(OBJ)/test/bench/caller.o: \
	private TEST_CFLAGS += $(HOT_CFLAGS)
$(OBJ)/test/host/plugin_host.o: private TEST_CFLAGS += $(HOT_CFLAGS)
$(BUILD)/bench/libnccl-profiler-%.so: $(OBJ)/test/bench/%_plugin.o
	$(call link,-shared)

$(OBJ)/test/plugin/next/recorder-%.o: test/plugin/next/recording_plugin.c $(FLAGS)
	$(call compile,$(PIC_CFLAGS) $(foreach v,$(call versions,$*),-DWITH_V$(v)))
$(BUILD)/test/next/recorder-%.so: $(OBJ)/test/plugin/next/recorder-%.o
	$(call link,-shared -lpthread)

$(patsubst %,$(OBJ)/test/plugin/next/%.o,nvtx_tool one_sided late): \
	private TEST_CFLAGS += $(PIC_CFLAGS)
$(NVTX_TOOL): $(OBJ)/test/plugin/next/nvtx_tool.o
	$(call link,-shared)
$(OUTSIDE_SO): $(BUILD)/test/next/%.so: $(OBJ)/test/plugin/next/%.o
	$(call link,-shared -lpthread)

$(OBJ)/test/plugin/next/cupti.o $(OBJ)/test/plugin/next/cupti-bare.o: \
		test/plugin/next/fake_cupti.c $(FLAGS)
	$(call compile,$(PIC_CFLAGS) $(if $(findstring bare,$@),-DBARE))
$(CUPTI_SO): $(BUILD)/test/next/%.so: $(OBJ)/test/plugin/next/%.o
	$(call link,-shared)

CUDA_OBJ := $(patsubst $(BUILD)/test/next/%.so,$(OBJ)/test/plugin/next/%.o,\
	$(CUDA_SO))
$(CUDA_OBJ): private ALL_CFLAGS += -fno-sanitize=thread
$(CUDA_OBJ): test/plugin/next/fake_cuda.c $(FLAGS)
	$(call compile,$(PIC_CFLAGS) $(if $(findstring bare,$@),-DBARE) \
		$(if $(findstring old,$@),-DOLD))
$(CUDA_SO): $(BUILD)/test/next/%.so: $(OBJ)/test/plugin/next/%.o
	$(call link,-shared -Wl$(comma)-soname$(comma)libcuda.so.1)

NVML_OBJ := $(patsubst %,$(OBJ)/test/plugin/next/%.o,nvml nvml-bare)
$(NVML_OBJ): test/plugin/next/fake_nvml.c $(FLAGS)
	$(call compile,$(PIC_CFLAGS) $(if $(findstring bare,$@),-DBARE))
$(NVML_SO): $(BUILD)/test/next/%/libnvidia-ml.so.1: $(OBJ)/test/plugin/next/%.o
	$(call link,-shared)

$(MANGEN): $(MANGEN_OBJ)
	$(call link,$(JANSSON_LIBS))
$(BUILD)/man/%: man/%.in $(MANGEN)
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D) && $(MANGEN) $< >$@
$(BUILD)/man/ncclstat-json.5: tui/share/json/ncclstat.schema.in
$(SCHEMA): tui/share/json/ncclstat.schema.in $(MANGEN)
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D) && $(MANGEN) --schema >$@
$(BUILD)/man/%: man/%
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D) && cp $< $@

$(MAKE_COMPLETION): $(OBJ)/man/completions.o
	$(call link)
$(BUILD)/man/completion.%: $(MAKE_COMPLETION)
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D) && $(MAKE_COMPLETION) $* >$@

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
