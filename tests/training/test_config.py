"""Settings of a run: to TOML and back, and everything impossible refused in one sentence."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_alphago.training import (
    PRESETS,
    LearningSettings,
    MeasureSettings,
    NetworkSettings,
    ReplaySettings,
    SelfPlaySettings,
    TrainingConfig,
    choose_preset,
    get_preset,
)
from mini_alphago.training.config import from_toml, to_toml


def _refusal(text):
    """What is said about these settings; a single sentence."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        from_toml(text)
    message = str(refused.value)
    assert message
    assert "\n" not in message
    return message


# --- to disk and back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_presets_come_back(name):
    preset = get_preset(name)
    assert from_toml(to_toml(preset)) == preset


def test_the_default_comes_back_and_is_what_nothing_says():
    assert from_toml(to_toml(TrainingConfig())) == TrainingConfig() == from_toml("")


def test_what_is_left_out_has_its_default():
    config = from_toml("board_size = 13\n[self_play]\nsampled_moves = [2, 4]\nkomi = 6")
    assert config == TrainingConfig(board_size=13, self_play=SelfPlaySettings(sampled_moves=(2, 4), komi=6.0))


def _share(low=0.0, high=1.0):
    return st.floats(low, high)


def _or_none(strategy):
    return st.none() | strategy


_NETWORKS = st.builds(
    NetworkSettings,
    size=st.builds(lambda blocks, channels: f"b{blocks}c{channels}", st.integers(1, 40), st.integers(4, 512)),
    family=st.sampled_from(["katago", "tutorial"]),
    encoding=st.sampled_from(["katago", "alphazero", "tutorial"]),
)
_SELF_PLAY = st.builds(
    SelfPlaySettings,
    games=st.integers(1, 65536),
    method=st.sampled_from(["gumbel", "puct"]),
    simulations=st.integers(1, 10_000),
    late_simulations=st.integers(0, 10_000),
    fast_simulations=st.integers(0, 10_000),
    full_share=_share(0.01),
    considered=st.integers(1, 362),
    c_puct=_share(0, 100),
    fpu_reduction=_or_none(_share(0, 2)),
    forced_playouts=_share(0, 100),
    noise_alpha=_share(1e-3, 1e3),
    noise_epsilon=_share(),
    sampled_moves=st.tuples(st.integers(0, 400), st.integers(0, 400)).map(lambda pair: tuple(sorted(pair))),
    temperature=_share(0, 100),
    random_openings=_share(),
    rules=st.sampled_from(["cgos", "chinese", "tromp-taylor", "aga", "Tromp_Taylor"]),
    komi=st.integers(-800, 800).map(lambda half: half / 2),
    komi_spread=st.just(0.0) | _share(0, 50),
    move_limit=_or_none(st.integers(2, 10_000)),
    end_when_settled=st.booleans(),
    resign_below=_or_none(_share(-1, 0)),
    resign_played_out=_share(),
)
_LEARNING = st.builds(
    LearningSettings,
    batch_size=st.integers(2, 65536),
    uses=_share(0.01, 100),
    optimizer=st.sampled_from(["adamw", "muon", "sgd"]),
    learning_rate=_share(0, 10),
    final_rate=_share(),
    weight_decay=_share(0, 10),
    ema=_share(0, 0.99999),
    precision=st.sampled_from(["auto", "f32", "bf16"]),
    processes=st.integers(0, 1),
)
_MEASURE = st.builds(
    MeasureSettings,
    every=st.integers(0, 10**6),
    opponents=st.lists(st.sampled_from(["random", "untrained", "previous", "gnugo:0", "gnugo:10"])).map(tuple),
)


@st.composite
def _configs(draw):
    network, play = draw(_NETWORKS), draw(_SELF_PLAY)
    if play.fast_simulations:
        play = replace(play, decided_above=draw(_or_none(_share())))
    return TrainingConfig(
        board_size=draw(st.integers(5, 19)),
        iterations=draw(_or_none(st.integers(1, 10**7))),
        minutes=draw(_or_none(_share(0, 1e7))),
        seed=draw(st.integers(0, 2**31 - 1)),
        device=draw(st.sampled_from(["auto", "cpu", "cuda:1", 'my "own" \\ device\n', "größe"])),
        threads=draw(_or_none(st.integers(1, 1024))),
        network=network,
        self_play=play if network.encoding == "katago" else replace(play, komi_spread=0.0),
        replay=draw(st.builds(ReplaySettings, minimum=st.integers(1, 10**9), exponent=_share())),
        learning=draw(_LEARNING),
        measure=draw(_MEASURE),
    )


