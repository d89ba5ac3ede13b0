"""From scores to probabilities and thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_ITERATIONS = 100


def platt(scores: Sequence[float], labels: Sequence[int]) -> tuple[float, ...]:
    """Scale and shift such that 1 / (1 + exp(-(scale * score + shift))) is the probability of label 1.

    Platt 1999 with his smoothed targets, fitted by Newton's method with halved steps (Lin, Lin and Weng 2007).
    Empty where there is only one label, and where higher scores do not mean more of label 1.
    """
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    positive, negative = int((y == 1).sum()), int((y == 0).sum())
    if not positive or not negative:
        return ()
    target = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    centre, width = x.mean(), x.std() or 1.0
    design = np.stack([(x - centre) / width, np.ones_like(x)], axis=1)
    weights = np.array([0.0, np.log((positive + 1) / (negative + 1))])
    loss = _loss(design @ weights, target)
    for _ in range(_ITERATIONS):
        probability = 1 / (1 + np.exp(-np.clip(design @ weights, -500, 500)))
        gradient = design.T @ (probability - target)
        hessian = (design * (probability * (1 - probability))[:, None]).T @ design + 1e-9 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-10 and _loss(design @ (weights - size * step), target) > loss:
            size /= 2
        weights = weights - size * step
        loss = _loss(design @ weights, target)
        if np.abs(gradient).max() < 1e-8 * len(x):
            break
    scale, shift = float(weights[0] / width), float(weights[1] - weights[0] * centre / width)
    return (scale, shift) if scale > 0 else ()


def _loss(
    logits: np.ndarray[tuple[int], np.dtype[np.float64]], target: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float:
    return float(np.sum(np.logaddexp(0.0, logits) - target * logits))


def temperature(scores: Sequence[Sequence[float]], labels: Sequence[int]) -> tuple[float, ...]:
    """Scale and shift, the latter 0, such that softmax(scale * scores) are probabilities: the scale with the least
    cross-entropy between 0.01 and 100 (Guo et al. 2017, section 4.2). Empty without scores."""
    if not len(labels):
        return ()
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(labels)

    def loss(log_scale: float) -> float:
        scaled = x * np.exp(log_scale)
        high = scaled.max(axis=1, keepdims=True)
        total = np.log(np.exp(scaled - high).sum(axis=1)) + high[:, 0]
        return float((total - scaled[np.arange(len(y)), y]).mean())

    low, high = np.log(0.01), np.log(100.0)
    for _ in range(_ITERATIONS):  # the cross-entropy is convex in the scale, so it has one valley here too
        third = (high - low) / 3
        if loss(low + third) <= loss(high - third):
            high -= third
        else:
            low += third
    return float(np.exp((low + high) / 2)), 0.0


def best_f1(scores: Sequence[float], labels: Sequence[int]) -> float:
    """The highest F1 that a threshold on the scores gives."""
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    right = np.cumsum(np.asarray(labels)[order])
    if not len(order) or not right[-1]:
        return 0.0
    return float((2 * right / (np.arange(1, len(order) + 1) + right[-1])).max())
