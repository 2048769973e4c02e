/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_decode: hcasim decode FILE: prints the packets of a capture, and checks their CRCs.
 */
#include <stdio.h>

#include "fabric/wire/decode.h"
#include "hcasim/command/verb.h"

int verb_decode(const struct arguments *arguments)
{
	struct decode_options options = {.verbose = arguments->verbose, .json = arguments->json};
	return decode_file(arguments->word, stdout, stderr, &options);
}
