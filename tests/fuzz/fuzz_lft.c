/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_lft: parses any bytes as forwarding tables. Each accepted route names a switch, a unicast
 * LID and a port. A refused table has a line and a reason.
 */
#include <assert.h>
#include <string.h>

#include "fabric/lft_file.h"
#include "tests/fuzz/input_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static bool take(void *context, const struct lft_route *route)
{
	uint32_t *routes = context;

	assert(route->sw[0] && strlen(route->sw) < 64);
	assert(route->lid >= 1 && route->lid <= 0xbfff && route->port >= 1 && route->port <= 254);
	++*routes;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct input_file input;
	char error[128] = "";
	uint32_t routes = 0, line;

	if (!input.fd)
		input = input_file_create("tables.lft");
	input_file_fill(&input, bytes, length);
	FILE *file = fopen(input.path, "r");

	assert(file);
	bool good = lft_file_read(file, take, &routes, &line, error, sizeof(error));

	fclose(file);
	assert(good == !error[0] && (good || line > 0) && routes <= line && line <= length);
	return 0;
}
