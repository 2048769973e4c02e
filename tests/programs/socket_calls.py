# SPDX-License-Identifier: Apache-2.0
"""Makes random socket calls on two hosts and prints each call with its result.

Arguments: `serve ADDRESS SEEDS`, or `drive ADDRESS PEER SEED SEEDS COUNT [LINES]`. For each of SEEDS seeds
from SEED on, the driver chooses COUNT calls. It makes a part of them itself, and the server makes the
others. After each call both wait, so that no result depends on time. Two systems with the same rules
print the same lines. With LINES, a file that another system printed, the driver chooses calls by the
results in these lines. A difference then changes no later call.
"""
import ctypes
import errno
import fcntl
import json
import os
import random
import select
import socket
import struct
import sys
import termios
import time
import zlib

CONTROL_PORT = 7
PORTS = ('port1', 'port2', 'port3')
FIRST_PORT = 20000  # each seed has ports of its own, as Linux keeps closed connections for 60 s
SEEDS_OF_PORTS = 2000
SETTLE_S = float(os.environ.get('SETTLE_S', 0.002))
END_SETTLE_S = 0.06  # after shutdown(): the peer may delay its ACK for 40 ms
LONGEST = 3000
TOO_LONG = 9100  # for a datagram without fragments
WAITING_MOST = 12000  # bytes that nobody has read: less than any buffer

