"""Fixed networks that turn images into features."""
