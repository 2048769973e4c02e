/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_document: what the files of yaml.h share and nobody else includes: where nodes and texts live.
 */
#ifndef SIM_YAML_DOCUMENT_H
#define SIM_YAML_DOCUMENT_H

#include "sim/yaml.h"

struct yaml_chunk;

struct yaml_document {
	struct yaml_chunk *chunks; /* all nodes and texts */
	struct yaml_node *root;
	const char *file;
	/* Documents whose nodes were put into this one; go with it. */
	struct yaml_document *attached;
};

/* Zeroed memory that goes with the document. */
void *yaml_take(struct yaml_document *document, size_t bytes);

#endif
