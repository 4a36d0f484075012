"""The baselines of the paper's comparison: a VAE and a DCGAN."""
