"""Trained models for other programs: SavedModels, model cards, a demo."""
