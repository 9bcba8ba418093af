#!/usr/bin/env python3
"""Proves that what the end-to-end tests lean on can fail: needs no tracer."""
import sys

from harness import Tap
import schema_breaks
import strace_log

out = Tap()
schema_breaks.self_test(out)
strace_log.self_test(out)
sys.exit(out.done())
