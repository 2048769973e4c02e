/* SPDX-License-Identifier: Apache-2.0 */
/* insn_length: see insn_length.h. Two maps define the bytes after an opcode. Each other map has one
 * format. */
#include "verbs-shim/preload/insn_length.h"

#include <stdbool.h>

/*
 * A letter for each opcode:
 *   .  nothing               m  ModR/M                 b  one byte
 *   w  two bytes             e  three bytes            r  four bytes
 *   z  four bytes (two with prefix 66)                 v  z, or eight bytes with REX.W
 *   M  m and b               Z  m and z                a  an address
 *   g  m, and b if it is TEST                          G  m, and z if it is TEST
 *   p  prefix                x  none
 */
static const char one_byte[] = "mmmmbzxxmmmmbzx-" /* 00; 0f: the second map */
			       "mmmmbzxxmmmmbzxx" /* 10 */
			       "mmmmbzpxmmmmbzpx" /* 20 */
			       "mmmmbzpxmmmmbzpx" /* 30 */
			       "RRRRRRRRRRRRRRRR" /* 40: REX */
			       "................" /* 50 */
			       "xx-mppppzZbM...." /* 60; 62: EVEX */
			       "bbbbbbbbbbbbbbbb" /* 70 */
			       "MZxMmmmmmmmmmmmm" /* 80 */
			       "..........x....." /* 90 */
			       "aaaa....bz......" /* a0 */
			       "bbbbbbbbvvvvvvvv" /* b0 */
			       "MMw.--MZe.w..bx." /* c0; c4, c5: VEX */
			       "mmmmxxx.mmmmmmmm" /* d0 */
			       "bbbbbbbbrrxb...." /* e0 */
			       "p.pp..gG......mm" /* f0 */;

static const char two_bytes[] = "mmmmx.....x.xm.M"  /* 00 */
				"mmmmmmmmmmmmmmmm"  /* 10 */
				"mmmmxxxxmmmmmmmm"  /* 20 */
				"........-x-xxxxx"  /* 30; 38, 3a: further maps */
				"mmmmmmmmmmmmmmmm"  /* 40 */
				"mmmmmmmmmmmmmmmm"  /* 50 */
				"mmmmmmmmmmmmmmmm"  /* 60 */
				"MMMMmmm.mmmmmmmm"  /* 70 */
				"rrrrrrrrrrrrrrrr"  /* 80 */
				"mmmmmmmmmmmmmmmm"  /* 90 */
				"...mMmxx...mMmmm"  /* a0 */
				"mmmmmmmmmmMmmmmm"  /* b0 */
				"mmMmMMMm........"  /* c0 */
				"mmmmmmmmmmmmmmmm"  /* d0 */
				"mmmmmmmmmmmmmmmm"  /* e0 */
				"mmmmmmmmmmmmmmmm"; /* f0 */

_Static_assert(sizeof(one_byte) == 257 && sizeof(two_bytes) == 257, "a letter for each opcode");

struct prefixes {
	bool operand, address, wide;
};

static uint32_t modrm_length(const uint8_t *modrm)
{
	uint32_t mod = modrm[0] >> 6, memory = modrm[0] & 7, length = 1;

	if (mod == 3)
		return length;
	if (memory == 4) {
		memory = modrm[1] & 7;
		length++;
	}
	if (mod == 2 || (mod == 0 && memory == 5))
		return length + 4;
	return mod == 1 ? length + 1 : length;
}

/* Returns the number of bytes after an opcode of that letter. UINT32_MAX: there is none. */
static uint32_t rest_length(char letter, const uint8_t *rest, const struct prefixes *prefixes)
{
	uint32_t word = prefixes->operand && !prefixes->wide ? 2 : 4;
	bool tests = (rest[0] >> 3 & 7) < 2;

	switch (letter) {
	case '.':
		return 0;
	case 'm':
		return modrm_length(rest);
	case 'b':
		return 1;
	case 'z':
		return word;
	case 'r':
		return 4;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'M':
		return modrm_length(rest) + 1;
	case 'Z':
		return modrm_length(rest) + word;
	case 'v':
		return prefixes->wide ? 8 : word;
	case 'a':
		return prefixes->address ? 4 : 8;
	case 'g':
		return modrm_length(rest) + (tests ? 1 : 0);
	case 'G':
		return modrm_length(rest) + (tests ? word : 0);
	default:
		return UINT32_MAX;
	}
}

/* Returns the letter of an opcode in a map, as VEX and EVEX number the maps. */
static char letter_in(uint32_t map, uint8_t opcode)
{
	switch (map) {
	case 1:
		return two_bytes[opcode];
	case 3:
		return 'M';
	case 2:
	case 5:
	case 6:
		return 'm';
	default:
		return 'x';
	}
}

uint32_t insn_length(const uint8_t *code)
{
	struct prefixes prefixes = {false, false, false};
	uint32_t at = 0, rest;
	char letter;

	for (; at < INSN_LENGTH_MOST && one_byte[code[at]] == 'p'; at++) {
		prefixes.operand |= code[at] == 0x66;
		prefixes.address |= code[at] == 0x67;
	}
	if (at == INSN_LENGTH_MOST)
		return 0;
	if (one_byte[code[at]] == 'R')
		prefixes.wide = code[at++] & 8;
	switch (code[at]) {
	case 0x0f:
		at++;
		if (code[at] == 0x38 || code[at] == 0x3a) {
			letter = letter_in(code[at] == 0x38 ? 2 : 3, code[at + 1]);
			at++;
		} else {
			letter = two_bytes[code[at]];
		}
		break;
	case 0xc5:
		letter = letter_in(1, code[at + 2]);
		at += 2;
		break;
	case 0xc4:
		letter = letter_in(code[at + 1] & 0x1f, code[at + 3]);
		at += 3;
		break;
	case 0x62:
		letter = letter_in(code[at + 1] & 7, code[at + 4]);
		at += 4;
		break;
	default:
		letter = one_byte[code[at]];
	}
	at++;
	if (at + 2 > INSN_LENGTH_MOST)
		return letter == '.' && at <= INSN_LENGTH_MOST ? at : 0;
	rest = rest_length(letter, code + at, &prefixes);
	return rest == UINT32_MAX || at + rest > INSN_LENGTH_MOST ? 0 : at + rest;
}
