"""Evidence of binned saccades for every enrolled viewer at once: one row of a table per value.

Tables are (types, features, bins, viewers), and (types, viewers) of the types themselves. The last
axis is the viewers', so that a value adds one contiguous vector.
"""

from __future__ import annotations

import math

from gazelive.features import Features, TypeCode, row_type, row_values
from gazelive.gaze import Flags, Floats, Integers, SingleFloats
from gazelive.identification.comparison.linear_kernels import LATE, WHOLE
from gazelive.models import bin_number
from gazelive.system import unchecked_kernel


@unchecked_kernel
def add_row_evidence(
    row: SingleFloats,
    part: int,
    types: TypeCode,
    features: Features,
    late: Flags,
    bins: Floats,
    value_table: Floats,
    type_table: Floats,
    values: Floats,
    evidence: Floats,
) -> bool:
    """Add the evidence of a saccade (viewers,); return whether it has any.

    `values` is scratch of one number per feature.
    """
    type_ = row_type(row, types[0], types[1], types[2])
    if type_ < 0:
        return False
    row_values(row, features[0], features[1], features[2], features[3], values)
    says = part != LATE
    if part != LATE:
        of_type = type_table[type_]
        for k in range(len(evidence)):
            evidence[k] += of_type[k]
    for f in range(len(values)):
        x = values[f]
        if math.isnan(x) or (part != WHOLE and late[f] != (part == LATE)):
            continue
        own = value_table[type_, f, bin_number(x, bins[type_, f])]
        for k in range(len(evidence)):
            evidence[k] += own[k]
        says = True
    return says


@unchecked_kernel
def add_scanpath_evidence(
    rows: SingleFloats,
    types: TypeCode,
    features: Features,
    late: Flags,
    bins: Floats,
    value_table: Floats,
    type_table: Floats,
    values: Floats,
    evidence: Floats,
) -> bool:
    """Add the evidence of all saccades of a scanpath; return whether any has evidence."""
    says = False
    for i in range(len(rows)):
        says |= add_row_evidence(
            rows[i],
            WHOLE,
            types,
            features,
            late,
            bins,
            value_table,
            type_table,
            values,
            evidence,
        )
    return says


@unchecked_kernel
def add_binned_evidence(
    types: Integers,
    binned: Integers,
    units: Integers,
    value_table: Floats,
    type_table: Floats,
    evidence: Floats,
) -> None:
    """Add the evidence of binned saccades to that of their units (units, viewers)."""
    for i in range(len(types)):
        of_unit = evidence[units[i]]
        of_type = type_table[types[i]]
        for k in range(len(of_unit)):
            of_unit[k] += of_type[k]
        for f in range(binned.shape[1]):
            if binned[i, f] < 0:
                continue
            own = value_table[types[i], f, binned[i, f]]
            for k in range(len(of_unit)):
                of_unit[k] += own[k]
