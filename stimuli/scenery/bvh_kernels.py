"""A tree of bounding boxes over triangles, and the search for what a ray meets first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenery.compiled import kernel

N_BINS = 12
LEAF_SIZE = 4
_FAR = 1e30


class Tree(NamedTuple):
    """Flat arrays: node k has `bounds[k]` (low xyz, high xyz).

    An inner node (`count` 0) has its children at `first` and `first + 1`; a leaf holds the
    triangles `first … first + count - 1`. `shape` (n triangles, 9) holds a corner and the two
    edges from it in the tree's order, `order` the triangles' numbers before it. Single
    precision: what counts is how much of it fits into the cache.
    """

    bounds: npt.NDArray[np.float32]
    first: npt.NDArray[np.int32]
    count: npt.NDArray[np.int32]
    order: npt.NDArray[np.int64]
    shape: npt.NDArray[np.float32]
    is_pane: npt.NDArray[np.bool_]
    """Whether a triangle casts no shadow."""


@kernel
def _split(lows, highs, middles, order, begin, end):  # type: ignore[no-untyped-def]  # noqa: PLR0912
    """Return where to cut `order[begin:end]`, sorted to both sides; `begin` means do not cut."""
    low, high = np.full(3, _FAR), np.full(3, -_FAR)
    for n in range(begin, end):
        for k in range(3):
            low[k] = min(low[k], middles[order[n], k])
            high[k] = max(high[k], middles[order[n], k])
    axis = int(np.argmax(high - low))
    extent = high[axis] - low[axis]
    if extent <= 0:
        return begin
    counts = np.zeros(N_BINS)
    bin_low, bin_high = np.full((N_BINS, 3), _FAR), np.full((N_BINS, 3), -_FAR)
    for n in range(begin, end):
        t = order[n]
        b = min(N_BINS - 1, int(N_BINS * (middles[t, axis] - low[axis]) / extent))
        counts[b] += 1
        for k in range(3):
            bin_low[b, k] = min(bin_low[b, k], lows[t, k])
            bin_high[b, k] = max(bin_high[b, k], highs[t, k])
    # the surface area heuristic: a ray visits a box about as often as its surface is large
    best_cost, best_cut = _FAR, 0
    for cut in range(1, N_BINS):
        cost = 0.0
        for side in range(2):
            start, stop = (0, cut) if side == 0 else (cut, N_BINS)
            n_inside = 0.0
            side_low, side_high = np.full(3, _FAR), np.full(3, -_FAR)
            for b in range(start, stop):
                n_inside += counts[b]
                for k in range(3):
                    side_low[k] = min(side_low[k], bin_low[b, k])
                    side_high[k] = max(side_high[k], bin_high[b, k])
            if n_inside > 0:
                d = side_high - side_low
                cost += n_inside * (d[0] * d[1] + d[1] * d[2] + d[2] * d[0])
            else:
                cost = _FAR
        if cost < best_cost:
            best_cost, best_cut = cost, cut
    if best_cut == 0:
        return begin
    left, right = begin, end - 1
    while left <= right:
        b = min(N_BINS - 1, int(N_BINS * (middles[order[left], axis] - low[axis]) / extent))
        if b < best_cut:
            left += 1
        else:
            order[left], order[right] = order[right], order[left]
            right -= 1
    return left


@kernel
def _grow(lows, highs):  # type: ignore[no-untyped-def]
    """Return bounds, first, count and order of the tree over boxes `lows` … `highs` (n, 3)."""
    n_triangles = len(lows)
    middles = 0.5 * (lows + highs)
    order = np.arange(n_triangles)
    bounds = np.empty((2 * n_triangles, 6))
    first = np.zeros(2 * n_triangles, np.int64)
    count = np.zeros(2 * n_triangles, np.int64)
    stack = [(0, 0, n_triangles)]
    n_nodes = 1
    while len(stack) > 0:
        node, begin, end = stack.pop()
        bounds[node, :3], bounds[node, 3:] = _FAR, -_FAR
        for n in range(begin, end):
            for k in range(3):
                bounds[node, k] = min(bounds[node, k], lows[order[n], k])
                bounds[node, 3 + k] = max(bounds[node, 3 + k], highs[order[n], k])
        cut = begin
        if end - begin > LEAF_SIZE:
            cut = _split(lows, highs, middles, order, begin, end)
            if cut in (begin, end) and end - begin > 16:
                cut = (begin + end) // 2
        if cut in (begin, end):
            first[node], count[node] = begin, end - begin
        else:
            first[node] = n_nodes
            stack.append((n_nodes, begin, cut))
            stack.append((n_nodes + 1, cut, end))
            n_nodes += 2
    return bounds[:n_nodes].copy(), first[:n_nodes].copy(), count[:n_nodes].copy(), order


def build_tree(triangles: npt.NDArray[np.float64], is_pane: npt.NDArray[np.bool_]) -> Tree:
    """Return the tree over `triangles` (n, 3 corners, 3); `is_pane` (n,) cast no shadow."""
    bounds, first, count, order = _grow(triangles.min(axis=1), triangles.max(axis=1))
    ordered = triangles[order]
    shape = np.concatenate(
        [ordered[:, 0], ordered[:, 1] - ordered[:, 0], ordered[:, 2] - ordered[:, 0]], axis=1
    )
    return Tree(
        np.nextafter(bounds.astype(np.float32), np.float32([[-np.inf] * 3 + [np.inf] * 3])),
        first.astype(np.int32),
        count.astype(np.int32),
        order,
        shape.astype(np.float32),
        is_pane[order],
    )


@kernel
def _enter(bounds, node, ox, oy, oz, ix, iy, iz, far):  # type: ignore[no-untyped-def]
    """Return the distance at which a ray enters a node's box, or `_FAR`."""
    a, b = (bounds[node, 0] - ox) * ix, (bounds[node, 3] - ox) * ix
    near, leave = min(a, b), max(a, b)
    a, b = (bounds[node, 1] - oy) * iy, (bounds[node, 4] - oy) * iy
    near, leave = max(near, min(a, b)), min(leave, max(a, b))
    a, b = (bounds[node, 2] - oz) * iz, (bounds[node, 5] - oz) * iz
    near, leave = max(near, min(a, b)), min(leave, max(a, b))
    if leave >= max(near, 0.0) and near < far:
        return near
    return _FAR


