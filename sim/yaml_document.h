/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_document: the storage of nodes and texts, shared by the files of yaml.c. No other file
 * includes it.
 */
#ifndef SIM_YAML_DOCUMENT_H
#define SIM_YAML_DOCUMENT_H

#include "sim/yaml.h"

struct yaml_chunk;

struct yaml_document {
	struct yaml_chunk *chunks; /* all nodes and texts */
	struct yaml_node *root;
	const char *file;
	/* Documents whose nodes are part of this one. yaml_close() releases them too. */
	struct yaml_document *attached;
};

/* Returns zeroed memory that yaml_close() releases. */
void *yaml_take(struct yaml_document *document, size_t bytes);

#endif