@given(_configs())
@settings(max_examples=60, deadline=None)
def test_any_config_comes_back(config):
    assert from_toml(to_toml(config)) == config


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bord_size = 9", "bord_size"),
        ("[self_play]\nsimulation = 9", "self_play.simulation:"),
        ("[selfplay]\nsimulations = 9", "selfplay"),
        ("[network.more]\nsize = 'b4c64'", "network.more"),
        ("network = 'b4c64'", "table"),
        ("learning = [1]", "table"),
        ("board_size = ", "not TOML"),
        ("seed = 1\nseed = 2", "not TOML"),
        ("\x00", "not TOML"),
    ],
)
def test_unknown_and_unreadable(text, said):
    assert said in _refusal(text)


@pytest.mark.parametrize(
    ("section", "name", "values"),
    [
        ("", "board_size", ["4", "20", "9.0", "true", "'9'", "[9]", "{}", "1979-05-27"]),
        ("", "iterations", ["0", "-1", "2.5", "false", "'all'"]),
        ("", "minutes", ["-1", "true", "'10'", "nan", "inf", "[]"]),
        ("", "games_per_iteration", ["0", "1e3", "true"]),
        ("", "checkpoint_every", ["0", "true"]),
        ("", "seed", ["-1", "2147483648", "1.0", "true", "'1'"]),
        ("", "device", ["3", "true", "['cpu']", "{}"]),
        ("", "threads", ["0", "true", "'2'"]),
        ("network", "size", ["3", "'big'", "'b0c64'", "'b4c2'", "'b4c64 '", "[]"]),
        ("network", "family", ["'alphago'", "1", "[]"]),
        ("network", "encoding", ["'planes'", "17", "true"]),
        ("self_play", "games", ["0", "65537", "true", "'256'", "256.0"]),
        ("self_play", "method", ["'mcts'", "1", "['puct']"]),
        ("self_play", "simulations", ["0", "10001", "true", "'32'", "32.5"]),
        ("self_play", "late_simulations", ["-1", "10001", "'64'"]),
        ("self_play", "fast_simulations", ["-1", "10001", "false"]),
        ("self_play", "full_share", ["0", "1.01", "nan", "true", "'a quarter'"]),
        ("self_play", "decided_above", ["-0.1", "1.1", "true", "'0.9'"]),
        ("self_play", "leaves", ["0", "1025", "true", "'4'", "4.0"]),
        ("self_play", "c_scale", ["-1", "true", "'1'", "nan"]),
        ("self_play", "considered", ["0", "363", "true", "'16'", "1.5"]),
        ("self_play", "c_puct", ["-1", "true", "'1.5'", "nan"]),
        ("self_play", "fpu_reduction", ["-0.1", "3", "true", "'0'"]),
        ("self_play", "forced_playouts", ["-1", "true"]),
        ("self_play", "noise_alpha", ["0", "true"]),
        ("self_play", "noise_epsilon", ["-0.5", "1.5", "'0'"]),
        (
            "self_play",
            "sampled_moves",
            ["3", "'08'", "[]", "[1]", "[1, 2, 3]", "[8, 0]", "[-1, 3]", "[0, 10001]", "[0.0, 8.0]", "['0', '8']"],
        ),
        ("self_play", "sampled_moves", ["[false, true]", "{low = 0, high = 8}", "[[0], [8]]", "true"]),
        ("self_play", "temperature", ["-1", "101", "true"]),
        ("self_play", "random_openings", ["-0.1", "1.1", "true"]),
        ("self_play", "rules", ["'japanese'", "'checkers'", "1", "[]"]),
        ("self_play", "komi", ["7.2", "401", "true", "'7'", "nan", "[]"]),
        ("self_play", "komi_spread", ["-1", "51", "true"]),
        ("self_play", "move_limit", ["1", "10001", "true", "100.0"]),
        ("self_play", "end_when_settled", ["0", "1", "'no'", "[]"]),
        ("self_play", "resign_below", ["-1.1", "0.1", "true", "'never'"]),
        ("self_play", "resign_played_out", ["-0.1", "2", "true"]),
        ("replay", "minimum", ["0", "1.5", "true"]),
        ("replay", "exponent", ["-0.1", "1.1", "true"]),
        ("replay", "maximum", ["0", "'all'", "1e6"]),
        ("learning", "batch_size", ["1", "65537", "true"]),
        ("learning", "uses", ["0", "101", "true"]),
        ("learning", "final_rate", ["-0.1", "1.1", "true"]),
        ("learning", "optimizer", ["'adam'", "1"]),
        ("learning", "learning_rate", ["-0.1", "11", "true", "'fast'", "inf"]),
        ("learning", "warmup_steps", ["-1", "1.5", "true"]),
        ("learning", "ema", ["-0.1", "1", "true"]),
        ("learning", "reply_weight", ["-0.1", "101", "true", "'1'"]),
        ("learning", "soft_weight", ["-0.1", "101", "true", "'8'"]),
        ("learning", "search_value", ["-0.1", "1.1", "true"]),
        ("learning", "surprise_weight", ["-0.1", "1.1", "true"]),
        ("learning", "value_horizon", ["-0.1", "1001", "true"]),
        ("learning", "precision", ["'f16'", "32"]),
        ("learning", "processes", ["-1", "65", "true", "2.0", "3"]),  # 3 cannot share 256 positions
        ("measure", "every", ["-1", "true", "2.0"]),
        ("measure", "games", ["1", "true"]),
        ("measure", "visits", ["0", "true"]),
        ("measure", "opening_moves", ["-1", "21"]),
        ("measure", "opponents", ["'random'", "3", "[1]", "['nobody']", "['gnugo']", "['gnugo:11']", "['random:1']"]),
    ],
)
def test_impossible_values(section, name, values):
    """Each is refused, and the sentence names what is wrong."""
    for value in values:
        message = _refusal(f"[{section}]\n{name} = {value}" if section else f"{name} = {value}")
        assert name.rstrip("s") in message or (section == "network" and "network" in message), (
            f"{name} = {value}: {message}"
        )