OPTIONS = {
    'SO_TYPE': (socket.SOL_SOCKET, socket.SO_TYPE),
    'SO_ERROR': (socket.SOL_SOCKET, socket.SO_ERROR),
    'SO_ACCEPTCONN': (socket.SOL_SOCKET, socket.SO_ACCEPTCONN),
    'SO_DOMAIN': (socket.SOL_SOCKET, socket.SO_DOMAIN),
    'SO_PROTOCOL': (socket.SOL_SOCKET, socket.SO_PROTOCOL),
    'SO_REUSEADDR': (socket.SOL_SOCKET, socket.SO_REUSEADDR),
    'SO_REUSEPORT': (socket.SOL_SOCKET, socket.SO_REUSEPORT),
    'SO_KEEPALIVE': (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    'SO_BROADCAST': (socket.SOL_SOCKET, socket.SO_BROADCAST),
    'SO_OOBINLINE': (socket.SOL_SOCKET, socket.SO_OOBINLINE),
    'SO_RCVLOWAT': (socket.SOL_SOCKET, socket.SO_RCVLOWAT),
    'SO_PRIORITY': (socket.SOL_SOCKET, socket.SO_PRIORITY),
    'IP_TTL': (socket.IPPROTO_IP, socket.IP_TTL),
    'IP_TOS': (socket.IPPROTO_IP, socket.IP_TOS),
    'IP_MULTICAST_TTL': (socket.IPPROTO_IP, socket.IP_MULTICAST_TTL),
    'IP_MULTICAST_LOOP': (socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP),
    'IP_MULTICAST_ALL': (socket.IPPROTO_IP, 49),
    'IP_MTU_DISCOVER': (socket.IPPROTO_IP, 10),
    'IP_RECVERR': (socket.IPPROTO_IP, 11),
    'IP_FREEBIND': (socket.IPPROTO_IP, 15),
    'IPV6_V6ONLY': (socket.IPPROTO_IPV6, socket.IPV6_V6ONLY),
    'IPV6_TCLASS': (socket.IPPROTO_IPV6, socket.IPV6_TCLASS),
    'IPV6_UNICAST_HOPS': (socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS),
    'IPV6_MULTICAST_HOPS': (socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS),
    'IPV6_MULTICAST_LOOP': (socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP),
    'IPV6_MULTICAST_IF': (socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF),
    'IPV6_RECVERR': (socket.IPPROTO_IPV6, 25),
    'TCP_NODELAY': (socket.IPPROTO_TCP, socket.TCP_NODELAY),
    'TCP_CORK': (socket.IPPROTO_TCP, socket.TCP_CORK),
    'TCP_KEEPIDLE': (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
    'TCP_KEEPINTVL': (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL),
    'TCP_KEEPCNT': (socket.IPPROTO_TCP, socket.TCP_KEEPCNT),
    'TCP_SYNCNT': (socket.IPPROTO_TCP, socket.TCP_SYNCNT),
    'TCP_DEFER_ACCEPT': (socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT),
    'TCP_USER_TIMEOUT': (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT),
    'TCP_LINGER2': (socket.IPPROTO_TCP, socket.TCP_LINGER2),
    'TCP_NOTSENT_LOWAT': (socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT),
}
SETTABLE = [name for name in OPTIONS
            if name not in ('SO_TYPE', 'SO_ERROR', 'SO_ACCEPTCONN', 'SO_DOMAIN', 'SO_PROTOCOL', 'TCP_NODELAY', 'TCP_CORK', 'TCP_DEFER_ACCEPT',
                            'TCP_NOTSENT_LOWAT', 'IP_RECVERR', 'IP_FREEBIND', 'IPV6_RECVERR', 'IPV6_MULTICAST_IF')]
BUFFERS = {'SO_SNDBUF': socket.SO_SNDBUF, 'SO_RCVBUF': socket.SO_RCVBUF}
TIMEOUTS = {'SO_RCVTIMEO': 20, 'SO_SNDTIMEO': 21}
SIOCATMARK = 0x8905
WAIT_US = 20000  # of a call that blocks
LIBC = ctypes.CDLL(None, use_errno=True)
VALUES = (-1, 0, 1, 2, 7, 40, 100, 256, 30000)
# Times of timers: none may expire within a run
TIMED = ('TCP_KEEPIDLE', 'TCP_KEEPINTVL', 'TCP_LINGER2', 'TCP_USER_TIMEOUT')
LONG = (0, 100, 30000, 100000)
FLAGS = {'PEEK': socket.MSG_PEEK, 'TRUNC': socket.MSG_TRUNC, 'WAITALL': socket.MSG_WAITALL, 'NOSIGNAL': socket.MSG_NOSIGNAL,
         'DONTWAIT': socket.MSG_DONTWAIT, 'OOB': socket.MSG_OOB}


EVENTS = {'in': select.EPOLLIN, 'pri': select.EPOLLPRI, 'out': select.EPOLLOUT, 'err': select.EPOLLERR, 'hup': select.EPOLLHUP,
          'rdhup': select.EPOLLRDHUP, 'edge': select.EPOLLET, 'once': select.EPOLLONESHOT}
WATCHERS = 3  # epoll descriptors of a host; the last one watches the first one

GROUPS = ('239.1.2.3', '239.1.2.4', '10.1.1.1')


class Host:
    """The sockets of one host, by number, and the calls on them."""

    def __init__(self, names, first_port):
        self.sockets = {}
        self.first_port = first_port
        self.names = names  # of addresses
        self.watchers = [select.epoll() for _ in range(WATCHERS)]
        self.watchers[-1].register(self.watchers[0], select.EPOLLIN)
        self.watched = {}  # descriptor -> socket

    def name(self, address):
        if isinstance(address, tuple) and len(address) >= 2:
            host = address[0].removeprefix('::ffff:')
            port = address[1] - self.first_port
            port = PORTS[port] if 0 <= port < len(PORTS) else 'chosen' if address[1] else 'none'
            return f'{self.names.get(host, host)}:{port}'
        return repr(address)

    def close(self):
        for made in (*self.watchers, *self.sockets.values()):
            made.close()

    def call(self, operation, number, *arguments):
        if number not in self.sockets and operation != 'socket':
            return 'EBADF'
        arguments = [self.first_port + PORTS.index(argument) if argument in PORTS else argument for argument in arguments]
        try:
            result = getattr(self, f'call_{operation}')(number, *arguments)
        except OSError as error:
            result = errno.errorcode.get(error.errno, repr(error))
        return 'ok' if result is None else str(result)

    def call_socket(self, number, family, kind):
        made = socket.socket({'4': socket.AF_INET, '6': socket.AF_INET6}[family],
                             {'stream': socket.SOCK_STREAM, 'datagram': socket.SOCK_DGRAM}[kind])
        made.setblocking(False)
        if kind == 'stream':  # no byte waits for an acknowledgement
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sockets[number] = made

    def call_accept(self, number, new):
        made, address = self.sockets[number].accept()
        made.setblocking(False)
        self.sockets[new] = made
        return f'from {self.name(address)}'

    def call_close(self, number):
        self.sockets.pop(number).close()

    def call_bind(self, number, address, port):
        self.sockets[number].bind((address, port))

    def call_listen(self, number, backlog):
        self.sockets[number].listen(backlog)

    def call_connect(self, number, address, port):
        self.sockets[number].connect((address, port))

    def call_send(self, number, length, flags):
        return self.sockets[number].send(pattern(number, length), sum(FLAGS[flag] for flag in flags))

    def call_sendto(self, number, length, address, port):
        return self.sockets[number].sendto(pattern(number, length), (address, port))

    def call_sendmsg(self, number, lengths, flags):
        return self.sockets[number].sendmsg([pattern(number, length) for length in lengths], [], sum(FLAGS[flag] for flag in flags))

    def call_recv(self, number, length, flags):
        data = self.sockets[number].recv(length, sum(FLAGS[flag] for flag in flags))
        # TRUNC drops the bytes of a stream
        return f'{len(data)} bytes, {zlib.crc32(data if "TRUNC" not in flags else b""):08x}'

    def call_recvfrom(self, number, length):
        data, address = self.sockets[number].recvfrom(length)
        return f'{len(data)} bytes, {zlib.crc32(data):08x}, from {self.name(address)}'

    def call_recvmsg(self, number, lengths, flags):
        buffers = [bytearray(length) for length in lengths]
        got, _, flags, address = self.sockets[number].recvmsg_into(buffers, 0, sum(FLAGS[flag] for flag in flags))
        return f'{got} bytes, {zlib.crc32(b"".join(buffers)):08x}, flags {flags:#x}, from {self.name(address)}'

    def call_shutdown(self, number, how):
        self.sockets[number].shutdown({'read': socket.SHUT_RD, 'write': socket.SHUT_WR, 'both': socket.SHUT_RDWR}[how])

    def call_getsockname(self, number):
        return self.name(self.sockets[number].getsockname())

    def call_getpeername(self, number):
        return self.name(self.sockets[number].getpeername())

    def call_getsockopt(self, number, option):
        value = self.sockets[number].getsockopt(*OPTIONS[option])
        if option == 'IPV6_MULTICAST_IF':  # the index of eth0 differs between systems
            return ('any', 'lo', 'eth0')[min(value, 2)]
        return errno.errorcode.get(value, value) if option == 'SO_ERROR' else value

    def call_setsockopt(self, number, option, value):
        self.sockets[number].setsockopt(*OPTIONS[option], value)

    def call_linger(self, number, on, seconds):
        self.sockets[number].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', on, seconds))

    def call_buffer(self, number, option, value):
        self.sockets[number].setsockopt(socket.SOL_SOCKET, BUFFERS[option], value)
        return self.sockets[number].getsockopt(socket.SOL_SOCKET, BUFFERS[option])

    def call_timeout(self, number, option, microseconds):
        before = self.sockets[number].getsockopt(socket.SOL_SOCKET, TIMEOUTS[option], 16)
        self.sockets[number].setsockopt(socket.SOL_SOCKET, TIMEOUTS[option], struct.pack('ll', microseconds // 10**6, microseconds % 10**6))
        seconds, rest = struct.unpack('ll', self.sockets[number].getsockopt(socket.SOL_SOCKET, TIMEOUTS[option], 16))
        self.sockets[number].setsockopt(socket.SOL_SOCKET, TIMEOUTS[option], before)
        return f'{seconds} s {rest} us'

    def call_blocking(self, number, operation, *arguments):
        """Makes a call that waits for a while."""
        made = self.sockets[number]
        for option in TIMEOUTS.values():
            made.setsockopt(socket.SOL_SOCKET, option, struct.pack('ll', 0, WAIT_US))
        os.set_blocking(made.fileno(), True)
        try:
            return getattr(self, f'call_{operation}')(number, *arguments)
        finally:
            os.set_blocking(made.fileno(), False)
            for option in TIMEOUTS.values():
                made.setsockopt(socket.SOL_SOCKET, option, bytes(16))

    def call_disconnect(self, number):
        if LIBC.connect(self.sockets[number].fileno(), struct.pack('H14x', socket.AF_UNSPEC), 16) != 0:
            raise OSError(ctypes.get_errno(), '')

    def call_state(self, number):
        return self.sockets[number].getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]

    def call_member(self, number, option, group, interface):
        options = {'join': socket.IP_ADD_MEMBERSHIP, 'leave': socket.IP_DROP_MEMBERSHIP, 'send': socket.IP_MULTICAST_IF}
        value = socket.inet_aton(group) + socket.inet_aton(interface)
        self.sockets[number].setsockopt(socket.IPPROTO_IP, options[option], value)

    def call_poll(self, number):
        poll = select.poll()
        poll.register(self.sockets[number], select.POLLIN | select.POLLOUT | select.POLLPRI | 0x2000)
        bits = sum(event for _, event in poll.poll(0))
        names = ((1, 'in'), (2, 'pri'), (4, 'out'), (8, 'err'), (16, 'hup'), (32, 'nval'), (0x2000, 'rdhup'))
        return ' '.join(name for bit, name in names if bits & bit) or 'nothing'

    def call_select(self, number):
        one = [self.sockets[number]]
        return ' '.join(name for name, ready in zip(('read', 'write', 'except'), select.select(one, one, one, 0)) if ready) or 'nothing'

    def call_watch(self, number, operation, watcher, events):
        made, mask = self.sockets[number], sum(EVENTS[event] for event in events)
        if operation == 'unregister':
            self.watchers[watcher].unregister(made)
        else:
            getattr(self.watchers[watcher], operation)(made, mask)
        self.watched[made.fileno()] = number

    def call_wait(self, number, watcher, most):
        """Waits for the events of any socket."""
        ready = [(self.watched.get(fd, 'watcher'), ' '.join(name for name, bit in EVENTS.items() if bits & bit))
                 for fd, bits in self.watchers[watcher].poll(0, most)]
        return ', '.join(f'{name} {events}' for name, events in ready) or 'nothing'

    def call_watcher(self, number, watcher):
        """Checks an epoll descriptor as poll() and select() see it."""
        one, poll = [self.watchers[watcher]], select.poll()
        poll.register(one[0], select.POLLIN | select.POLLOUT)
        return f'{poll.poll(0) != []} {select.select(one, [], [], 0)[0] != []}'

    def ioctl(self, number, request):
        return struct.unpack('i', fcntl.ioctl(self.sockets[number], request, bytes(4)))[0]

    def call_waiting(self, number):
        return self.ioctl(number, termios.FIONREAD)

    def call_atmark(self, number):
        return self.ioctl(number, SIOCATMARK)


def pattern(number, length):
    return bytes((number * 31 + i * 7) & 255 for i in range(length))


def serve(address, seeds):
    listener = socket.create_server((address, CONTROL_PORT))
    for _ in range(seeds):
        with listener.accept()[0].makefile('rw') as driver:
            host = Host(*json.loads(driver.readline()))
            for line in driver:
                driver.write(host.call(*json.loads(line)) + '\n')
                driver.flush()
            host.close()


class Driver:
    def __init__(self, address, peer, seed, count, lines):
        self.random = random.Random(seed)
        self.count = count
        self.lines = lines
        self.line(f'seed {seed}')
        first_port = FIRST_PORT + seed % SEEDS_OF_PORTS * len(PORTS)
        self.addresses = (address, peer)
        self.broadcast = ('.'.join(address.split('.')[:2]) + '.255.255', '255.255.255.255')
        names = {address: 'host0', peer: 'host1', '0.0.0.0': 'any', '::': 'any6'}
        names.update(zip(self.broadcast, ('all', 'everyone')))
        names.update({f'::ffff:{address}': f'mapped {name}' for address, name in names.items() if '.' in address})
        self.own = Host(names, first_port)
        for _ in range(200):
            try:
                self.peer = socket.create_connection((peer, CONTROL_PORT)).makefile('rw')
                break
            except OSError:
                time.sleep(0.01)
        self.peer.write(json.dumps([names, first_port]) + '\n')
        self.known = {}  # number -> what the driver believes of the socket
        self.next = 0

    def call(self, side, operation, *arguments):
        if side == 0:
            result = self.own.call(operation, *arguments)
        else:
            self.peer.write(json.dumps([operation, *arguments]) + '\n')
            self.peer.flush()
            result = self.peer.readline().strip()
        shown = ' '.join(self.own.names.get(argument, str(argument)) for argument in map(str, arguments))
        time.sleep(END_SETTLE_S if operation == 'shutdown' else SETTLE_S)
        return self.line(f'host{side} {operation} {shown}: {result}').rpartition(': ')[2]

    def line(self, text):
        """Prints a line. Returns the line of the other system in its place."""
        print(text, flush=True)
        return next(self.lines).rstrip() if self.lines else text

    def run(self):
        while self.count > 0:
            self.count -= 1
            numbers = list(self.known)
            if len(numbers) < 4 or (len(numbers) < 16 and self.random.random() < 0.1):
                self.make()
            else:
                self.use(self.random.choice(numbers))
        self.peer.close()
        self.own.close()

    def make(self):
        side, kind = self.random.randrange(2), self.random.choice(('stream', 'stream', 'stream', 'datagram'))
        number, self.next = self.next, self.next + 1
        family = self.random.choice('446')
        if self.call(side, 'socket', number, family, kind) == 'ok':
            self.known[number] = {'side': side, 'kind': kind, 'family': family, 'state': 'new'}

    def use(self, number):
        known = self.known[number]
        side = known['side']
        operation = self.random.choices(*zip(*self.likely(known)))[0]
        arguments = getattr(self, f'arguments_{operation}')(known)
        if arguments is None:
            return
        new = arguments[-1] if 'accept' in (operation, *arguments[:1]) else None
        result = self.call(side, operation, number, *arguments)
        self.learn(number, operation, arguments, result, new)

    def likely(self, known):
        """Pairs of a call and its weight, for what the socket is."""
        shutdown = 0.2 if known['kind'] == 'stream' and known['state'] in ('new', 'bound') else 1
        connect = 0.5
        no_bind = known['kind'] == 'stream' and known['state'] in ('connected', 'listening')
        rare = [('shutdown', shutdown), ('getsockname', 1), ('getpeername', 1), ('getsockopt', 2), ('setsockopt', 2), ('linger', 0.3), ('member', 3 if known['kind'] == 'datagram' else 0.2),
                ('poll', 3), ('select', 1), ('waiting', 1), ('atmark', 1), ('close', 1), ('listen', connect), ('connect', connect), ('bind', 0 if no_bind else 0.5),
                ('accept', 0.5), ('recv', 1), ('send', 1), ('recvmsg', 0.5), ('sendmsg', 0.5), ('recvfrom', 0.5), ('sendto', 0.5),
                ('watch', 3), ('wait', 4), ('watcher', 0.3), ('buffer', 0.3), ('timeout', 0.3), ('blocking', 1), ('disconnect', 0.3), ('state', 1)]
        more = {
            'new': [('bind', 8), ('connect', 8)] if known['kind'] == 'stream' else [('bind', 12), ('connect', 3)],
            'bound': [('listen', 12), ('connect', 2)] if known['kind'] == 'stream' else [('sendto', 8), ('recvfrom', 8), ('connect', 3)],
            'listening': [('accept', 15)],
            'connected': [('send', 8), ('recv', 8), ('sendmsg', 3), ('recvmsg', 3), ('recvfrom', 1)],
        }[known['state']]
        return rare + more

    def learn(self, number, operation, arguments, result, new):
        known = self.known[number]
        if operation == 'blocking':
            operation, *arguments = arguments
        if operation == 'close':
            del self.known[number]
        elif operation == 'accept' and result.startswith('from'):
            self.known[new] = {'side': known['side'], 'kind': 'stream', 'family': known['family'], 'state': 'connected',
                               'native': known['family'] == '4' or '::1' in result}
        elif operation == 'bind' and result == 'ok':
            known['state'] = 'bound'
        elif operation == 'listen' and result == 'ok':
            known['state'] = 'listening'
        elif operation == 'shutdown':
            known['shut'] = True
        elif operation == 'connect' and result in ('ok', 'EINPROGRESS'):
            known['state'] = 'connected'
        elif operation == 'disconnect' and result == 'ok':
            known['state'] = 'new'
        if operation in ('send', 'sendto', 'sendmsg') and result.isdigit():
            known['sent'] = known.get('sent', 0) + int(result)

    def arguments_accept(self, known):
        number, self.next = self.next, self.next + 1
        return (number,)

    def in_family(self, known, address):
        return address if known['family'] == '4' else f'::ffff:{address}'

    def arguments_bind(self, known):
        addresses = [self.in_family(known, address)
                     for address in (self.addresses[known['side']], '0.0.0.0', self.addresses[1 - known['side']], *self.broadcast)]
        more = [] if known['family'] == '4' else ['::', '::1']
        many = 0.5 if known['kind'] == 'datagram' and known['family'] == '4' else 0
        address = self.random.choices(addresses + more, [8, 3, 1, many, many] + [4] * len(more))[0]
        return address, self.random.choices((0, *PORTS), (3, 2, 2, 2))[0]

    def arguments_connect(self, known):
        # Linux sends nothing to ::1 from a socket that was connected to an address of IPv4.
        if known['family'] == '6' and known.setdefault('native', self.random.random() < 0.2):
            return '::1', self.random.choice(PORTS)
        # In Linux, a datagram may go to the new port if connect() to a broadcast address failed.
        many = 0 if known['kind'] == 'datagram' and known['state'] == 'connected' else 1
        address = self.random.choices(self.addresses + self.broadcast, [10, 10, many, many])[0]
        return self.in_family(known, address), self.random.choice(PORTS)

    def arguments_blocking(self, known):
        operation = self.random.choice(('recv', 'recv', 'recvmsg', 'recvfrom', 'send', 'accept', 'connect'))
        arguments = getattr(self, f'arguments_{operation}')(known)
        return None if arguments is None else (operation, *arguments)

    def arguments_watch(self, known):
        events = [event for event, weight in (('in', 0.7), ('pri', 0.2), ('out', 0.5), ('rdhup', 0.4), ('edge', 0.4), ('once', 0.2))
                  if self.random.random() < weight]
        return self.random.choices(('register', 'modify', 'unregister'), (6, 3, 1))[0], self.random.randrange(WATCHERS), events

    def arguments_wait(self, known):
        return self.random.randrange(WATCHERS), self.random.choice((1, 2, 16))

    def arguments_watcher(self, known):
        return (self.random.randrange(WATCHERS),)

    def arguments_buffer(self, known):
        return self.random.choice(list(BUFFERS)), self.random.choice((100000, 150001, 200000))

    def arguments_timeout(self, known):
        return self.random.choice(list(TIMEOUTS)), self.random.choice((0, 10000, 1500000, 3 * 10**9))

    def arguments_listen(self, known):
        # In Linux, a connection from ::1 does not work if its listener was connected to IPv4 before.
        return (self.random.choice((20, 50)),) if known.get('native', True) else None

    def length(self, known):
        longest = (LONGEST, TOO_LONG) if known['kind'] == 'datagram' else (LONGEST,)
        return self.random.choice((0, 1, 2, 100, 1000, *longest)) if known.get('sent', 0) < WAITING_MOST else None

    def arguments_send(self, known):
        length = self.length(known)
        return None if length is None else (length, ['NOSIGNAL'] + ['OOB'] * (self.random.random() < 0.15))

    def arguments_sendto(self, known):
        length = self.length(known)
        to = self.in_family(known, self.random.choice(self.addresses + GROUPS[:2] + self.broadcast))
        return None if length is None else (length, to, self.random.choice(PORTS))

    def arguments_sendmsg(self, known):
        length = self.length(known)
        return None if length is None else ([length // 3, 0, length - length // 3], ['NOSIGNAL'])

    def flags(self):
        flags = (('PEEK', 0.2), ('TRUNC', 0.1), ('WAITALL', 0.1), ('DONTWAIT', 0.1), ('OOB', 0.1))
        return [flag for flag, weight in flags if self.random.random() < weight]

    def arguments_recv(self, known):
        return self.random.choice((0, 1, 10, 1000, 100000)), self.flags()

    def arguments_recvfrom(self, known):
        return (self.random.choice((0, 1, 10, 1000, 100000)),)

    def arguments_recvmsg(self, known):
        return self.random.choice(([0], [5], [10, 1000], [100, 0, 100000])), self.flags()

    def arguments_shutdown(self, known):
        return (self.random.choice(('read', 'write', 'both')),)

    def arguments_getsockopt(self, known):
        return (self.random.choice(list(OPTIONS)),)

    def arguments_setsockopt(self, known):
        option = self.random.choice(SETTABLE)
        values = LONG if option in TIMED else VALUES
        if option == 'SO_RCVLOWAT':  # -1: half of tcp_rmem, which differs between kernels
            values = values[1:]
        return option, self.random.choice(values)

    def arguments_member(self, known):
        interface = self.random.choice(('0.0.0.0', self.addresses[known['side']], self.addresses[1 - known['side']], '127.0.0.1'))
        return self.random.choice(('join', 'join', 'leave', 'send')), self.random.choices(GROUPS, (4, 4, 1))[0], interface

    def arguments_linger(self, known):
        return self.random.choice(((0, 0), (1, 0)))

    def no_arguments(self, known):
        return ()

    arguments_poll = arguments_select = arguments_waiting = arguments_atmark = no_arguments
    arguments_getsockname = arguments_getpeername = arguments_close = arguments_disconnect = arguments_state = no_arguments


if sys.argv[1] == 'serve':
    serve(sys.argv[2], int(sys.argv[3]))
else:
    others = open(sys.argv[7]) if sys.argv[7:] else None
    for next_seed in range(int(sys.argv[4]), int(sys.argv[4]) + int(sys.argv[5])):
        Driver(sys.argv[2], sys.argv[3], next_seed, int(sys.argv[6]), others).run()
