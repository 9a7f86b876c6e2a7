"""KaTrain's own engine class and game nodes, without its windows, with our analysis engine as its custom command.

KaTrain's code builds every query and reads every answer here. Of Kivy, which it draws with, it needs three names to be
imported; those are made up, so that nothing of it need be installed.
"""

import importlib.util
import json
import shlex
import sys
import time
import types
from itertools import pairwise
from pathlib import Path
from unittest.mock import MagicMock

import pytest

GAME = "(;GM[1]FF[4]SZ[9]KM[7.5]RU[chinese];B[ee];W[gc];B[cg];W[gg];B[cc])"
VISITS, FAST_VISITS = 60, 20
ERROR = -1  # the level at which KaTrain logs what its user should see

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("katrain", "pysgf", "chardet")),
    reason="KaTrain is not installed (pip install --no-deps -c constraints.txt katrain pysgf chardet)",
)


class App:
    """What KaTrain's classes ask of the application: its settings, and where to say things."""

    def __init__(self, settings):
        self.settings, self.messages, self.popups = settings, [], []
        self.controls = MagicMock()  # the part of the window that shows what is going on
        self.pondering = False

    def config(self, path, default=None):
        section, _, name = path.partition("/")
        return self.settings[section].get(name, default) if name else self.settings[section]

    def log(self, message, level=0):
        self.messages.append((level, str(message)))

    def __call__(self, *popup):
        self.popups.append(popup)

    def errors(self):
        """What was logged as an error since the last time."""
        found = [message for level, message in self.messages if level == ERROR]
        self.messages.clear()
        return found


@pytest.fixture(scope="module")
def katrain(tiny_model):
    """KaTrain's modules, its application and its engine, which is ours; errors that nobody asked for fail the test."""
    patch = pytest.MonkeyPatch()
    stubs = {"kivy": {}, "kivy.utils": {"platform": "linux"}, "kivy._event": {"Observable": object}}
    for name, contents in stubs.items():
        module = types.ModuleType(name)
        module.__dict__.update(contents)
        patch.setitem(sys.modules, name, module)
    from katrain.core import engine, game

    settings = json.loads(Path(engine.__file__).parent.with_name("config.json").read_text())
    command = shlex.join([sys.executable, "-m", "mini_alphago", "analysis", "--model", str(tiny_model)])
    settings["engine"] |= {"backend": "custom", "altcommand": f"exec {command} --device cpu"}
    settings["engine"] |= {"max_visits": VISITS, "fast_visits": FAST_VISITS, "max_time": 60.0}
    app = App(settings)
    started = engine.KataGoEngine(app, settings["engine"])
    yield types.SimpleNamespace(app=app, engine=started, core=game)
    started.shutdown(finish=False)
    for name in [name for name in sys.modules if name.split(".")[0] == "katrain"]:
        del sys.modules[name]
    patch.undo()
    assert not app.popups  # KaTrain's offer to repair an engine that died


def until(condition, seconds=300.0):
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def open_game(katrain, text=GAME):
    """The game as KaTrain opens a file: its last position is shown, every position has been analysed; its nodes too."""
    katrain.engine.on_new_game()
    tree = katrain.core.KaTrainSGF.parse_sgf(text)
    game = katrain.core.Game(katrain.app, katrain.engine, move_tree=tree, analyze_fast=True)
    nodes = list(game.root.nodes_in_tree)
    until(lambda: all(node.analysis_complete for node in nodes))
    game.set_current_node(nodes[-1])
    return game, nodes


def test_a_game_is_analysed_from_end_to_end(katrain):
    _, nodes = open_game(katrain)
    assert len(nodes) == 6
    for number, node in enumerate(nodes):
        assert node.root_visits == FAST_VISITS
        assert 0 <= node.winrate <= 1
        assert len(node.ownership) == 81
        assert all(-1 <= owner <= 1 for owner in node.ownership)
        assert len(node.policy) == 82
        assert node.policy.count(-1) == number  # the points that are taken
        assert all("order" in move for move in node.candidate_moves)
    for before, node in pairwise(nodes):
        assert node.points_lost == pytest.approx(
            (before.score - node.score) * (1 if node.player == "B" else -1), abs=1e-6
        )
        rank, prior, _ = node.move_policy_stats()
        assert 1 <= rank <= 82
        assert 0 < prior < 1
        assert node.move.gtp() in before.analysis["moves"]
        assert node.format_winrate() in node.comment(sgf=True)
    assert katrain.app.errors() == []


def test_candidates_are_in_order_and_have_what_is_drawn(katrain):
    game, nodes = open_game(katrain)
    answers = []
    katrain.engine.request_analysis(nodes[-1], lambda answer, partial: answers.append((answer, partial)))
    until(lambda: answers)
    answer, partial = answers[-1]
    assert not partial
    infos = answer["moveInfos"]
    assert answer["rootInfo"]["visits"] == VISITS == sum(info["visits"] for info in infos)
    assert [info["order"] for info in infos] == list(range(len(infos)))
    visits = [info["visits"] for info in infos]
    assert visits == sorted(visits, reverse=True)
    stones = {stone.gtp() for stone in game.stones}
    for info in infos:
        assert info["move"] not in stones
        assert info["pv"][0] == info["move"]
        assert len(info["ownership"]) == 81
        assert 0 <= info["prior"] <= 1
    assert katrain.app.errors() == []


