"""The diagnosis says of each real job log what a person who read it says."""

import re

import pytest

from tests.reports.diagnosis import data_folder, unjudged
from tests.reports.judging import answer, judge, saved_log
from tests.reports.truth import TRUTHS, Truth
from tests.support.logs import real_log

WITH_LOG = [truth for truth in TRUTHS if not truth.annotations]
BY_LOG = pytest.mark.parametrize("truth", WITH_LOG, ids=lambda truth: truth.log)


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.title)
def test_each_real_log_is_read_as_a_person_reads_it(truth: Truth) -> None:
    log = None if truth.annotations else real_log(truth.log)
    assert judge(truth, log).wrong == ()


@BY_LOG
def test_a_second_run_an_hour_later_has_the_same_signature(truth: Truth) -> None:
    log = real_log(truth.log)
    later = re.sub(rb"T(\d\d):", lambda found: b"T%02d:" % ((int(found[1]) + 1) % 24), log)
    assert answer(truth, later, run_id=2).signature == answer(truth, log).signature


@BY_LOG
def test_the_same_cause_in_another_matrix_job_has_the_same_signature(truth: Truth) -> None:
    log = real_log(truth.log)
    other = answer(truth, log, job=f"{(truth.job or 'job').partition(' (')[0]} (windows-latest, 3.13)")
    assert other.signature == answer(truth, log).signature


def test_different_causes_have_different_signatures() -> None:
    signatures = {truth.log: answer(truth, real_log(truth.log)).signature for truth in WITH_LOG}
    assert len(set(signatures.values())) == len(signatures)


def test_no_saved_log_is_left_unread() -> None:
    real_log(WITH_LOG[0].log)
    assert unjudged(data_folder()) == []


def test_only_what_was_saved_with_a_log_is_read_from_disk() -> None:
    noted = [truth for truth in TRUTHS if truth.annotations]
    assert [saved_log(data_folder(), truth) for truth in noted] == [None] * len(noted)
