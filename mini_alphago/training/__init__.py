"""How it learns: self-play, the games it makes, the trainer, and the loop around them."""

from .config import (
    LearningSettings,
    MeasureSettings,
    NetworkSettings,
    ReplaySettings,
    SelfPlaySettings,
    TrainingConfig,
)
from .loop import Stopped, Training, train
from .presets import PRESETS, choose_preset, get_preset
from .self_play import SelfPlay
from .trainer import Trainer
from .tutorial import generate_training_data, self_play_game

__all__ = [
    "PRESETS",
    "LearningSettings",
    "MeasureSettings",
    "NetworkSettings",
    "ReplaySettings",
    "SelfPlay",
    "SelfPlaySettings",
    "Stopped",
    "Trainer",
    "Training",
    "TrainingConfig",
    "choose_preset",
    "generate_training_data",
    "get_preset",
    "self_play_game",
    "train",
]