def test_settings_are_checked_in_python_as_well():
    for wrong in ({"sampled_moves": (1, 2, 3)}, {"sampled_moves": 5}, {"games": True}, {"simulations": "32"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            SelfPlaySettings(**wrong)
    with pytest.raises(ValueError, match=r"^measure\.games is 52: openings of one move are enough for 50"):
        TrainingConfig(board_size=5, measure=MeasureSettings(games=52, opening_moves=1))
    TrainingConfig(board_size=5, measure=MeasureSettings(games=50, opening_moves=1))
    with pytest.raises(ValueError, match=r"^decided_above is 0\.9: it needs fast_simulations"):
        SelfPlaySettings(decided_above=0.9)
    with pytest.raises(ValueError, match="unknown preset 'huge': known are tutorial"):
        get_preset("huge")


@pytest.mark.parametrize("encoding", ["alphazero", "tutorial"])
def test_other_komis_need_a_network_that_sees_komi(encoding):
    network = f"[network]\nencoding = '{encoding}'\n"
    assert encoding in _refusal(f"{network}[self_play]\nkomi_spread = 1.0")
    assert from_toml(f"{network}[self_play]\nkomi_spread = 0.0").network.encoding == encoding
    assert from_toml("[self_play]\nkomi_spread = 1.0").self_play.komi_spread == 1


# --- what is possible -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("board_size", range(5, 20))
@pytest.mark.parametrize("family", ["katago", "tutorial"])
def test_what_the_manual_promises(board_size, family):
    config = TrainingConfig(
        board_size=board_size,
        games_per_iteration=1000,
        network=NetworkSettings(size="b16c256", family=family),
        self_play=SelfPlaySettings(simulations=800, considered=32),
    )
    network = config.network.config(board_size)
    assert (network.blocks, network.channels) == (16, 256)
    assert network.board_size in (None, board_size)
    assert config.self_play.search(board_size).nodes > 800
    assert config.self_play.limit_for(board_size) >= 1.4 * board_size**2
    assert from_toml(to_toml(config)) == config


def test_the_preset_for_this_machine_is_one():
    name, why = choose_preset()
    assert name in PRESETS
    assert why


# --- the window -------------------------------------------------------------------------------------------------------


@given(
    st.builds(ReplaySettings, minimum=st.integers(1, 10**6), exponent=_share(), maximum=st.integers(1, 10**7)),
    st.integers(0, 10**8),
    st.integers(1, 10**6),
)
@settings(max_examples=200, deadline=None)
def test_the_window_grows_more_slowly_than_the_data(replay, positions, more):
    """Monotone, bounded, and never by more than what was added: nothing that has left is ever wanted back."""
    before, after = replay.window(positions), replay.window(positions + more)
    assert 1 <= before <= after <= min(before + more, replay.maximum)
    assert before >= min(replay.minimum, replay.maximum)


def test_the_window_by_hand():
    replay = ReplaySettings(minimum=100, exponent=0.5, maximum=1000)
    assert [replay.window(n) for n in (0, 1, 100, 400, 2500, 10_000, 10**8)] == [100, 100, 100, 200, 500, 1000, 1000]
    everything = ReplaySettings(minimum=7, exponent=1.0, maximum=10**9)
    assert all(everything.window(n) == n for n in range(7, 3000))
    relative = [ReplaySettings().window(n) / n for n in (10**5, 10**6, 10**7)]
    assert relative == sorted(relative, reverse=True)