@kernel
def _reciprocal(d):  # type: ignore[no-untyped-def]
    if abs(d) < 1e-12:
        return 1e12 if d >= 0 else -1e12
    return 1.0 / d


@kernel
def first_hit(tree, scratch, ox, oy, oz, dx, dy, dz, near, far, for_shadow):  # type: ignore[no-untyped-def]  # noqa: PLR0912
    """Return (distance, triangle in the tree's order, u, v) of the nearest hit beyond `near`.

    The triangle is -1 where nothing is met before `far`. `for_shadow` asks only whether anything
    but a pane is in the way: the first such triangle will do. `scratch` is a stack of nodes with
    their distances, (96,) each.
    """
    ix, iy, iz = _reciprocal(dx), _reciprocal(dy), _reciprocal(dz)
    hit, hit_u, hit_v = -1, 0.0, 0.0
    stack, reach = scratch
    node, depth = 0, 0
    if _enter(tree.bounds, 0, ox, oy, oz, ix, iy, iz, far) >= far:
        return far, hit, hit_u, hit_v
    while True:
        n_inside = tree.count[node]
        child = tree.first[node]
        if n_inside == 0:
            near_0 = _enter(tree.bounds, child, ox, oy, oz, ix, iy, iz, far)
            near_1 = _enter(tree.bounds, child + 1, ox, oy, oz, ix, iy, iz, far)
            closer, other = child, child + 1
            if near_1 < near_0:
                near_0, near_1 = near_1, near_0
                closer, other = other, closer
            if near_0 < _FAR:
                if near_1 < _FAR:
                    stack[depth], reach[depth] = other, near_1
                    depth += 1
                node = closer
                continue
            n_inside = 0
        for t in range(child, child + n_inside):
            e1x, e1y, e1z = tree.shape[t, 3], tree.shape[t, 4], tree.shape[t, 5]
            e2x, e2y, e2z = tree.shape[t, 6], tree.shape[t, 7], tree.shape[t, 8]
            px, py, pz = dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x
            determinant = e1x * px + e1y * py + e1z * pz
            if abs(determinant) < 1e-16:
                continue
            inverse = 1.0 / determinant
            sx, sy, sz = ox - tree.shape[t, 0], oy - tree.shape[t, 1], oz - tree.shape[t, 2]
            u = (sx * px + sy * py + sz * pz) * inverse
            if u < 0 or u > 1:
                continue
            qx, qy, qz = sy * e1z - sz * e1y, sz * e1x - sx * e1z, sx * e1y - sy * e1x
            v = (dx * qx + dy * qy + dz * qz) * inverse
            if v < 0 or u + v > 1:
                continue
            distance = (e2x * qx + e2y * qy + e2z * qz) * inverse
            if near < distance < far:
                if for_shadow:
                    if tree.is_pane[t]:
                        continue
                    return distance, t, u, v
                far, hit, hit_u, hit_v = distance, t, u, v
        while depth > 0 and reach[depth - 1] >= far:
            depth -= 1
        if depth == 0:
            return far, hit, hit_u, hit_v
        depth -= 1
        node = stack[depth]
