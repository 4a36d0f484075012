"""What a trained model generates: samples, interpolations, reconstructions."""
