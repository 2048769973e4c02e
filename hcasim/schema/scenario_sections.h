/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_sections: the sections of a scenario file, one entry each. This table serves the reader,
 * the printer of the effective configuration, scenario_destroy() and `hcasim params`. The reference
 * page and the completion get their keys from `hcasim params`.
 *
 *     file.yaml --read()--> list + sections --> read_more --> unknown keys --> check
 *     struct scenario --print()--> list --> print_more --> sections
 */
#ifndef HCASIM_SCHEMA_SCENARIO_SECTIONS_H
#define HCASIM_SCHEMA_SCENARIO_SECTIONS_H

#include "hcasim/schema/scenario_read.h"

struct scenario_section {
	const char *name; /* path of the section's map; the first entry is the top of the file */
	const char *meaning;

	/* The keys of the map, and the keys of the maps inside it. A list is NULL if there are no
	 * such keys. The places say where in struct scenario the values are. */
	const struct param *list;
	size_t place;
	const struct param_section *sections;
	size_t sections_place;

	/* True if the section is not a plain map, but a list of maps, or a choice between a text
	 * and a map. read_more and print_more then apply the lists and report unknown keys. */
	bool irregular;

	/* Reads the keys that no list describes, and returns their names (NULL-terminated) or NULL.
	 * `node` may be of any kind, and is NULL if the file does not have the section. The
	 * function is NULL if the lists describe all keys. */
	const char *const *(*read_more)(struct scenario_reader *reader, struct yaml_node *node);

	/* Checks values against each other after all keys of the section have been read.
	 * reader->errors_before is the number of errors before the section. The reader does not
	 * call this function if the file lacks the section. NULL if there is nothing to check. */
	void (*check)(struct scenario_reader *reader, struct yaml_node *node);

	/* Returns false if the effective configuration omits the section. NULL: it never omits
	 * it. */
	bool (*is_present)(const struct scenario *scenario);

	/* Prints the keys that no list describes. NULL if there are none. */
	void (*print_more)(const struct scenario *scenario, FILE *out);

	/* Releases the memory that read_more allocated. NULL if there is none. */
	void (*release)(struct scenario *scenario);
};

/* Ends with an entry whose name is NULL. */
extern const struct scenario_section scenario_sections[];

void scenario_sections_read(struct scenario_reader *reader);
void scenario_sections_print(const struct scenario *scenario, FILE *out);
void scenario_sections_release(struct scenario *scenario);

#endif
