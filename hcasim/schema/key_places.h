/* SPDX-License-Identifier: Apache-2.0 */
/* key_places: where a scenario has a key, for messages about a key that is in the wrong map. */
#ifndef HCASIM_SCHEMA_KEY_PLACES_H
#define HCASIM_SCHEMA_KEY_PLACES_H

#include <stddef.h>

/* Writes the other places of the last key of a path to `hint`, as the end of a message:
 *
 *     ; did you mean "fabric.switch.ecn.kmax"?
 *     ; expected hosts.hca.port.mtu or fabric.switch.port.mtu
 *     ; adapters with fidelity: detailed have it
 *
 * At most five places are named. The hint is empty if no other map has the key. */
void key_places_hint(const char *path, char *hint, size_t hint_bytes);

#endif
