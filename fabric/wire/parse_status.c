/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_status: the meanings as text, for hcasim decode and for tests.
 */
#include "fabric/wire/parse_status.h"

#include <assert.h>

const char *parse_status_meaning(enum parse_status status)
{
#define PARSE_STATUS_TEXT(name, meaning) meaning,
	static const char *const texts[] = {PARSE_STATUSES(PARSE_STATUS_TEXT)};

	assert(status < PARSE_STATUS_COUNT);
	return texts[status];
}
