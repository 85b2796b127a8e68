#
# simhash: 64-bit SimHash fingerprints and exact Hamming search.
# SPDX-License-Identifier: PostgreSQL
#
# make && sudo make install    build, and install into the PostgreSQL found
# make installcheck            test what is installed, on your own server
# make test                    test everything, on a private throw-away server;
#                              tools/test runs some: quick, or those it is told
# make demo                    near-duplicates among real texts, the same way
# make help                    every target and variable
#
# docs/architecture.md says what is where, and where a new thing goes.
#
# Another PostgreSQL than the first on the path: PG_CONFIG=/path/to/pg_config.
#

# --- what is built -------------------------------------------------------

# Where the sources are: here, unless VPATH says otherwise.
srcdir = $(or $(VPATH),.)

EXTENSION = simhash
MODULE_big = simhash
DATA = $(notdir $(wildcard $(srcdir)/simhash--*.sql))

# The wings of src/, from the top down.
clusters = connected forest ids members star table terms texts trigger \
	trigger_bind xact
clusters/upkeep = bind check create fill join mend setup sql step trim
guard = guard_action guard_fill guard_key guard_load guard_mark guard_options guard_trigger
near = near_apart near_bind near_document near_fingerprint near_group near_index near_known \
	near_lock near_moved near_row near_search near_shard near_space near_statement near_terms \
	near_time
index = hamming_am hamming_btree hamming_columns hamming_cost hamming_insert \
	hamming_validate hamming_value hamming_warm
index/build = hamming_build hamming_load hamming_sort
index/check = hamming_check hamming_check_pages
index/scan = hamming_compare hamming_cursor hamming_matches \
	hamming_nearest hamming_plan hamming_question hamming_scan \
	hamming_search_plan hamming_tree hamming_tricks hamming_words
planner = balls clauses distances hooks key_paths key_prefix selectivity \
	support
keys = key_columns key_scan keys
report = dedup report_table report_texts
removal = apply batch evidence logs tables templates undo
tune = rate tune tune_sample
pairs = apart components documents pairs prefixes query_rows row_clusters row_families row_groups \
	row_order row_search similar_rows
query = command progress statement template
search = ball derivation distance functions group_hash operators source
weights = cppjieba idf_agg idf_cache idf_type keywords segment tfidf \
	weighted weighted_agg words
compare = align describe facts families judge measures read_document \
	similarity slips text_labels text_layout text_lines
fingerprint = arrays bags boilerplate compat_profiles features fingerprint \
	hashbits_tokens hashes minhash pages passages read_hash shared utf8 wide

# The core: plain C99, knows nothing of PostgreSQL.
core/pairs = clusters compare crowds engine plan rows sides wide_pairs
core/blocks = entries layout probes
core/weights = exact idf idf_sums idf_table idf_top
core/fingerprint = accumulate bag document firsts minima tally
core/foreign = digest hashbits python recipes
core/text = ascii borders fold html html_article html_elements html_references \
	letters profile shared_runs text windows word_places

WINGS = removal clusters/upkeep clusters guard near index index/build index/check index/scan planner keys \
	report tune pairs query search weights compare fingerprint
CORE = core/pairs core/blocks core/weights core/fingerprint core/foreign core/text

