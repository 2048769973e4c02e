/* SPDX-License-Identifier: Apache-2.0 */
/* templates: files of the installation to start from, such as scenarios/init/KIND.yaml. */
#ifndef HCASIM_COMMAND_TEMPLATES_H
#define HCASIM_COMMAND_TEMPLATES_H

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define TEMPLATES_MAX 32

/* Place of the templates, and words for messages about them. */
struct template_folder {
	const char *folder; /* below share/hcasim */
	const char *suffix; /* of the files: ".yaml" */
	const char *what;   /* word for what a template describes */
	const char *lister; /* command that lists the kinds */
	unsigned line;      /* of the file that describes it, from 1 */
	const char *mark;   /* text before the description in this line */
};

struct templates {
	const struct template_folder *folder;
	glob_t files;
	const char *names[TEMPLATES_MAX]; /* point into texts */
	char texts[TEMPLATES_MAX][NAME_MAX];
	size_t count;
};

/* Returns false and prints the reason if the files do not exist. templates_free() releases the
 * files in both cases. `folder` must outlive them. */
bool templates_find(struct templates *templates, const struct template_folder *folder);
void templates_free(struct templates *templates);

/* Prints each kind with its description, or the kinds alone if `words` is true. */
void templates_list(const struct templates *templates, bool words);

/* Returns the file of that kind. Returns NULL and prints a suggestion if there is none. */
const char *templates_choose(const struct templates *templates, const char *kind);

#endif
