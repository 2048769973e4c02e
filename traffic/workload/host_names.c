/* SPDX-License-Identifier: Apache-2.0 */
/* host_names: see host_names.h. */
#include "traffic/workload/host_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/yaml.h"

struct name {
	const char *name;
	uint32_t host;
};

struct host_names {
	const char *const *names;
	struct name *sorted; /* by name; NULL before the first search */
	uint32_t hosts;
};

static int compare_names(const void *one, const void *other)
{
	return strcmp(((const struct name *)one)->name, ((const struct name *)other)->name);
}

static bool find_number(const struct host_names *host_names, const char *text, uint32_t *host,
			char *error, size_t error_bytes)
{
	unsigned long number;

	errno = 0;
	number = strtoul(text, NULL, 10);
	if (errno != 0 || number >= host_names->hosts) {
		snprintf(error, error_bytes, "no host %.60s; expected 0..%u", text,
			 host_names->hosts - 1);
		return false;
	}
	*host = (uint32_t)number;
	return true;
}

static const struct name *find_name(struct host_names *host_names, const char *text)
{
	const struct name key = {text, 0};

	if (!host_names->sorted) {
		host_names->sorted = calloc(host_names->hosts, sizeof(host_names->sorted[0]));
		if (!host_names->sorted)
			abort();
		for (uint32_t i = 0; i < host_names->hosts; i++)
			host_names->sorted[i] = (struct name){host_names->names[i], i};
		qsort(host_names->sorted, host_names->hosts, sizeof(key), compare_names);
	}
	return bsearch(&key, host_names->sorted, host_names->hosts, sizeof(key), compare_names);
}

bool host_names_find(struct host_names *host_names, const char *text, uint32_t *host, char *error,
		     size_t error_bytes)
{
	const struct name *found = NULL;
	const char *near = NULL;

	if (*text != '\0' && text[strspn(text, "0123456789")] == '\0')
		return find_number(host_names, text, host, error, error_bytes);
	if (host_names->names) {
		found = find_name(host_names, text);
		near = yaml_suggest(text, host_names->names, host_names->hosts);
	}
	if (found) {
		*host = found->host;
		return true;
	}
	snprintf(error, error_bytes, "no host \"%.64s\"%s%s%s", text,
		 near ? "; did you mean \"" : "; expected a number or a name", near ? near : "",
		 near ? "\"?" : "");
	return false;
}

struct host_names *host_names_create(const char *const *names, uint32_t hosts)
{
	struct host_names *host_names = calloc(1, sizeof(*host_names));

	if (!host_names)
		abort();
	*host_names = (struct host_names){.names = names, .hosts = hosts};
	return host_names;
}

void host_names_destroy(struct host_names *host_names)
{
	if (!host_names)
		return;
	free(host_names->sorted);
	free(host_names);
}
