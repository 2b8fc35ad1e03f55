"""Generative adversarial imitation (GAIL, Ho and Ermon 2016) with the absorbing state of Kostrikov et al. 2019."""

from experiments.baselines.gail.settings import GailConfig
from experiments.baselines.gail.train import GailTrial, TrainedGail, check_extra, train_gail

__all__ = ["GailConfig", "GailTrial", "TrainedGail", "check_extra", "train_gail"]
