/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_reader: reads the bytes of an instruction, and holds its prefixes. Operands are read in the
 * same way for all prefixes. It is in a header because both decoders use it. insn_decode.c and
 * insn_evex.c call these functions. Source: Intel SDM volume 2, 2.1 (ModRM, SIB), 2.2.1 (REX), 2.3
 * (VEX).
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_READER_H
#define VERBS_SHIM_PRELOAD_INSN_READER_H

#include "verbs-shim/preload/insn_decode.h"

enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

struct reader {
	const uint8_t *bytes;
	uint32_t length, at;
	bool overrun;
	bool rex_present, operand_16, rep, repne;
	uint8_t rex;
	bool vex, vex_256;
	uint8_t vex_prefix; /* 0, 1: 66, 2: F3, 3: F2 */
	uint8_t vex_register;
};

static inline uint8_t next(struct reader *reader)
{
	if (reader->at >= reader->length) {
		reader->overrun = true;
		return 0;
	}
	return reader->bytes[reader->at++];
}

static inline int64_t signed_value(struct reader *reader, uint32_t bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)next(reader) << (8 * i);
	if (bytes == 8)
		return (int64_t)value;
	uint64_t sign = UINT64_C(1) << (8 * bytes - 1);

	return (int64_t)((value ^ sign) - sign);
}

static inline void read_modrm(struct reader *reader, struct insn *insn)
{
	uint8_t modrm = next(reader);
	uint8_t mod = modrm >> 6, rm = modrm & 7;

	insn->reg = (uint8_t)((modrm >> 3 & 7) | (reader->rex & REX_R ? 8 : 0));
	insn->base = insn->index = insn->rm_reg = INSN_NO_REG;
	insn->scale = 1;
	if (mod == 3) {
		insn->rm_reg = (uint8_t)(rm | (reader->rex & REX_B ? 8 : 0));
		return;
	}
	if (rm == 4) {
		uint8_t sib = next(reader);
		uint8_t index = (uint8_t)((sib >> 3 & 7) | (reader->rex & REX_X ? 8 : 0));

		insn->scale = (uint8_t)(1 << (sib >> 6));
		insn->index = index == 4 ? INSN_NO_REG : index;
		insn->base = (uint8_t)((sib & 7) | (reader->rex & REX_B ? 8 : 0));
		if ((sib & 7) == 5 && mod == 0) {
			insn->base = INSN_NO_REG;
			insn->displacement = signed_value(reader, 4);
		}
	} else if (rm == 5 && mod == 0) {
		insn->rip_relative = true;
		insn->displacement = signed_value(reader, 4);
	} else {
		insn->base = (uint8_t)(rm | (reader->rex & REX_B ? 8 : 0));
	}
	if (mod == 1)
		insn->displacement = signed_value(reader, 1);
	else if (mod == 2)
		insn->displacement = signed_value(reader, 4);
}

#endif
