import numpy as np

from gazelive.gaze.samples import empty_samples, missing_mask


def test_empty_samples_are_missing_not_zero():
    samples = empty_samples(3)
    assert np.isnan(samples["left_x"]).all()
    assert np.isnan(samples["right_pupil"]).all()
    assert missing_mask(samples, "LR").all()


def test_one_good_eye_is_enough():
    samples = empty_samples(3)
    samples["left_x"][0] = samples["left_y"][0] = 5
    samples["right_x"][1] = 5
    assert missing_mask(samples, "LR").tolist() == [False, True, True]
    assert missing_mask(samples, "R").tolist() == [True, True, True]
