"""The terms of the settings reach the probe, and its judgement the documents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gazelive.gaze.documents import ModelLoaded, Posterior, decode_line
from gazelive.identification import Estimate
from gazelive.identification.contract import DEFAULT_TERMS, Terms
from gazelive.live.pipeline.evidence import Evidence
from gazelive.live.settings import LiveSettings, decode_settings, encode_settings

from ...support.people import people


class Judge:
    """An identifier and its probe, which note on what terms they judge."""

    method, viewer_ids = "judge", ("a", "b", "c", "d")

    def __init__(self, accepted: bool | None) -> None:
        self.terms: list[Terms] = []
        self._accepted = accepted

    def probe(self, log_prior=None, terms=DEFAULT_TERMS):
        self.terms.append(terms)
        return self

    def begin(self, image) -> None:
        del image

    def settle(self, scanpath) -> None:
        del scanpath

    def abandon(self) -> None:
        pass

    def estimate(self, seconds=None) -> Estimate:
        unknown = None if self._accepted is None else -2.0
        more_s = 7.5 if self._accepted is False else None
        return Estimate(
            np.log([0.7, 0.1, 0.1, 0.1]), unknown, self._accepted, more_s, 3, 1, 2, True
        )


@pytest.mark.parametrize("accepted", [True, False, None])
def test_a_posterior_says_whether_it_is_enough(accepted: bool | None) -> None:
    terms = Terms(stranger_prior=0.3, false_acceptance_rate=0.05)
    judge = Judge(accepted)
    evidence = Evidence(judge, terms=terms)
    scanpath = people(1)[0].looks("fixations", 0, 5)
    (posterior,) = evidence.settle(scanpath, 1)
    assert isinstance(posterior, Posterior)
    assert (posterior.accepted, posterior.log_unknown is None) == (accepted, accepted is None)
    assert posterior.more_s == (7.5 if accepted is False else None)
    assert judge.terms == [terms]


def test_settings_travel_with_their_terms() -> None:
    settings = LiveSettings(folder=Path("s"), stranger_prior=0.3, false_acceptance_rate=0.05)
    arrived = decode_settings(encode_settings(settings), LiveSettings)
    assert arrived.terms == Terms(0.3, 0.05, repeated=True)
    usual = decode_settings(encode_settings(LiveSettings(folder=Path("s"))), LiveSettings)
    assert usual.terms == DEFAULT_TERMS


def test_documents_of_0_1_are_read() -> None:
    loaded = decode_line(b'{"type":"ModelLoaded","model":"m","method":"x","viewer_ids":["a"]}')
    assert isinstance(loaded, ModelLoaded)
    assert (loaded.false_acceptance_rate, loaded.stranger_prior) == (None, None)
    posterior = decode_line(
        b'{"type":"Posterior","tracker_time_us":1,"leading":[0],"log_probabilities":[0.0],'
        b'"log_unknown":-0.7,"n_saccades":1,"n_images":1,"seconds":1.0,"settled":true}'
    )
    assert isinstance(posterior, Posterior)
    assert (posterior.accepted, posterior.more_s) == (None, None)
