/*
 * Programs under a session without any RDMA device: sleeps end,
 * threads, conditions, fork, exec, signals, sockets and clocks behave, two hosts may bind one port, and a run is the same
 * each time with other quanta and on other cores. Each test runs this same executable as the program: argv[1] names the part.
 */
#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/block.h"
#include "verbs-shim/session/session.h"

#define TEXT_BYTES 65536

static const char *own_path;

/* --- the programs --- */

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int part_sleeps(int argc, char **argv)
{
	useconds_t first = (useconds_t)atoi(argv[2]);

	(void)argc;
	usleep(first);
	printf("first\n");
	fflush(stdout);
	usleep(20000);
	printf("second\n");
	return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void *taker(void *argument)
{
	int own = (int)(intptr_t)argument;

	for (int round = 0; round < 3; round++) {
		pthread_mutex_lock(&mutex);
		while (turn % 4 != own)
			pthread_cond_wait(&condition, &mutex);
		printf("%d", own);
		turn++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
	}
	return (void *)(intptr_t)(own * 10);
}

static int part_threads(int argc, char **argv)
{
	pthread_t threads[4];
	struct timespec until;
	intptr_t sum = 0;
	void *result;

	(void)argc;
	(void)argv;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, taker, (void *)(intptr_t)i);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		sum += (intptr_t)result;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	pthread_mutex_lock(&mutex);
	uint64_t start = now_us();
	int error = pthread_cond_timedwait(&condition, &mutex, &until);
	uint64_t waited = now_us() - start;
	printf("\nsum %ld %s %d\n", (long)sum, error == ETIMEDOUT ? "timeout" : "?",
	       waited >= 4999000 && waited < 5001000);
	return 0;
}

static int part_fork(int argc, char **argv)
{
	int ends[2], status;
	char text[32] = "";
	pid_t child;

	(void)argc;
	if (pipe(ends) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		usleep(1000);
		if (write(ends[1], "hello", 5) != 5)
			_exit(1);
		execl(argv[0], argv[0], "exit", "7", (char *)NULL);
		_exit(1);
	}
	if (read(ends[0], text, sizeof(text) - 1) < 0)
		return 1;
	if (waitpid(child, &status, 0) != child)
		return 1;
	printf("%s %d from %d, system says %d\n", text, WEXITSTATUS(status), (int)child,
	       WEXITSTATUS(system("exit 5")));
	return 0;
}

static int part_exit(int argc, char **argv)
{
	(void)argc;
	return atoi(argv[2]);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

static int part_signals(int argc, char **argv)
{
	struct itimerval every = {{0, 10000}, {0, 10000}};
	uint64_t start = now_us();

	(void)argc;
	(void)argv;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	while (alarms < 3)
		pause();
	uint64_t waited = now_us() - start;
	printf("3 alarms %d\n", waited >= 30000 && waited < 31000);
	return 0;
}

static int part_server(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(20777)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, peer;
	char text[64];

	(void)argc;
	(void)argv;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 4) != 0)
		return 1;
	peer = accept(listener, (struct sockaddr *)&address, &length);
	for (int i = 0; i < 50; i++) {
		ssize_t got = recv(peer, text, 8, MSG_WAITALL);
		if (got != 8 || send(peer, text, 8, 0) != 8)
			return 1;
	}
	printf("served %s\n", inet_ntoa(address.sin_addr));
	return 0;
}

static int part_client(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(20777)},
			   own = address;
	int server = socket(AF_INET, SOCK_STREAM, 0), listener = socket(AF_INET, SOCK_STREAM, 0);
	char text[8], name[64];
	uint64_t start;

	(void)argc;
	(void)argv;
	gethostname(name, sizeof(name));
	if (bind(listener, (struct sockaddr *)&own, sizeof(own)) !=
	    0) /* the same port, on another host */
		return 2;
	inet_pton(AF_INET, "127.77.0.1", &address.sin_addr);
	if (connect(server, (struct sockaddr *)&address, sizeof(address)) != 0)
		return 3;
	start = now_us();
	for (int i = 0; i < 50; i++) {
		if (send(server, "12345678", 8, 0) != 8 || recv(server, text, 8, MSG_WAITALL) != 8)
			return 4;
	}
	printf("%s: 50 round trips took %lu us\n", name, (unsigned long)(now_us() - start));
	return 0;
}

