# SPDX-License-Identifier: Apache-2.0
"""Runs rdma-core's own tests of pyverbs. Prints one line per test: result, name, and the reason of
a skip.

Arguments: the folder of the tests, then the arguments of their run_tests.py: --dev mlx5_0 --port 1
--gid 0. The tests come with Debian's python3-pyverbs, which keeps them beside its documentation;
tests/programs/suite.sh unpacks them.
"""
import os
import sys
import unittest
from importlib.machinery import SourceFileLoader

folder = sys.argv.pop(1)
sys.path.insert(0, folder)
sys.argv[0] = os.path.join(folder, 'run_tests.py')
from args_parser import parser  # noqa: E402: one of the suite's modules


class Lines(unittest.TestResult):
    """One line for each test, at once, so that the last one before a crash is seen."""

    def say(self, what, test, why=''):
        name = test.id().replace('tests.', '', 1)
        print(what, name, why.replace('\n', ' ')[:200], flush=True)

    def addSuccess(self, test):
        self.say('pass', test)

    def addSkip(self, test, reason):
        self.say('skip', test, reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say('fail', test, str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.say('fail', test, f'{err[0].__name__}: {err[1]}')


tests = SourceFileLoader('tests', os.path.join(folder, '__init__.py')).load_module()
parser.parse_args()
names = [name for name in sys.argv[1:] if name.startswith('test_')]
loader = unittest.defaultTestLoader
suite = loader.loadTestsFromNames(names, tests) if names else loader.loadTestsFromModule(tests)
suite.run(Lines())
