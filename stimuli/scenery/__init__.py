"""A small path tracer and the scenes that it draws: landscapes, streets, rooms, still lifes.

::

    mesh, noise_kernels     shapes and textures
    plants, buildings, things, ground    what scenes are made of
    outdoors, waters, towns, indoors     the scenes
    bvh_kernels, shading_kernels, light_kernels, trace_kernels, render    how they are drawn

Lengths are metres; x points to the right, y away from the viewer, z upwards.
"""
