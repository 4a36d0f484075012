"""Callbacks of `fit`: what happens beside the updates.

They work in any `fit` of a `ShortRunEBM`; `srmcmc_tf.callbacks` is their
public name.
"""