wing_objects = $(foreach wing,$(1),$(patsubst %,src/$(wing)/%.o,$($(wing))))
CORE_OBJS = $(call wing_objects,$(CORE))
OUR_HEADERS := $(foreach depth,* */* */*/*,$(wildcard $(srcdir)/src/$(depth).h))
OBJS = src/simhash.o src/actions.o src/arguments.o src/relation.o $(call wing_objects,$(WINGS)) $(CORE_OBJS)

# The library of lib/, and the program beside it: the part of the core that makes
# fingerprints of texts.
LIB_CORE = core/fingerprint core/foreign core/text
LIB_OBJS = lib/build/libsimhash.o $(patsubst src/%,lib/build/%,$(call wing_objects,$(LIB_CORE)))
LIB_VERSION := $(shell sed -nE '/^    "version"/s/.*: "(.*)",/\1/p' $(srcdir)/META.json)
LIB_SONAME = libsimhash.so.1
LIB_SHARED = lib/build/libsimhash.so.$(LIB_VERSION)
LIB_PROGRAM = lib/build/simhash-texts

# --- how it is tested ----------------------------------------------------

# sql/<topic>.sql, test/specs/<race>.spec and test/t/<number>_<topic>.pl.  Databases
# for tests are alike on every server, whatever its own locale and encoding are.
TEST_DATABASE = --load-extension=$(EXTENSION) --encoding=UTF8 --no-locale
REGRESS := $(sort $(basename $(notdir $(wildcard $(srcdir)/sql/*.sql))))
REGRESS_OPTS = $(TEST_DATABASE)
ISOLATION := $(sort $(basename $(notdir $(wildcard $(srcdir)/test/specs/*.spec))))
ISOLATION_OPTS = $(TEST_DATABASE) --inputdir=$(srcdir)/test
TAP := $(sort $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/test/t/*.pl)))

# Programs over the core alone, and scripts that compare it with others.
UNIT := $(sort $(wildcard test/unit/unit_*.c))
CHECK := $(sort $(wildcard test/check/check_*.py test/check/check_*.sh))

# --- flags ---------------------------------------------------------------

PG_CONFIG ?= pg_config

# PostgreSQL's headers are not clean under -Wextra.  As a system directory
# they are read without warnings, so every warning shown is about our code.
PG_INCLUDE := $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)
PG_CPPFLAGS = -isystem $(PG_INCLUDE) -I$(srcdir)/src

# No flag here ties the binary to the builder's CPU: no -march, no -mtune.
# Faster instructions are chosen when the server runs, not when it is built.
PG_CFLAGS = -Wall -Wextra $(NOTE_HEADERS)

# Beside each object the compiler notes the headers that it was made of.
NOTE_HEADERS = -MMD -MP

# Unicode tables come from libutf8proc; xxHash is compiled in from its header.
SHLIB_LINK = -lutf8proc -lm $(ICU)

# ICU's functions bear its version in their names, so the library names the one
# that it was built for.  A server with a newer ICU then still loads it.
ICU = $(if $(filter yes,$(with_icu)),$(shell $(CC) $(CPPFLAGS) -E \
	-include unicode/ubrk.h -x c /dev/null >/dev/null 2>&1 && echo -licuuc))

# The unit programs stop at the first bad access or undefined operation.  The
# core is compiled so once for all of them.
UNIT_CORE = test/unit/core.a
UNIT_CORE_OBJS = $(patsubst src/%,test/unit/%,$(CORE_OBJS))
UNIT_OBJS = $(patsubst %.c,%.o,$(wildcard test/unit/unit_*.c)) $(UNIT_CORE_OBJS) \
	$(CALLS_OBJS) $(FUZZ_OBJS)
UNIT_CFLAGS = -std=c99 -O1 -g -Wall -Wextra -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all

# The library: symbols of its own are nobody else's.  It and what links it statically
# need the same libraries.
LIB_CFLAGS ?= -O2 -g
LIB_FLAGS = -std=c99 -Wall -Wextra -fPIC -fvisibility=hidden $(NOTE_HEADERS) -I$(srcdir)/src \
	-I$(srcdir)/lib
LIB_LIBS = -lutf8proc -lm
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib

# What check_callbacks.py reads, and the core of check_fuzz.sh.
CALLS_OBJS = $(patsubst src/%,test/unit/calls/%,$(filter-out src/core/%,$(OBJS)))
FUZZ_OBJS = $(patsubst src/%,test/unit/fuzz/%,$(CORE_OBJS))

# What is built beside the library and its objects.
BUILT = $(OBJS:.o=.d) $(UNIT_OBJS) $(UNIT_OBJS:.o=.d) $(UNIT:.c=.run) \
	$(UNIT_CORE) test/unit/core test/unit/calls test/unit/fuzz bench/quality.run bench/edits.run .flags test/unit/.flags \
	lib/build lib/.flags

# --- PostgreSQL's own rules ----------------------------------------------

PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

ifneq ($(wildcard $(PGXS)),)

EXTRA_CLEAN = $(BUILT)

# No bitcode for the JIT compiler: it would need clang, and what is compiled for
# several instruction sets and chosen when the server runs cannot be inlined.
override with_llvm = no

# What depends on which header is kept as below, not as PostgreSQL's rules may.
override autodepend =

# The TAP tests belong to make installcheck where they can run; those that are
# asked for by name have to run.
ifneq ($(filter installcheck,$(MAKECMDGOALS)),)
ifneq ($(origin TAP),command line)
TAP_LACKS := $(strip $(shell \
	command -v prove >/dev/null || echo prove; \
	perl -MIPC::Run -e 1 2>/dev/null || echo IPC::Run; \
	[ -f '$(dir $(PGXS))../test/perl/PostgreSQL/Test/Cluster.pm' ] || \
		echo PostgreSQL::Test::Cluster))
ifneq ($(TAP_LACKS),)
$(info left out, for want of $(TAP_LACKS): $(TAP))
TAP :=
endif
endif
endif
TAP_TESTS := $(if $(TAP),1)
PROVE_TESTS = $(TAP)

include $(PGXS)

# Short loops over 64 lanes: the flags that the core's own checksums have.
src/core/fingerprint/minima.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) \
	$(CFLAGS_VECTORIZE)

# share/report goes along, for those who have no copy of this tree.
install: install-report
uninstall: uninstall-report

.PHONY: install-report uninstall-report
install-report:
	$(MKDIR_P) '$(DESTDIR)$(datadir)/simhash'
	$(INSTALL_SCRIPT) $(srcdir)/share/report '$(DESTDIR)$(datadir)/simhash/'
	$(INSTALL_DATA) $(addprefix $(srcdir)/share/,report.html report.sql) \
		'$(DESTDIR)$(datadir)/simhash/'

uninstall-report:
	rm -rf '$(DESTDIR)$(datadir)/simhash'

# A build outside the source tree needs the folders of the wings.
ifdef VPATH
$(shell mkdir -p $(addprefix src/,$(WINGS) $(CORE)))
endif

else

# Without PostgreSQL's rules only the targets further down can work.
CC ?= cc

.PHONY: all install installcheck uninstall
all install installcheck uninstall:
	@echo "simhash: '$(PG_CONFIG)' leads to no PostgreSQL server headers." >&2
	@tools/setup --list >&2
	@exit 1

.PHONY: clean
clean:
	rm -rf $(OBJS) $(BUILT)

endif

# --- what an object depends on -------------------------------------------

# Its source, the headers that it includes, and how it is compiled: a file .flags.  An
# object of which no headers are known is compiled anew.
NOTED := $(wildcard $(patsubst %.o,%.d,$(OBJS) $(UNIT_OBJS) $(LIB_OBJS)))
-include $(NOTED)
$(filter-out $(NOTED:.d=.o),$(OBJS) $(UNIT_OBJS) $(LIB_OBJS)): FORCE
$(OBJS): .flags
$(LIB_OBJS): lib/.flags
$(UNIT_OBJS): test/unit/.flags

# The compiler, the server, the flags, and which headers there are, as a new one
# may come to stand before another; the flags of single objects are in rules, so
# all of this file counts but the lists at its head.  A .flags is written anew when
# they differ from what it says.  make install takes what was built, whatever the
# flags are.
ifneq ($(filter-out install installcheck,$(or $(MAKECMDGOALS),all)),)
COMMON_FLAGS := $(shell $(CC) --version | head -n 1); $(sort $(OUR_HEADERS)); \
	$(shell sed -n '/^\# --- flags/,$$p' $(firstword $(MAKEFILE_LIST)) | cksum)
FLAGS := $(shell $(PG_CONFIG) --version); $(COMPILE.c); \
	$(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE); $(COMMON_FLAGS)
UNIT_FLAGS := $(UNIT_CFLAGS) $(COPT); $(COMMON_FLAGS)
LIB_ALL_FLAGS := $(LIB_FLAGS) $(LIB_CFLAGS) $(COPT); $(COMMON_FLAGS)

ifneq ($(file <.flags),$(FLAGS))
.flags: FORCE
endif
ifneq ($(file <test/unit/.flags),$(UNIT_FLAGS))
test/unit/.flags: FORCE
endif
ifneq ($(file <lib/.flags),$(LIB_ALL_FLAGS))
lib/.flags: FORCE
endif
endif

.flags: SAYS = $(FLAGS)
test/unit/.flags: SAYS = $(UNIT_FLAGS)
lib/.flags: SAYS = $(LIB_ALL_FLAGS)
.flags test/unit/.flags lib/.flags:
	@printf '%s\n' '$(subst ','\'',$(SAYS))' >$@

.PHONY: FORCE
FORCE:

# --- targets of our own --------------------------------------------------

# tools/stage gives each run a server and an installation of its own, built
# from a copy of this tree; nothing outside its temporary directory changes.
STAGE = PG_CONFIG='$(PG_CONFIG)' OLD_PG_CONFIG='$(OLD_PG_CONFIG)' \
	COPT='$(COPT)' OUT='$(OUT)' CITUS='$(CITUS)' PGVECTOR='$(PGVECTOR)' \
	tools/stage

.DEFAULT_GOAL := all
.PHONY: help setup test staged-test soak report screenshot demo unit \
	unit-programs calls-objects fuzz-objects matrix asserts setup-for-asserts setup-for-demo sanitize sqlsmith citus pgvector indent lint \
	bench bench-quality deb dist lib lib-install wasm

help:
	@sed -n 's/^# make/make/p' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "make lib                     the library and the program of lib/, in lib/build: no"
	@echo "                             PostgreSQL is needed"
	@echo "make lib-install PREFIX= LIBDIR= DESTDIR=   install them, in /usr/local"
	@echo "make wasm                    lib/build/libsimhash.wasm, for lib/javascript"
	@echo "make setup                   install by apt what these need"
	@echo "make unit                    unit tests of src/core, under sanitizers"
	@echo "make soak                    the tests at random, a minute each"
	@echo "make matrix                  the tests, for each major version of PostgreSQL,"
	@echo "                             in chroots of Debian; VERSIONS='15 17' for some"
	@echo "make asserts                 the tests, on a PostgreSQL with assertions"
	@echo "make sanitize                the same, with sanitizers in every server"
	@echo "make sqlsmith                queries at random, by SQLsmith (test/random/sqlsmith.sh)"
	@echo "make citus CITUS=dir         the tests on Citus, built from its source there"
	@echo "make pgvector PGVECTOR=dir   the tests beside pgvector, built from its source there"
	@echo "make bench                   speed and size, beside other ways to do it"
	@echo "make bench-quality           precision and recall of every profile"
	@echo "make report TABLE=docs       an HTML page about its near-duplicates"
	@echo "make screenshot              the picture of such a page, docs/report.png"
	@echo "make indent                  lay out the C sources as PostgreSQL does"
	@echo "make lint                    look for dead links, misspelt terms, debris"
	@echo "make deb                     packages for this Debian, from what is committed,"
	@echo "                             in dist; see packaging/README.md"
	@echo "make dist                    the archive for PGXN, likewise"
	@echo
	@echo "DB=database ID=id BODY=body FP=fp K=8 UPTO=12 WITHIN=site,lang PAGE=report.html"
	@echo "DOCUMENT=body SIMILARITY=jaccard AT_LEAST=0.8 KEEP=created_at"
	@echo "                             for make report; more in docs/dedup.md"
	@echo "PG_CONFIG=path               the PostgreSQL to build for"
	@echo "OLD_PG_CONFIG=path           an older one, to test upgrades from there"
	@echo "REGRESS= ISOLATION= TAP= UNIT= CHECK=  run these tests only, or none"
	@echo "SCALE=small|full|huge, N='rows ...', SECTIONS='...', PEERS=prefix,"
	@echo "PGVECTOR=dir                 for make bench; see bench/README.md"
	@echo "SETS='name=file ...'         more sets of documents for bench-quality"
	@echo "JIEBA=idf.txt                words and weights for its Chinese sets"
	@echo "MAJOR=18                     PostgreSQL, for make asserts, or newest: the"
	@echo "                             newest whose source can be had"
	@echo "ASSERTS_SOURCE=dir           its source"
	@echo "OUT=dir                      keep the results of make test in dir"
	@echo "NODE_MODULES=dir             packages of npm, for tests of clients"
	@echo "JOBS=n                       tests at a time; one more than processors"
	@echo "SIMHASH_SECONDS=60 SIMHASH_SEED=n SIMHASH_FAULTS=1"
	@echo "                             for tests at random: how long each lasts, to"
	@echo "                             repeat it, after how many faults to stop"

setup:
	@PG_CONFIG='$(PG_CONFIG)' tools/setup

setup-for-demo:
	@PG_CONFIG='$(PG_CONFIG)' tools/setup demo

test: setup
	@$(MAKE) -s staged-test

# What is drawn at random, for longer; alone, as some of it measures time.
SOAK = $(shell grep -l -e '= seconds' -e '= rounds' -e SIMHASH_SECONDS test/t/*.pl \
	test/check/check_*)
soak: setup
	@SIMHASH_SECONDS=$${SIMHASH_SECONDS:-60} JOBS=1 $(MAKE) -s staged-test \
		REGRESS= ISOLATION= UNIT= TAP='$(filter test/t/%,$(SOAK))' \
		CHECK='$(filter test/check/%,$(SOAK))'

# An extension with assertions loads into a server without them, too.
staged-test:
	@COPT='$(COPT) -DUSE_ASSERT_CHECKING' REGRESS='$(REGRESS)' \
		ISOLATION='$(ISOLATION)' TAP='$(TAP)' UNIT='$(UNIT)' CHECK='$(CHECK)' \
		$(STAGE) tools/run-tests

# A page about the near-duplicates in a table of your own server.  Variables
# given to make are in the environment; their quotes meet no shell here.
report:
	@share/report

# The picture of such a page, from the texts of the demo.
screenshot:
	@PG_CONFIG='$(PG_CONFIG)' OUT=.stage-out tools/stage tools/screenshot
	@mv .stage-out/report.png docs/report.png && rm -r .stage-out
	@echo "docs/report.png"

demo: setup-for-demo
	@echo 'Building simhash, and a server of its own for it: a minute the first time.'
	@$(STAGE) psql -X -q -v ON_ERROR_STOP=1 -f demo/demo.sql

matrix:
	@REGRESS='$(REGRESS)' ISOLATION='$(ISOLATION)' TAP='$(TAP)' \
		UNIT='$(UNIT)' CHECK='$(CHECK)' tools/matrix

# A PostgreSQL built with assertions, kept in the user's cache: that of MAJOR, or
# the one at hand.
asserts: setup-for-asserts
	@ASSERTS_SOURCE='$(ASSERTS_SOURCE)' PG_CONFIG='$(PG_CONFIG)' \
		tools/asserts $(MAJOR)

setup-for-asserts:
	@ASSERTS=yes PG_CONFIG='$(PG_CONFIG)' tools/setup

# On that server too: a packaged one with its translations comes to no start
# when a sanitizer is there before it.
sanitize: setup-for-asserts
	@pg_config=$$(ASSERTS_SOURCE='$(ASSERTS_SOURCE)' PG_CONFIG='$(PG_CONFIG)' \
		tools/asserts --build) && SANITIZE=yes $(MAKE) -s \
		PG_CONFIG="$$pg_config" UNIT= staged-test

# With assertions: make sqlsmith PG_CONFIG=$(tools/asserts --build)
sqlsmith: setup
	@$(STAGE) bash test/random/sqlsmith.sh

# A coordinator and two workers; nothing of Citus stays.
citus: setup
ifeq ($(CITUS),)
	@echo "skipped: CITUS=dir says where the source of Citus is"
else
	@$(MAKE) -s staged-test REGRESS= ISOLATION= UNIT= CHECK= \
		TAP=test/t/031_citus.pl
endif

# Both extensions in one schema; without this one made-up objects stand for it.
pgvector: setup
ifeq ($(PGVECTOR),)
	@echo "skipped: PGVECTOR=dir says where the source of pgvector is"
else
	@$(MAKE) -s staged-test REGRESS=pgvector ISOLATION= TAP= UNIT= CHECK=
endif

unit: unit-programs
	@set -e; for t in $(UNIT:.c=.run); do echo "# $$t"; ./$$t; done

unit-programs: $(UNIT:.c=.run)

# Objects are kept from one run of tools/stage to the next.
test/unit/%.run: test/unit/%.o $(UNIT_CORE)
	$(CC) $(UNIT_CFLAGS) $(COPT) -pthread -o $@ $< $(UNIT_CORE) -lutf8proc -lm

$(UNIT_CORE): $(UNIT_CORE_OBJS)
	rm -f $@
	$(AR) rc $@ $^

test/unit/unit_%.o: test/unit/unit_%.c
	$(CC) $(UNIT_CFLAGS) $(COPT) $(NOTE_HEADERS) -Isrc -Itest/unit -c -o $@ $<

# The alignment is no part of the core: it takes the server's types, and memory.
# The headers of PostgreSQL 19 are in C11.
test/unit/unit_align.o: UNIT_CFLAGS += -std=gnu11 -isystem $(includedir_server)

test/unit/core/%.o: src/core/%.c
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) $(COPT) $(NOTE_HEADERS) -Isrc -c -o $@ $<

# Not optimised, so that each call stays one, and each function in a section of its own.
calls-objects: $(CALLS_OBJS)

test/unit/calls/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) -O0 -w -fPIC -ffunction-sections -fdata-sections -D_GNU_SOURCE $(NOTE_HEADERS) \
		-Isrc -isystem $(PG_INCLUDE) -isystem $(PG_INCLUDE)/../.. -c -o $@ $<

fuzz-objects: $(FUZZ_OBJS)

test/unit/fuzz/%.o: src/%.c
	@mkdir -p $(@D)
	clang -std=c99 -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all $(NOTE_HEADERS) \
		-fsanitize=fuzzer-no-link,address,undefined -Isrc -c -o $@ $<

# The shared library, the static one, of which no other name is seen, and the program.
lib: $(LIB_SHARED) lib/build/libsimhash.a $(LIB_PROGRAM)

lib/build/%.o: lib/%.c
	@mkdir -p $(@D)
	$(CC) $(LIB_FLAGS) $(LIB_CFLAGS) $(COPT) -c -o $@ $<

lib/build/core/%.o: src/core/%.c
	@mkdir -p $(@D)
	$(CC) $(LIB_FLAGS) $(LIB_CFLAGS) $(COPT) -c -o $@ $<

lib/build/core/fingerprint/minima.o: LIB_FLAGS += -funroll-loops -ftree-vectorize

$(LIB_SHARED): $(LIB_OBJS)
	$(CC) -shared $(LIB_CFLAGS) $(COPT) $(LDFLAGS_LIB) -Wl,-soname,$(LIB_SONAME) -Wl,-z,defs \
		-Wl,--gc-sections -o $@ $^ $(LIB_LIBS)
	ln -sf $(@F) lib/build/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) lib/build/libsimhash.so

lib/build/libsimhash.a: $(LIB_OBJS)
	$(LD) -r -o lib/build/all.o $^
	objcopy --localize-hidden lib/build/all.o
	rm -f $@
	$(AR) rc $@ lib/build/all.o

$(LIB_PROGRAM): lib/build/simhash-texts.o lib/build/libsimhash.a
	$(CC) $(LIB_CFLAGS) $(COPT) $(LDFLAGS_LIB) -pthread -o $@ $^ $(LIB_LIBS)

LIB_SOURCES = lib/libsimhash.c $(patsubst %.o,%.c,$(call wing_objects,$(LIB_CORE)))

wasm: lib/build/libsimhash.wasm

lib/build/libsimhash.wasm: lib/javascript/build lib/libsimhash.h $(LIB_SOURCES) $(OUR_HEADERS)
	@mkdir -p $(@D)
	lib/javascript/build $@ $(LIB_SOURCES)

lib-install: lib
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(LIBDIR)/pkgconfig' \
		'$(DESTDIR)$(PREFIX)/include' '$(DESTDIR)$(PREFIX)/share/man/man1'
	install -m 755 $(LIB_PROGRAM) '$(DESTDIR)$(PREFIX)/bin/'
	install -m 644 $(LIB_SHARED) lib/build/libsimhash.a '$(DESTDIR)$(LIBDIR)/'
	ln -sf $(notdir $(LIB_SHARED)) '$(DESTDIR)$(LIBDIR)/$(LIB_SONAME)'
	ln -sf $(LIB_SONAME) '$(DESTDIR)$(LIBDIR)/libsimhash.so'
	sed 's|@prefix@|$(PREFIX)|; s|@libdir@|$(LIBDIR)|; s|@version@|$(LIB_VERSION)|' \
		lib/libsimhash.pc.in >'$(DESTDIR)$(LIBDIR)/pkgconfig/libsimhash.pc'
	install -m 644 lib/libsimhash.h '$(DESTDIR)$(PREFIX)/include/'
	install -m 644 lib/simhash-texts.1 '$(DESTDIR)$(PREFIX)/share/man/man1/'

indent:
	@tools/indent

lint:
	@tools/lint

deb:
	@OUT='$(OUT)' tools/package

dist:
	@version=$$(sed -nE '/^    "version"/s/.*: "(.*)",/\1/p' META.json) && \
		archive=dist/simhash-$$version.zip && mkdir -p dist && \
		git archive --prefix="simhash-$$version/" -o "$$archive" HEAD && \
		echo "$$archive"

# Results by date, in bench/results.
bench: setup
	@SCALE='$(SCALE)' N='$(N)' SECTIONS='$(SECTIONS)' PEERS='$(PEERS)' \
		UNDER='$(UNDER)' PG_CONFIG='$(PG_CONFIG)' COPT='$(COPT)' \
		PGVECTOR='$(PGVECTOR)' bench/bench.sh

# Results by date; bench/quality_sets.py makes sets from packages.
bench-quality: bench/quality.run bench/edits.run
	@mkdir -p bench/results
	@PG_CONFIG='$(PG_CONFIG)' JIEBA='$(JIEBA)' \
		python3 bench/quality.py bench/quality.run bench/edits.run \
		bench/results/quality-$$(date -u +%Y-%m-%d) $(SETS)

bench/%.run: bench/%.c bench/edit.c $(wildcard bench/*.h) $(OUR_HEADERS) $(CORE_OBJS:.o=.c)
	$(CC) -std=c99 -O2 -Wall -Wextra $(COPT) -Isrc -o $@ $< \
		$(CORE_OBJS:.o=.c) -lutf8proc -lm
