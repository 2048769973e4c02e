/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the start of the process has left on the stack. Then sleeps, and prints what the
 * functions that slept have left on the stack and in the registers, as far as a program can read
 * it. tests/programs/stack.sh compares the text of two runs. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WORDS       128 /* of the stack below main() */
#define START_WORDS 4000
#define SLEEPS      50

static uint64_t words[START_WORDS];

/* Copies the words below its own frame. Calls no function, because a call would change them. */
static __attribute__((noinline)) void look(int count)
{
	const volatile uint64_t *stack = (const uint64_t *)__builtin_frame_address(0);

	for (int i = 0; i < count; i++)
		words[i] = stack[-3 - i]; /* below what this function itself may store */
}

static void print(int number, int count)
{
	uint64_t hash = 0;

	for (int i = 0; i < count; i++)
		hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
	printf("%d %016lx\n", number, hash);
}

int main(void)
{
	look(START_WORDS);
	print(-1, START_WORDS);
	for (int i = 0; i < SLEEPS; i++) {
		struct timespec time = {.tv_nsec = 1000 + 100 * i};

		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
		look(WORDS);
		print(i, WORDS);
	}
	return 0;
}
