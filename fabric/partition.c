/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition: see partition.h. Tables are short and are searched linearly.
 */
#include "fabric/partition.h"

const struct partitions partitions_default = {{PKEY_DEFAULT}, 1};

bool partitions_match(const struct partitions *partitions, uint16_t pkey)
{
	for (unsigned i = 0; i < partitions->count; i++)
		if (pkey_matches(partitions->keys[i], pkey))
			return true;
	return false;
}

bool partitions_have(const struct partitions *partitions, uint16_t pkey)
{
	for (unsigned i = 0; i < partitions->count; i++)
		if (((partitions->keys[i] ^ pkey) & PKEY_NUMBER) == 0)
			return true;
	return false;
}

uint16_t partitions_towards(const struct partitions *one, const struct partitions *other)
{
	for (unsigned i = 0; i < one->count; i++)
		if (partitions_match(other, one->keys[i]))
			return one->keys[i];
	return one->keys[0];
}
