# SPDX-License-Identifier: Apache-2.0
"""Makes random calls on the ends of a connection that carries urgent data, and prints their results.

Arguments: ADDRESS SEED SEEDS COUNT. For each of SEEDS seeds from SEED on, a new connection within the
host, and COUNT calls. Two systems with the same rules print the same lines.
"""
import errno
import fcntl
import os
import random
import select
import signal
import socket
import struct
import sys
import termios
import time
import zlib

SIOCATMARK = 0x8905
SETTLE_S = 0.001
FLAGS = {'PEEK': socket.MSG_PEEK, 'TRUNC': socket.MSG_TRUNC, 'WAITALL': socket.MSG_WAITALL}
CALLS = {'send': 3, 'send_urgent': 4, 'recv': 8, 'recv_urgent': 3, 'ioctl': 5, 'poll': 4, 'select': 1, 'epoll': 3, 'block': 1,
         'inline': 0.7, 'least': 0.3, 'shutdown': 0.02}
BLOCKED = struct.pack('ll', 0, 20000)
signals = 0


def count_signal(_number, _frame):
    global signals
    signals += 1


class Ends:
    def __init__(self, address, chance):
        self.random = chance
        with socket.create_server((address, 0)) as listener:
            self.ends = [socket.create_connection(listener.getsockname()), listener.accept()[0]]
        self.epoll = select.epoll()
        self.sent = 0
        for end in self.ends:
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
            self.epoll.register(end, chance.choice((select.EPOLLIN | select.EPOLLPRI | select.EPOLLOUT, select.EPOLLIN | select.EPOLLPRI,
                                                    select.EPOLLPRI | select.EPOLLET, select.EPOLLIN | select.EPOLLPRI | select.EPOLLET)))

    def close(self):
        for made in (*self.ends, self.epoll):
            made.close()

    def flags(self, **weights):
        return [name for name, weight in weights.items() if self.random.random() < weight]

    def call(self):
        number = self.random.randrange(2)
        name = self.random.choices(*zip(*CALLS.items()))[0]
        try:
            result = getattr(self, f'call_{name}')(self.ends[number])
        except OSError as error:
            result = errno.errorcode[error.errno]
        time.sleep(SETTLE_S)
        return f'{number} {name}: {result}'

    def call_send(self, end, flags=0):
        length = self.random.choice((0, 1, 1, 2, 3, 10, 100, 2000))
        self.sent += length
        return end.send(bytes((self.sent + i) & 255 for i in range(length)), flags | socket.MSG_NOSIGNAL)

    def call_send_urgent(self, end):
        return self.call_send(end, socket.MSG_OOB)

    def read(self, end, length, flags):
        try:
            data = end.recv(length, sum(FLAGS[flag] for flag in flags))
        except OSError as error:
            return f'{length} {flags}: {errno.errorcode[error.errno]}'
        return f'{length} {flags}: {len(data)} bytes, {zlib.crc32(data if "TRUNC" not in flags else b""):08x}'

    def call_recv(self, end):
        return self.read(end, self.random.choice((0, 1, 1, 2, 3, 5, 50, 3000)), self.flags(PEEK=0.25, TRUNC=0.1, WAITALL=0.2))

    def call_block(self, end):
        """Reads, and waits for a while."""
        end.setsockopt(socket.SOL_SOCKET, 20, BLOCKED)  # SO_RCVTIMEO
        os.set_blocking(end.fileno(), True)
        result = self.read(end, self.random.choice((1, 2, 5, 3000)), self.flags(PEEK=0.4, WAITALL=0.4))
        os.set_blocking(end.fileno(), False)
        end.setsockopt(socket.SOL_SOCKET, 20, bytes(16))
        return result

    def call_recv_urgent(self, end):
        buffer = bytearray(self.random.choice((0, 1, 1, 5)))
        flags = sum(FLAGS[flag] for flag in self.flags(PEEK=0.3, TRUNC=0.1))
        got, _, flags, _ = end.recvmsg_into([buffer], 0, socket.MSG_OOB | flags)
        return f'{got} bytes, {buffer.hex()}, flags {flags:#x}'

    def call_ioctl(self, end):
        return [struct.unpack('i', fcntl.ioctl(end, request, bytes(4)))[0] for request in (SIOCATMARK, termios.FIONREAD)]

    def call_poll(self, end):
        poll = select.poll()
        poll.register(end, select.POLLIN | select.POLLPRI | select.POLLOUT | select.POLLRDHUP)
        return [events for _, events in poll.poll(0)]

    def call_select(self, end):
        return [len(ready) for ready in select.select([end], [end], [end], 0)]

    def call_epoll(self, _end):
        ready = self.epoll.poll(0, self.random.choice((1, 4)))
        return [(self.ends[1].fileno() == fd, events) for fd, events in ready]

    def call_inline(self, end):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, self.random.randrange(2))

    def call_least(self, end):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, self.random.choice((1, 2, 5)))

    def call_shutdown(self, end):
        end.shutdown(self.random.choice((socket.SHUT_RD, socket.SHUT_WR)))


signal.signal(signal.SIGURG, count_signal)
for seed in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
    ends = Ends(sys.argv[1], random.Random(seed))
    for call in range(int(sys.argv[4])):
        print(seed, call, ends.call(), signals)
    ends.close()
