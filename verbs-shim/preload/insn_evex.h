/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_evex: moves of whole vector registers in AVX-512 encoding, which memcpy() of libc uses on
 * machines that support it. Masks and broadcasts are not supported. insn_decode.c calls these
 * functions after the byte 62. Source: Intel SDM volume 2, 2.7 (EVEX), 2.7.5 (displacements).
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_EVEX_H
#define VERBS_SHIM_PRELOAD_INSN_EVEX_H

#include <stdbool.h>

struct insn;
struct reader;

#pragma GCC visibility push(hidden) /* do not export names to the program */

/* Returns false if the instruction is not such a move. */
bool insn_evex(struct reader *reader, struct insn *insn);

#pragma GCC visibility pop

#endif
