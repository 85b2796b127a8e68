#!/bin/bash
#
# The core, given bytes that libFuzzer makes: test/fuzz/fuzz_*.c.
# SPDX-License-Identifier: PostgreSQL
#
# Each target begins with those inputs that have led to code not seen before,
# test/fuzz/corpus.tar.xz, and goes on for its share of SIMHASH_SECONDS (5).
# SIMHASH_SEED repeats a run.  All night, on one core:
#
#     SIMHASH_SECONDS=36000 OUT=dir make staged-test REGRESS= ISOLATION= TAP= \
#         UNIT= CHECK=test/check/check_fuzz.sh
#
# which leaves dir/corpus.tar.xz, to take the place of test/fuzz/corpus.tar.xz:
# those inputs of which each leads to code that no other one does.  A run of less
# than ten minutes leaves none.
#

. "$(dirname "$0")/tools.sh"
targets=$(cd test/fuzz && echo fuzz_*.c)
seconds=${SIMHASH_SECONDS:-5}
seed=${SIMHASH_SEED:-$(date +%s)}
corpus=$work/corpus
flags="-std=c99 -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all"
fixed="setarch -R"
$fixed true 2>/dev/null || fixed=

command -v clang >/dev/null || fail "clang with libFuzzer is needed"

# Build each target.
build()
{
	local file

	make -s -j"$(nproc)" ${CC:+CC="$CC"} fuzz-objects
	for file in $targets; do
		echo "$work/${file%.c}" "test/fuzz/$file"
	done | xargs -P "$(nproc)" -n 2 clang $flags -Wall -Wextra -Isrc -Ilib \
		-Itest/fuzz -fsanitize=fuzzer,address,undefined test/unit/fuzz/core/*/*.o \
		lib/libsimhash.c \
		-lutf8proc -lm -o
}

# Run a target for its share of the time.
run()
{
	local target=$1 share

	share=$((seconds / $(wc -w <<<"$targets")))
	mkdir -p "$corpus/$target"
	$fixed "$work/$target" -seed="$seed" -max_total_time=$((share + 1)) \
		-max_len=2000 -timeout=60 -print_final_stats=1 \
		-artifact_prefix="$work/" "$corpus/$target" >"$work/log" 2>&1 ||
		fail "$target, SIMHASH_SEED=$seed" "$work/log"
	ok "$target: $(sed -n 's/^stat::number_of_executed_units: //p' \
		"$work/log") inputs, no fault"
}

# Keep what is worth keeping of what was found.
keep()
{
	local target

	for target in $targets; do
		target=${target%.c}
		mkdir -p "$work/kept/$target"
		$fixed "$work/$target" -merge=1 "$work/kept/$target" \
			"$corpus/$target" >/dev/null 2>&1
	done
	tar -C "$work/kept" --sort=name --owner=0 --group=0 --mtime=@0 \
		-cJf "$RESULTS/corpus.tar.xz" $(ls "$work/kept")
}

echo "SIMHASH_SEED=$seed"
mkdir "$corpus"
tar -C "$corpus" -xf test/fuzz/corpus.tar.xz
build
for target in $targets; do
	run "${target%.c}"
done
[ "$seconds" -lt 600 ] || keep
