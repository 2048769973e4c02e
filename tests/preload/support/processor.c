/* SPDX-License-Identifier: Apache-2.0 */
/* processor: see processor.h. SIGUSR1 sets the registers. SIGTRAP, at the breakpoint after the
 * code, reads them. */
#include "tests/preload/support/processor.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

uint8_t *processor_code;
uint8_t processor_data[PROCESSOR_DATA] __attribute__((aligned(64)));

static uint8_t signal_stack[1 << 18];
static greg_t saved_gregs[NGREG];
static volatile uint64_t
	seed_now; /* volatile: raise() counts as a function that does not call back */
static void (*volatile emulate_now)(ucontext_t *context);
static struct processor_state *volatile after_now;

/* Longer vector registers in the signal frame are zero, as initially. */
static void clear_upper(struct _libc_fpstate *saved)
{
	uint8_t *area = (uint8_t *)saved;
	uint64_t used;
	uint32_t magic;

	memcpy(&magic, area + 464, sizeof(magic));
	if (magic != 0x46505853)
		return; /* it has nothing of them */
	memcpy(&used, area + 512, sizeof(used));
	used &= 3; /* x87, SSE */
	memcpy(area + 512, &used, sizeof(used));
}

void processor_set_registers(ucontext_t *context, uint64_t seed)
{
	static const uint8_t order[] = {REG_RAX, REG_RBX, REG_RDX, REG_R8,  REG_R9, REG_R10,
					REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	greg_t *gregs = context->uc_mcontext.gregs;

	for (size_t i = 0; i < sizeof(order); i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		gregs[order[i]] = (greg_t)(seed ^ seed >> 29);
	}
	gregs[REG_RCX] = 5;
	gregs[REG_RDI] = (greg_t)(uintptr_t)(processor_data + 64);
	gregs[REG_RSI] = (greg_t)(uintptr_t)(processor_data + 128);
	gregs[REG_RSP] = (greg_t)(uintptr_t)(processor_data + PROCESSOR_STACK);
	gregs[REG_RBP] = (greg_t)(uintptr_t)(processor_data + PROCESSOR_STACK + 16);
	gregs[REG_RIP] = (greg_t)(uintptr_t)processor_code;
	gregs[REG_EFL] =
		(gregs[REG_EFL] & ~(greg_t)PROCESSOR_FLAGS) | (greg_t)(seed >> 7 & PROCESSOR_FLAGS);
	clear_upper(context->uc_mcontext.fpregs);
	for (int r = 0; r < 16; r++)
		for (unsigned i = 0; i < 4; i++)
			context->uc_mcontext.fpregs->_xmm[r].element[i] =
				(uint32_t)(seed >> (i * 8)) + (uint32_t)r;
}

void processor_fill_data(uint64_t seed)
{
	const uint64_t target = (uint64_t)processor_code + 64;

	for (int i = 0; i < PROCESSOR_DATA; i++)
		processor_data[i] = (uint8_t)(seed >> (i % 8 * 8)) ^ (uint8_t)(i * 37);
	memcpy(processor_data + PROCESSOR_STACK, &target, sizeof(target));
}

void processor_load(const uint8_t *bytes, size_t length)
{
	memset(processor_code, 0xcc, PROCESSOR_CODE / 2); /* INT3, wherever it goes on */
	memcpy(processor_code, bytes, length);
}

static void look(const ucontext_t *context)
{
	struct processor_state *after = after_now;

	memcpy(after->gregs, context->uc_mcontext.gregs, sizeof(after->gregs));
	memcpy(after->xmm, context->uc_mcontext.fpregs->_xmm, sizeof(after->xmm));
}

static void handle(int number, siginfo_t *info, void *pointer)
{
	ucontext_t *context = pointer;

	(void)info;
	if (number == SIGUSR1) {
		memcpy(saved_gregs, context->uc_mcontext.gregs, sizeof(saved_gregs));
		processor_set_registers(context, seed_now);
		if (!emulate_now)
			return;
		emulate_now(context);
		look(context);
	} else {
		look(context);
		after_now->gregs[REG_RIP]--; /* behind the breakpoint */
	}
	memcpy(context->uc_mcontext.gregs, saved_gregs, sizeof(saved_gregs));
}

void processor_run(uint64_t seed, void (*emulate)(ucontext_t *context),
		   struct processor_state *after)
{
	seed_now = seed;
	emulate_now = emulate;
	after_now = after;
	processor_fill_data(seed);
	__asm__ volatile("" ::: "memory");
	raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
	memcpy(after->data, processor_data, sizeof(after->data));
}

bool processor_is_same(const struct processor_state *left, const struct processor_state *right,
		       greg_t undefined)
{
	greg_t flags = left->gregs[REG_EFL] ^ right->gregs[REG_EFL];

	for (int i = 0; i <= REG_RIP; i++)
		if (left->gregs[i] != right->gregs[i])
			return false;
	return (flags & PROCESSOR_FLAGS & ~undefined) == 0 &&
	       memcmp(left->xmm, right->xmm, sizeof(left->xmm)) == 0 &&
	       memcmp(left->data, right->data, sizeof(left->data)) == 0;
}

void processor_init(void)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};

	sigaltstack(&stack, NULL); /* the instructions have their stack in the data */
	processor_code = mmap(NULL, PROCESSOR_CODE, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
}
