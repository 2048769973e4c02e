/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_length: how long an x86-64 instruction is, for all of them, those that insn.h does not carry out included.
 *
 * Source: Intel SDM volume 2, appendix A (opcode maps) and chapter 2 (prefixes, ModR/M, VEX, EVEX).
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_LENGTH_H
#define VERBS_SHIM_PRELOAD_INSN_LENGTH_H

#include <stdint.h>

#define INSN_LENGTH_MOST 15

/* 0: no instruction begins so. INSN_LENGTH_MOST bytes from `code` on are readable. */
uint32_t insn_length(const uint8_t *code);

#endif