@pytest.mark.parametrize("moves", [";B[]", ";B[cc];W[]"])
@pytest.mark.parametrize("komi", [-300, 300])
def test_winrate_and_score_are_blacks(katrain, komi, moves):
    """The opponent has passed, so that a pass ends the game; who has won by then the komi alone decides."""
    _, nodes = open_game(katrain, f"(;GM[1]FF[4]SZ[5]KM[{komi}]RU[chinese]{moves})")
    nodes[-1].analyze(katrain.engine, visits=300)
    until(lambda: nodes[-1].root_visits == 300)
    by_move = nodes[-1].analysis["moves"]
    assert by_move["pass"]["winrate"] == (1 if komi < 0 else 0)
    assert (by_move["pass"]["scoreLead"] > 200) == (komi < 0)
    assert katrain.app.errors() == []


def test_reports_during_the_search(katrain):
    _, nodes = open_game(katrain)
    answers = []
    katrain.engine.request_analysis(
        nodes[-1],
        lambda answer, partial: answers.append((partial, answer)),
        visits=2000,
        ownership=False,
        report_every=0.02,
    )
    until(lambda: answers and not answers[-1][0])
    partial = [answer["rootInfo"]["visits"] for is_partial, answer in answers if is_partial]
    assert partial
    assert partial == sorted(partial)
    assert answers[-1][1]["rootInfo"]["visits"] == 2000
    assert sum(not is_partial for is_partial, _ in answers) == 1
    assert katrain.app.errors() == []


def test_pondering_goes_on_until_it_is_stopped(katrain):
    game, nodes = open_game(katrain)
    node = nodes[-1]
    game.analyze_extra("ponder")
    until(lambda: node.root_visits > VISITS)
    seen = node.root_visits
    until(lambda: node.root_visits > seen)
    assert not katrain.engine.is_idle()
    game.analyze_extra("stop")
    until(katrain.engine.is_idle)
    game.analyze_extra("ponder")  # and again, and then on to another position, which ends it by itself
    until(lambda: node.root_visits > seen + VISITS)
    game.undo()
    game.analyze_extra("ponder")
    other = game.current_node
    until(lambda: other.root_visits > VISITS)
    until(lambda: len(katrain.engine.queries) == 1)
    game.analyze_extra("stop")
    assert katrain.engine.check_alive()
    assert katrain.app.errors() == []


def test_alternatives_and_a_region(katrain):
    _, nodes = open_game(katrain)
    node = nodes[2]
    known = set(node.analysis["moves"])
    answers = []
    katrain.engine.request_analysis(node, lambda answer, _: answers.append(answer), find_alternatives=True)
    katrain.engine.request_analysis(node, lambda answer, _: answers.append(answer), region_of_interest=[0, 3, 0, 1])
    until(lambda: len(answers) == 2)
    found = [{info["move"] for info in answer["moveInfos"]} for answer in answers]
    region = {f"{column}{row}" for column in "ABCD" for row in (1, 2)} | {"pass"}
    alternatives, inside = found if found[1] <= region else found[::-1]
    assert alternatives
    assert not alternatives & known
    assert inside
    assert inside <= region
    assert katrain.app.errors() == []


def test_a_sweep_tries_every_move_and_is_silent_about_illegal_ones(katrain):
    """On a position that is not analysed yet KaTrain tries every empty point; B5 is suicide here."""
    game, nodes = open_game(katrain, "(;GM[1]FF[4]SZ[5]KM[0.5]RU[japanese]PL[B]AB[aa][ca]AW[ab][bb][cb][da])")
    node = nodes[-1]
    node.clear_analysis()
    game.analyze_extra("sweep")
    until(katrain.engine.is_idle)
    tried = node.analysis["moves"]
    assert set(tried) == {"E5", "D4", "E4", *(f"{column}{row}" for column in "ABCDE" for row in (1, 2, 3))}
    assert all(info["visits"] >= FAST_VISITS for info in tried.values())
    assert katrain.app.errors() == []


def test_handicap_and_every_rule_set(katrain):
    for _, rules in katrain.engine.RULESETS_ABBR:
        if rules == "stone_scoring":
            continue  # which is not known here: see below
        _, nodes = open_game(katrain, f"(;GM[1]FF[4]SZ[9]KM[0.5]HA[2]RU[{rules}]AB[gc][cg];W[ee])")
        assert [node.next_player for node in nodes] == ["W", "B"]
        assert not {"G7", "C3", "E5"} & set(nodes[1].analysis["moves"])
    assert katrain.app.errors() == []


@pytest.mark.parametrize(("header", "word"), [("SZ[21]", "boardXSize"), ("SZ[9]RU[stone_scoring]", "unknown rules")])
def test_what_cannot_be_analysed_is_an_error_for_that_query_alone(katrain, header, word):
    node = katrain.core.KaTrainSGF.parse_sgf(f"(;GM[1]FF[4]{header})")
    errors = []
    katrain.engine.request_analysis(node, pytest.fail, errors.append)
    until(lambda: errors)
    assert word in errors[0]["error"]
    until(katrain.engine.is_idle)
    open_game(katrain)
    assert katrain.app.errors() == []
