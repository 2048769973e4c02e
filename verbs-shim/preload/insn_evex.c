/* SPDX-License-Identifier: Apache-2.0 */
/* insn_evex: see insn_evex.h. */
#include "verbs-shim/preload/insn_evex.h"

#include "verbs-shim/preload/insn_reader.h"

enum { W0 = 1, W1 = 2 };

/* By mandatory prefix (0: none, 1: 66, 2: F3, 3: F2). */
static const struct {
	uint8_t prefix, opcode;
	uint8_t widths; /* of its elements, which make no difference without a mask: W as it may be
			 */
	bool store, memory_only;
} moves[] = {
	{0, 0x10, W0, false, false},      /* VMOVUPS */
	{0, 0x11, W0, true, false},       /* VMOVUPS */
	{1, 0x10, W1, false, false},      /* VMOVUPD */
	{1, 0x11, W1, true, false},       /* VMOVUPD */
	{0, 0x28, W0, false, false},      /* VMOVAPS */
	{0, 0x29, W0, true, false},       /* VMOVAPS */
	{1, 0x28, W1, false, false},      /* VMOVAPD */
	{1, 0x29, W1, true, false},       /* VMOVAPD */
	{0, 0x2b, W0, true, true},        /* VMOVNTPS */
	{1, 0x2b, W1, true, true},        /* VMOVNTPD */
	{1, 0xe7, W0, true, true},        /* VMOVNTDQ */
	{1, 0x6f, W0 | W1, false, false}, /* VMOVDQA32, 64 */
	{1, 0x7f, W0 | W1, true, false},  /* VMOVDQA32, 64 */
	{2, 0x6f, W0 | W1, false, false}, /* VMOVDQU32, 64 */
	{2, 0x7f, W0 | W1, true, false},  /* VMOVDQU32, 64 */
	{3, 0x6f, W0 | W1, false, false}, /* VMOVDQU8, 16 */
	{3, 0x7f, W0 | W1, true, false},  /* VMOVDQU8, 16 */
};

/* Registers have five bits. An eight-bit displacement counts whole vectors. */
static void read_operands(struct reader *reader, struct insn *insn, uint8_t first)
{
	uint32_t before = reader->at;
	uint8_t mod;

	reader->rex = (uint8_t)((first & 0x80 ? 0 : REX_R) | (first & 0x40 ? 0 : REX_X) |
				(first & 0x20 ? 0 : REX_B));
	read_modrm(reader, insn);
	if (reader->overrun)
		return;
	mod = reader->bytes[before] >> 6;
	insn->reg |= first & 0x10 ? 0 : 16;
	if (mod == 3)
		insn->rm_reg |= first & 0x40 ? 0 : 16;
	if (mod == 1)
		insn->displacement *= insn->size;
}

bool insn_evex(struct reader *reader, struct insn *insn)
{
	uint8_t first = next(reader), second = next(reader), third = next(reader);
	uint8_t opcode = next(reader), prefix = second & 3, length = third >> 5 & 3;
	bool plain = !reader->rex_present && !reader->operand_16 && !reader->rep && !reader->repne;
	bool moves_all = (third & 0x9f) == 0x08; /* neither zeroing, broadcast, mask nor register */

	if (!plain || !moves_all || (first & 0xf) != 1 || (second & 0x7c) != 0x7c || length == 3)
		return false;
	for (uint32_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (moves[i].prefix != prefix || moves[i].opcode != opcode)
			continue;
		insn->op = moves[i].store ? OP_VECTOR_STORE : OP_VECTOR_LOAD;
		insn->size = (uint8_t)(16 << length);
		insn->vex = true;
		read_operands(reader, insn, first);
		return moves[i].widths & (second & 0x80 ? W1 : W0) &&
		       !(moves[i].memory_only && insn->rm_reg != INSN_NO_REG);
	}
	return false;
}
