# SPDX-License-Identifier: Apache-2.0
# A pyverbs program with two connected queue pairs on one host. One program sends, writes and reads.
# The other one receives into one buffer and into lists of several. It prints the received data,
# whether the
# time stamp of a completion is correct, and the clock of the adapter.
import time

import pyverbs.device as device
import pyverbs.enums as e
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ, CQEX, CqInitAttrEx, PollCqAttr
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.providers.mlx5.mlx5dv import Mlx5Context
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

context = device.Context(name=device.get_device_list()[0].name.decode())
pd = PD(context)
cq = CQ(context, 16)
every = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
mr = MR(pd, 8192, every)


def pair(cq=cq):
    cap = QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=5, max_recv_sge=3)
    qps = [QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=cap)) for _ in range(2)]
    for own, peer in (qps, reversed(qps)):
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = every
        attr.dest_qp_num = peer.qp_num
        attr.ah_attr = AHAttr(dlid=context.query_port(1).lid, port_num=1)
        attr.path_mtu = e.IBV_MTU_1024
        attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.min_rnr_timer = 14, 7, 7, 12
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
        own.to_rts(attr)
    return qps


def completions(count):
    found = []
    while len(found) < count:
        found += cq.poll(count)[1]
    return [wc.status for wc in found]


def post(qp, opcode, local, remote=None, length=8):
    request = SendWR(opcode=opcode, num_sge=1, sg=[SGE(mr.buf + local, length, mr.lkey)])
    if remote is not None:
        request.set_wr_rdma(mr.rkey, mr.buf + remote)
    qp.post_send(request)


first, second = pair()
mr.write(b'pyverbs!', 8)
second.post_recv(RecvWR(sg=[SGE(mr.buf + 1024, 64, mr.lkey)], num_sge=1))
post(first, e.IBV_WR_SEND, 0)
assert completions(2) == [0, 0]
post(first, e.IBV_WR_RDMA_WRITE, 1024, 2048)
post(first, e.IBV_WR_RDMA_READ, 4096, 2048)
assert completions(2) == [0, 0]
print('read back', mr.read(8, 4096).decode())


def pieces(*parts):
    return [SGE(mr.buf + place, length, mr.lkey) for place, length in parts]


# Gathered from five places, 26 letters, scattered to three; and read back to five.
letters = b'abcdefghijklmnopqrstuvwxyz'
for i, place in enumerate((0, 100, 200, 300, 400)):
    mr.write(letters[6 * i:6 * i + 6], min(6, 26 - 6 * i), place)
five = ((0, 6), (100, 6), (200, 6), (300, 6), (400, 2))
second.post_recv(RecvWR(sg=pieces((1024, 1), (1100, 20), (1200, 64)), num_sge=3))
first.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=5, sg=pieces(*five)))
assert completions(2) == [0, 0]
arrived = mr.read(1, 1024) + mr.read(20, 1100) + mr.read(5, 1200)
mr.write(arrived, 26, 2048)
back = SendWR(opcode=e.IBV_WR_RDMA_READ, num_sge=5,
              sg=pieces(*((5000 + place, length) for place, length in five)))
back.set_wr_rdma(mr.rkey, mr.buf + 2048)
first.post_send(back)
assert completions(1) == [0]
print('in lists', b''.join(mr.read(length, 5000 + place) for place, length in five).decode())

stamped = CQEX(context, CqInitAttrEx(cqe=4, wc_flags=e.IBV_WC_STANDARD_FLAGS |
                                     e.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP))
timed, _ = pair(stamped)
before = time.time_ns()
post(timed, e.IBV_WR_RDMA_WRITE, 0, 2048)
while stamped.start_poll(PollCqAttr()) != 0:
    pass
after = time.time_ns()
told = Mlx5Context.device_timestamp_to_ns(context, stamped.read_timestamp())
stamped.end_poll()
print('the time stamp lies', 'within' if before < told < after else 'beyond', 'the transfer')

before = time.time_ns()
seconds, cycles = context.query_rt_values_ex()
after = time.time_ns()
told = Mlx5Context.device_timestamp_to_ns(context, cycles)
print('the clock was read by load', (told - before) // 823 + 1, 'of three, in', (after - before) // 10 * 10, 'ns')

post(first, e.IBV_WR_RDMA_READ, 4096, 1 << 20)
assert completions(1) == [e.IBV_WC_REM_ACCESS_ERR]
try:
    MR(pd, 4096, e.IBV_ACCESS_REMOTE_WRITE)
    print('a region for remote writes alone was registered')
except PyverbsRDMAError:
    print('refused what verbs refuse')
