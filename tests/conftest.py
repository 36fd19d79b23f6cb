# SPDX-License-Identifier: GPL-2.0-or-later
"""For all suites. Of tests with many variants a sample runs (sample.py). A program that was built
with a sanitizer writes its report into a directory of this run, whoever started it. A test that
leaves a report there has failed.
"""
import os
import pathlib
import tempfile

import pytest

import sample
from built import SANITIZERS

# The leak checker stops the threads of a program that ends, and now and then waits for one of them
# for ever (seen with bondd, on a busy machine). So it works on request only.
OPTIONS = {
    "ASAN_OPTIONS": f"detect_leaks={os.environ.get('XBOND_LEAKS', '0')}",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": f"exitcode=66 suppressions={pathlib.Path(__file__).with_name('tsan.supp')}",
}


def pytest_configure(config):
    for marker in sample.MARKERS:
        config.addinivalue_line("markers", marker)
    if not SANITIZERS:
        return
    config.sanitizer_reports = tempfile.TemporaryDirectory(prefix="xbond-reports-")
    directory = pathlib.Path(config.sanitizer_reports.name)
    directory.chmod(0o1777)  # some tests run programs as another user
    for variable, options in OPTIONS.items():
        os.environ[variable] = f"{options}:log_path={directory}/{variable.split('_')[0]}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if SANITIZERS:  # the usual build runs what this leaves out
        sample.mark_all(items)
    config.left_out_of_sample = sample.choose(config, items)


def pytest_report_collectionfinish(config):
    count = getattr(config, "left_out_of_sample", 0)
    return f"a sample without {count} cases, by XBOND_TEST_SEED={sample.SEED}" if count else None


@pytest.fixture(autouse=True)
def no_sanitizer_report(request):
    """Comes first, and so looks last: when the lab has ended its daemons."""
    yield
    reports = getattr(request.config, "sanitizer_reports", None)
    texts = []
    for path in sorted(pathlib.Path(reports.name).iterdir()) if reports else []:
        texts.append(path.read_text(errors="replace"))
        path.unlink()
    if texts:
        pytest.fail("a sanitizer reports:\n" + "\n".join(texts), pytrace=False)
