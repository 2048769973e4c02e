/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_length: determines the length of any x86-64 instruction, including instructions that insn.h
 * does not execute. Source: Intel SDM volume 2, appendix A (opcode maps) and chapter 2 (prefixes,
 * ModR/M, VEX, EVEX).
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_LENGTH_H
#define VERBS_SHIM_PRELOAD_INSN_LENGTH_H

#include <stdint.h>

#define INSN_LENGTH_MOST 15

/* Returns the length, or 0 if no instruction begins so. INSN_LENGTH_MOST bytes from `code` must be
 * readable. */
uint32_t insn_length(const uint8_t *code);

#endif
