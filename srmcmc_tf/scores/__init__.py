"""Sample quality scores: FID, KID and inception score, as Keras metrics.

A `Network` turns uint8 images into features and logits; the metrics turn those
into numbers. Nothing here reads data: see `srmcmc_tf.evaluation` for that.
"""
