/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_sockets: hosts talk over sockets: streams, and datagrams of programs that wait, that look
 * again and again, or that write on.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/session/program.h"

int part_server(int argc, char **argv)
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

int part_client(int argc, char **argv)
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

static int datagrams(struct sockaddr_in *address)
{
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(7777)};
	inet_pton(AF_INET, "127.77.0.1", &address->sin_addr);
	return socket(AF_INET, SOCK_DGRAM, 0);
}

/* Polls, and never waits. */
int part_looks(int argc, char **argv)
{
	struct sockaddr_in address;
	int fd = datagrams(&address);
	char text[16] = "";

	(void)argc;
	(void)argv;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return 1;
	while (recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) < 0)
		if (errno != EAGAIN)
			return 2;
	printf("got %s\n", text);
	return 0;
}

int part_tells(int argc, char **argv)
{
	struct sockaddr_in address;
	int fd = datagrams(&address);

	(void)argc;
	(void)argv;
	return sendto(fd, "word", 4, 0, (struct sockaddr *)&address, sizeof(address)) != 4;
}

/* Sends a word to a waiting program, and writes to itself until the response arrives. */
int part_chats(int argc, char **argv)
{
	struct sockaddr_in address;
	int fd = datagrams(&address), own[2];
	socklen_t length = sizeof(address);
	uint64_t start = now_us();
	char text[16];

	(void)argc;
	(void)argv;
	address.sin_addr.s_addr = htonl(0x7f4d0002);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, own) != 0 ||
	    sendto(fd, "word", 4, 0, (struct sockaddr *)&address, length) != 4)
		return 1;
	while (recv(fd, text, sizeof(text), MSG_DONTWAIT) < 0 && now_us() - start < 10000)
		if (write(own[0], "x", 1) != 1 || read(own[1], text, 1) != 1)
			return 2;
	printf("answered within %lu ms\n", (unsigned long)(now_us() - start) / 1000 + 1);
	return 0;
}

int part_answers(int argc, char **argv)
{
	struct sockaddr_in address;
	int fd = datagrams(&address);
	socklen_t length = sizeof(address);
	char text[16];

	(void)argc;
	(void)argv;
	address.sin_addr.s_addr = htonl(0x7f4d0002);
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	       recvfrom(fd, text, sizeof(text), 0, (struct sockaddr *)&address, &length) != 4 ||
	       sendto(fd, text, 4, 0, (struct sockaddr *)&address, length) != 4;
}
