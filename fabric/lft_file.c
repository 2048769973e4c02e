/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lft_file: see lft_file.h. A line is the head of a table, an entry of a table, or ignored.
 */
#include "fabric/lft_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 64
#define LID_MAX    0xbfff /* unicast; IBTA vol. 1, 4.1.3 */
#define PORT_MAX   254

/* Copies the text between the last parentheses. Returns false if there is none. */
static bool read_head(const char *text, char name[NAME_BYTES])
{
	const char *open = strrchr(text, '('), *close = strrchr(text, ')');
	size_t length;

	if (!open || !close || close < open)
		return false;
	length = (size_t)(close - open) - 1;
	if (length == 0 || length >= NAME_BYTES)
		return false;
	memcpy(name, open + 1, length);
	name[length] = '\0';
	return true;
}

/* Parses "0x0001 018 : ...". Returns false for other lines. */
static bool read_entry(const char *text, unsigned long *lid, unsigned long *port)
{
	char *end;

	*lid = strtoul(text, &end, 16);
	if (end == text || !isspace((unsigned char)*end))
		return false;
	while (isspace((unsigned char)*end))
		end++;
	if (!isdigit((unsigned char)*end))
		return false;
	*port = strtoul(end, &end, 10);
	return *lid >= 1 && *lid <= LID_MAX && *port <= PORT_MAX &&
	       (*end == '\0' || isspace((unsigned char)*end));
}

static bool read_line(const char *text, char name[NAME_BYTES], lft_taker *take, void *context,
		      char *error, size_t error_bytes)
{
	unsigned long lid, port;

	while (isspace((unsigned char)*text))
		text++;
	if (strncmp(text, "Unicast lids", 12) == 0) {
		if (read_head(text, name))
			return true;
		snprintf(error, error_bytes,
			 "expected the switch's name in parentheses at the end");
		return false;
	}
	if (strncmp(text, "0x", 2) != 0)
		return true;
	if (!read_entry(text, &lid, &port)) {
		snprintf(error, error_bytes, "expected a LID and a port, as 0x0001 018");
		return false;
	}
	if (name[0] == '\0') {
		snprintf(error, error_bytes,
			 "expected a line \"Unicast lids ... (switch):\" before");
		return false;
	}
	if (port == 0)
		return true;
	return take(context, &(struct lft_route){name, (uint16_t)lid, (unsigned)port});
}

bool lft_file_read(FILE *file, lft_taker *take, void *context, uint32_t *line, char *error,
		   size_t error_bytes)
{
	char name[NAME_BYTES] = "", *text = NULL;
	size_t room = 0;
	bool good = true;

	*line = 0;
	while (good && getline(&text, &room, file) >= 0) {
		++*line;
		good = read_line(text, name, take, context, error, error_bytes);
	}
	free(text);
	return good;
}
