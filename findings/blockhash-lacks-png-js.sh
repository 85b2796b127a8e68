#!/bin/bash
#
# The npm package blockhash cannot be loaded as it is installed.
#
# Surprising in blockhash 0.2.0 (npm), the package of the method's own authors: it
# requires png-js, and does not name it among what it needs.  Expected: it loads.
# blockhash-core does, which has no reader of pictures.
#
# What is shown: what node says.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/npm.bash" blockhash@0.2.0 blockhash-core@0.1.0

came=$(node -e 'require("blockhash")' 2>&1 | grep '^Error' || :)
echo "blockhash: $came"
core=$(node -e 'console.log(typeof require("blockhash-core").bmvbhash)')
echo "blockhash-core: $core"
[[ $came = *"Cannot find module 'png-js'"* && $core = function ]] ||
	{ echo 'this has changed'; exit 1; }
