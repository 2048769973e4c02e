/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_evex: moves of whole vector registers as AVX-512 encodes them, which libc's memcpy() consists of on machines that have
 * it. Without masks and broadcasts.
 *
 * Who calls: insn_decode.c, behind the byte 62. Source: Intel SDM volume 2, 2.7 (EVEX), 2.7.5 (displacements).
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_EVEX_H
#define VERBS_SHIM_PRELOAD_INSN_EVEX_H

#include <stdbool.h>

struct insn;
struct reader;

#pragma GCC visibility push(hidden) /* no names for the program to meet */

/* false: not one of those. */
bool insn_evex(struct reader *reader, struct insn *insn);

#pragma GCC visibility pop

#endif
