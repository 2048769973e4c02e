/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps, and prints what the functions that slept have left on the stack and in the registers, as
 * far as a program can read it. tests/programs/stack.sh compares the text of two runs. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WORDS  128 /* of the stack below main() */
#define SLEEPS 50

static uint64_t words[WORDS];

/* Copies the words below its own frame. Calls no function, because a call would change them. */
static __attribute__((noinline)) void look(void)
{
	const volatile uint64_t *stack = (const uint64_t *)__builtin_frame_address(0);

	for (int i = 0; i < WORDS; i++)
		words[i] = stack[-3 - i]; /* below what this function itself may store */
}

int main(void)
{
	for (int i = 0; i < SLEEPS; i++) {
		struct timespec time = {.tv_nsec = 1000 + 100 * i};
		uint64_t hash = 0;

		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
		look();
		for (int k = 0; k < WORDS; k++)
			hash = (hash ^ words[k]) * UINT64_C(0x100000001b3);
		printf("%d %016lx\n", i, hash);
	}
	return 0;
}
