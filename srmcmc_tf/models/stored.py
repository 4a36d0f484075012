"""What checkpoints and files hold of a short-run model, and how it is read."""

import dataclasses
from typing import Any

import keras

from srmcmc_tf.models.inference import Inference
from srmcmc_tf.sampling.starts import Start


class StoredSampler(Inference):
    """A sampler that can be stored: its energies, settings and chains."""

    def checkpoint_items(self) -> dict[str, Any]:
        coarser = {
            f"stage_{i}": energy for i, energy in enumerate(self.coarser)
        }
        kept = {"chains": self.starting} if self.starting.kept() else {}
        items = super().checkpoint_items()
        return {"energy": self.energy, **coarser, **kept, **items}

    def save_own_variables(self, store: Any) -> None:
        super().save_own_variables(store)
        for name, variable in self.starting.kept().items():
            store[name] = variable.numpy()

    def load_own_variables(self, store: Any) -> None:
        for name, variable in self.starting.kept().items():
            variable.assign(store[name])
        if not self.starting.kept():  # it counts what is in the store
            super().load_own_variables(store)

    def get_config(self) -> dict[str, Any]:
        stages = [keras.saving.serialize_keras_object(s) for s in self.stages]
        return {
            **super().get_config(),
            "energy": stages,
            "start": dataclasses.asdict(self.starting.start),
            "seed": self.seed,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "StoredSampler":
        # A single energy is what earlier versions wrote, with K beside it.
        energy = keras.saving.deserialize_keras_object(config["energy"])
        start = Start(**config.get("start", {}))
        return cls(**{**config, "energy": energy, "start": start})

    def get_compile_config(self) -> dict[str, Any]:
        return {**super().get_compile_config(), "jit_compile": self._jit_chain}
