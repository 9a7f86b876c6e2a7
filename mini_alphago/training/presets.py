"""Settings that work: one for each kind of machine, and the tutorial's own."""

from .config import (
    LearningSettings,
    MeasureSettings,
    NetworkSettings,
    ReplaySettings,
    SelfPlaySettings,
    TrainingConfig,
)

TUTORIAL = TrainingConfig(
    iterations=100,
    games_per_iteration=50,
    network=NetworkSettings(size="b4c64", family="tutorial", encoding="tutorial"),
    self_play=SelfPlaySettings(
        games=50, method="puct", simulations=100, sampled_moves=(30, 30), random_openings=0.0, komi=5.5, move_limit=200,
        end_when_settled=False,
    ),
    replay=ReplaySettings(minimum=1, exponent=0.0, maximum=1),
    learning=LearningSettings(
        batch_size=32, uses=10.0, learning_rate=1e-3, warmup_steps=0, weight_decay=0.0, clip=0.0, ema=0.0,
        value_weight=1.0, search_value=0.0, precision="f32",
    ),
    measure=MeasureSettings(every=5, games=20),
)  # fmt: skip

LAPTOP = TrainingConfig(
    minutes=60.0,
    games_per_iteration=120,
    network=NetworkSettings(size="b4c64"),
    self_play=SelfPlaySettings(
        games=128, simulations=16, fast_simulations=4, decided_above=0.9, considered=8, komi_spread=2.0
    ),
    replay=ReplaySettings(minimum=30_000),
    learning=LearningSettings(batch_size=256, uses=3.0, optimizer="muon", learning_rate=6e-3, weight_decay=0.02),
    measure=MeasureSettings(every=10, games=20, visits=32),
)

GPU = TrainingConfig(
    minutes=15.0,
    games_per_iteration=4096,
    checkpoint_every=5,
    network=NetworkSettings(size="b6c96"),
    self_play=SelfPlaySettings(
        games=12288, groups=3, simulations=32, late_simulations=64, considered=16, komi_spread=2.0
    ),
    replay=ReplaySettings(minimum=150_000, maximum=2_000_000),
    learning=LearningSettings(
        batch_size=2048, uses=3.0, optimizer="muon", learning_rate=6e-3, warmup_steps=100, weight_decay=0.02
    ),
    measure=MeasureSettings(every=20, games=64, visits=100),
)

TINY = TrainingConfig(
    board_size=5,
    minutes=3.0,
    games_per_iteration=64,
    network=NetworkSettings(size="b2c32"),
    self_play=SelfPlaySettings(games=64, simulations=16, considered=8, komi=0.5, sampled_moves=(0, 6)),
    replay=ReplaySettings(minimum=5_000),
    learning=LearningSettings(batch_size=128, uses=4.0, warmup_steps=20),
    measure=MeasureSettings(every=5, games=32, visits=16),
)

PRESETS = {"tutorial": TUTORIAL, "laptop": LAPTOP, "gpu": GPU, "tiny": TINY}


def get_preset(name: str) -> TrainingConfig:
    """The preset of that name. ValueError if there is none."""
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}: known are {', '.join(PRESETS)}")
    return PRESETS[name]


def choose_preset() -> tuple[str, str]:
    """The preset for this machine, and why, in a few words."""
    import torch

    from ..threads import available_cores

    if torch.cuda.is_available():
        return "gpu", f"there is a GPU ({torch.cuda.get_device_name()})"
    if torch.backends.mps.is_available():
        return "laptop", "Apple's GPU is here, but its small batches are not faster than the CPU"
    return "laptop", f"there is no GPU; {available_cores()} cores"
