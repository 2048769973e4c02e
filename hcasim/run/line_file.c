/* SPDX-License-Identifier: Apache-2.0 */
/* line_file: see line_file.h. */
#include "hcasim/run/line_file.h"

#include <errno.h>

bool line_file_copy(FILE *lines, FILE *out)
{
	char buffer[65536];
	size_t count;
	if (fflush(lines) != 0 || ferror(lines) != 0) {
		errno = errno != 0 ? errno : ENOSPC;
		return false;
	}
	rewind(lines);
	while ((count = fread(buffer, 1, sizeof(buffer), lines)) > 0)
		fwrite(buffer, 1, count, out);
	return true;
}
