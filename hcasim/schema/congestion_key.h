/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion_key: the key `congestion` of an HCA of either fidelity. Its value is an algorithm or
 * preset, with optional parameters.
 *
 *     hca: {fidelity: endpoint, congestion: dcqcn-paper}
 *     hca: {preset: connectx5-100gbe, congestion: {preset: dcqcn-paper, increase: 80Mbps}}
 */
#ifndef HCASIM_SCHEMA_CONGESTION_KEY_H
#define HCASIM_SCHEMA_CONGESTION_KEY_H

#include "hca/congestion/congestion.h"
#include "sim/yaml.h"

void congestion_key_read(struct yaml_node *node, struct congestion_choice *choice,
			 struct yaml_errors *errors);

/* Prints the choice as YAML that reads back the same, indented by `indent` spaces. */
void congestion_key_print(const struct congestion_choice *choice, unsigned indent, FILE *out);

#endif
