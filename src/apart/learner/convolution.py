"""A convolution as a product of frequencies, made of matrix products alone.

Same numbers as ``lax.conv_general_dilated`` (stride 1, zero padding that keeps the size), to float
tolerance (tested). On the CPU, XLA's convolutions are slow when differentiated; here forward and
backward are the same few matrix products, and per pair of channels a 10 x 10 image with a 5 x 5
kernel costs 3 x 84 multiplications instead of 2,500 (docs/guide/networks.md has measurements). The
transform of the few pixels of a grid world is a dense matrix: no FFT is as quick at that size.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from apart._lazy import jnp
from apart._types import Array


class Transforms(NamedTuple):
    """Real matrices; F frequencies, those with real parts first, then the imaginary parts."""

    pixels: Any  # [2 F, P] pixels -> frequencies
    kernel: Any  # [2 F, taps] kernel -> frequencies
    back: Any  # [P, 2 F] frequencies -> pixels


@lru_cache(maxsize=32)
def transforms(height: int, width: int, kernel: int) -> Transforms:
    """The matrices for images of ``height`` x ``width`` and an odd ``kernel``.

    The period needs only half a kernel more than the image: what wraps around meets the padding.
    """
    half = kernel // 2
    period = np.array([height + half, width + half])
    rows, columns = np.meshgrid(np.arange(period[0]), np.arange(period[1] // 2 + 1), indexing="ij")
    frequency = np.stack([rows.ravel(), columns.ravel()], 1) / period

    def waves(n_rows: int, n_columns: int, shift: int) -> Any:
        at = np.meshgrid(np.arange(n_rows) - shift, np.arange(n_columns) - shift, indexing="ij")
        return np.exp(-2j * np.pi * frequency @ np.stack([a.ravel() for a in at]))

    pixels, taps = waves(height, width, 0), waves(kernel, kernel, half).conj()
    # A real signal's other half of the frequencies is the mirror image of this one.
    alone = (columns.ravel() == 0) | (2 * columns.ravel() == period[1])
    share = np.where(alone, 1.0, 2.0) / period.prod()
    return Transforms(
        np.concatenate([pixels.real, pixels.imag]),
        np.concatenate([taps.real, taps.imag]),
        np.concatenate([pixels.real.T * share, pixels.imag.T * share], 1),
    )


def convolve(images: Array, weight: Array, size: tuple[int, int]) -> Array:
    """[P, n, D] the cross-correlation of images with a kernel, same size.

    Args:
        images: [P, n, C], pixels first: P = height * width.
        weight: [k, k, C, D], k odd.
        size: height and width.
    """
    kernel, _, n_in, n_out = weight.shape
    pixels, taps, back = (jnp.asarray(m, weight.dtype) for m in transforms(*size, kernel))
    x = jnp.tensordot(pixels, images, 1)
    w = jnp.tensordot(taps, weight.reshape(-1, n_in, n_out), 1)
    (x_re, x_im), (w_re, w_im) = jnp.split(x, 2), jnp.split(w, 2)
    # Three real products make a complex one (Gauss).
    both = _each((x_re + x_im), w_re)
    product = [both - _each(x_im, w_re + w_im), both + _each(x_re, w_im - w_re)]
    return jnp.tensordot(back, jnp.concatenate(product), 1)


def _each(x: Array, w: Array) -> Array:
    """A matrix product per frequency."""
    return jnp.einsum("fnc,fcd->fnd", x, w)