static int part_random(int argc, char **argv)
{
	uint64_t bytes;

	(void)argc;
	(void)argv;
	if (getrandom(&bytes, sizeof(bytes), 0) != sizeof(bytes))
		return 1;
	printf("%d %lx %lx %lx\n", (int)getpid(), (unsigned long)bytes,
	       (unsigned long)__builtin_ia32_rdtsc(), (unsigned long)time(NULL));
	return 0;
}

static int part_stuck(int argc, char **argv)
{
	int ends[2];
	char byte;

	(void)argc;
	(void)argv;
	return pipe(ends) == 0 && read(ends[0], &byte, 1) == 1;
}

static const struct part {
	const char *name;
	int (*run)(int argc, char **argv);
} parts[] = {{"sleeps", part_sleeps}, {"threads", part_threads}, {"fork", part_fork},
	     {"exit", part_exit},     {"signals", part_signals}, {"server", part_server},
	     {"client", part_client}, {"random", part_random},   {"stuck", part_stuck}};

/* --- the tests --- */

struct result {
	int code;
	uint64_t hash;
	char text[TEXT_BYTES];
};

/* Runs the parts, one on each host, in a child process whose output is caught. */
static void run_session(struct result *result, const char *const (*programs)[4], uint32_t count,
			uint64_t quantum, int core)
{
	int ends[2], status;
	size_t used = 0;
	pid_t child;

	memset(result, 0, sizeof(*result));
	fflush(NULL);
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		struct cpu_params cpu;
		struct session_params params;
		char why[256];
		cpu_set_t cores;

		CPU_ZERO(&cores);
		CPU_SET((size_t)(core < 0 ? 0 : core), &cores);
		if (core >= 0)
			(void)sched_setaffinity(0, sizeof(cores), &cores);
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		session_supervise();
		params_default(cpu_param_list, &cpu);
		params_default(session_param_list, &params);
		params.quantum = quantum;
		struct sim *sim = sim_create(SIM_KERNEL_native, 1);
		struct session *session = session_create(sim, &cpu, &params, false, false);
		for (uint32_t i = 0; i < count; i++) {
			char name[16];
			const uint8_t address[4] = {127, 77, 0, (uint8_t)(i + 1)};
			snprintf(name, sizeof(name), "host%u", i);
			session_add_host(session, name, address);
		}
		for (uint32_t i = 0; i < count; i++) {
			char **argv = calloc(5, sizeof(*argv));
			argv[0] = strdup(own_path);
			for (int a = 0; a < 3 && programs[i][a]; a++)
				argv[a + 1] = strdup(programs[i][a]);
			if (!session_add_program(session, i, argv, 0, why, sizeof(why)))
				_exit(99);
		}
		int code = session_run(session);
		printf("hash %016lx\n", (unsigned long)session_trace_hash(session));
		fflush(stdout);
		_exit(code);
	}
	close(ends[1]);
	for (;;) {
		ssize_t got = read(ends[0], result->text + used, TEXT_BYTES - 1 - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close(ends[0]);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	result->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const struct result *result, int code, const char *text)
{
	CU_ASSERT_EQUAL(result->code, code);
	CU_ASSERT_PTR_NOT_NULL(strstr(result->text, text));
	if (result->code != code || !strstr(result->text, text))
		fprintf(stderr, "expected %d and\n%s\ngot %d and\n%s\n", code, text, result->code,
			result->text);
}

static void sleeping_programs_end(void)
{
	static const char *const programs[][4] = {
		{"sleeps", "30000"}, {"sleeps", "10000"}, {"sleeps", "20000"}};
	struct result result;

	run_session(&result, programs, 3, 3 * MS, -1);
	/* Programs start when those before them wait; a sleep is no such wait, so they follow one another. */
	CU_ASSERT_EQUAL(result.code, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(result.text, "host0| first\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(result.text, "host2| second\n"));
}

static void threads_take_turns(void)
{
	static const char *const programs[][4] = {{"threads"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| 012301230123\nhost0| sum 60 timeout 1\n");
}

static void fork_exec_and_wait_work(void)
{
	static const char *const programs[][4] = {{"fork"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| hello 7 from 1001, system says 5\n");
}

static void timers_run_on_virtual_time(void)
{
	static const char *const programs[][4] = {{"signals"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| 3 alarms 1\n");
}

static void hosts_have_their_own_addresses(void)
{
	static const char *const programs[][4] = {{"server"}, {"client"}};
	struct result result;

	run_session(&result, programs, 2, 3 * MS, -1);
	expect(&result, 0, "host0| served 127.77.0.2\n");
	expect(&result, 0, "host1| host1: 50 round trips took ");
}

static void first_bad_exit_code_counts(void)
{
	static const char *const programs[][4] = {{"exit", "0"}, {"exit", "9"}, {"exit", "4"}};
	struct result result;

	run_session(&result, programs, 3, 3 * MS, -1);
	CU_ASSERT_EQUAL(result.code, 9);
}

/* Both programs wait for what nobody will do: said so, and ended. */
static void virtual_deadlock_ends(void)
{
	static const char *const programs[][4] = {{"stuck"}, {"stuck"}};
	struct result result;

	run_session(&result, programs, 2, 3 * MS, -1);
	CU_ASSERT_EQUAL(result.code, 3);
}

static void runs_repeat_with_any_quantum_and_core(void)
{
	static const char *const programs[][4] = {{"server"}, {"client"}, {"random"}, {"threads"}};
	static struct result first, other;

	run_session(&first, programs, 4, 3 * MS, -1);
	CU_ASSERT_EQUAL(first.code, 0);
	for (int i = 0; i < 8; i++) {
		run_session(&other, programs, 4, (uint64_t)(1 + i * 7 % 5) * MS, i % 2 ? 0 : -1);
		CU_ASSERT_STRING_EQUAL(first.text, other.text);
		if (strcmp(first.text, other.text) != 0)
			fprintf(stderr, "run %d differs:\n%s\n---\n%s\n", i, first.text,
				other.text);
	}
}

static void unsuitable_programs_are_refused(void)
{
	struct cpu_params cpu;
	struct session_params params;
	char why[256] = "", *argv[2] = {NULL, NULL};
	const uint8_t address[4] = {127, 77, 0, 1};

	params_default(cpu_param_list, &cpu);
	params_default(session_param_list, &params);
	struct sim *sim = sim_create(SIM_KERNEL_native, 1);
	struct session *session = session_create(sim, &cpu, &params, false, false);
	session_add_host(session, "host0", address);
	argv[0] = strdup("no-such-program-anywhere");
	CU_ASSERT_FALSE(session_add_program(session, 0, argv, 0, why, sizeof(why)));
	CU_ASSERT_STRING_EQUAL(why, "no-such-program-anywhere: no such program in PATH");
	free(argv[0]);
	argv[0] = strdup("/etc/passwd");
	CU_ASSERT_FALSE(session_add_program(session, 0, argv, 0, why, sizeof(why)));
	CU_ASSERT_STRING_EQUAL(why, "/etc/passwd: not executable");
	free(argv[0]);
	session_destroy(session);
	sim_destroy(sim);
}

int main(int argc, char **argv)
{
	char path[4096];
	ssize_t length;

	if (argc > 1)
		for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
			if (strcmp(parts[i].name, argv[1]) == 0)
				return parts[i].run(argc, argv);
	length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length <= 0)
		return 1;
	path[length] = '\0';
	own_path = path;

	CU_initialize_registry();
	CU_pSuite suite = CU_add_suite("session/programs", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(unsuitable_programs_are_refused);
	TEST(sleeping_programs_end);
	TEST(threads_take_turns);
	TEST(fork_exec_and_wait_work);
	TEST(timers_run_on_virtual_time);
	TEST(hosts_have_their_own_addresses);
	TEST(first_bad_exit_code_counts);
	TEST(virtual_deadlock_ends);
	TEST(runs_repeat_with_any_quantum_and_core);
	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();
	unsigned failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures ? 1 : 0;
}
