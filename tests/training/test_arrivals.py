"""Games from other machines: on disk from the moment they are here, in whole iterations, none lost and none twice."""

from pathlib import Path
from typing import Any

import pytest

from mini_alphago.training import train
from mini_alphago.training.arrivals import (
    Arrivals,
    Delivery,
    first_id,
    from_parcel,
    next_worker,
    to_parcel,
    workers_of,
)
from mini_alphago.training.folder import RunFolder
from mini_alphago.training.records import Records, from_bytes, join_records

from .made_up import assert_same, some_games
from .runs import CONFIG, StopAt, train_until


def games(worker: int, number: int, count: int) -> Records:
    """So many games of a worker, as its delivery `number` would have them."""
    return some_games(count, first_id=first_id(worker) + 100 * number)


def delivery(worker: int, number: int, count: int) -> Delivery:
    return Delivery(worker, number, count, to_parcel(games(worker, number, count)), 0, 50, 400, 1.0)


def ids(parts: list[Records]) -> list[int]:
    return [int(i) for part in parts for i in part.id]


def test_a_parcel_holds_the_games() -> None:
    records = games(3, 0, 4)
    parcel = to_parcel(records)
    assert_same(from_parcel(parcel), records)
    assert workers_of(from_parcel(parcel)) == {3: 4}
    with pytest.raises(ValueError, match="not a parcel of games"):
        from_parcel(parcel[:-7])


def test_an_iteration_is_whole_as_soon_as_it_has_its_games(tmp_path: Path) -> None:
    arrivals = Arrivals(tmp_path, 5, wanted=5)
    for number in range(3):
        arrivals.add(delivery(1, number, 3))
    assert arrivals.filling == 6
    assert arrivals.count(5) == 6, "a delivery is never torn apart"
    assert arrivals.count(6) == 3
    assert ids(arrivals.take(5)) == [*first_ids(1, 0, 3), *first_ids(1, 1, 3)]
    assert ids(arrivals.take(6)) == first_ids(1, 2, 3)


def first_ids(worker: int, number: int, count: int) -> list[int]:
    return [first_id(worker) + 100 * number + i for i in range(count)]


def test_the_same_games_are_there_after_a_crash(tmp_path: Path) -> None:
    arrivals = Arrivals(tmp_path, 1, wanted=4)
    for number in range(5):
        arrivals.add(delivery(2, number, 2))
    before = [ids(arrivals.take(i)) for i in (1, 2, 3)]
    again = Arrivals(tmp_path, 1, wanted=4)  # and nobody has closed the one before
    assert again.filling == 3
    assert [ids(again.take(i)) for i in (1, 2, 3)] == before
    again.add(delivery(2, 5, 2))
    assert ids(Arrivals(tmp_path, 3, wanted=4).take(3)) == [*before[2], *first_ids(2, 5, 2)]


def test_games_of_later_iterations_stay_when_iterations_become_larger(tmp_path: Path) -> None:
    before = Arrivals(tmp_path, 1, wanted=2)
    for number in range(3):  # a whole iteration, and another, and a part of the third
        before.add(delivery(1, number, 1 if number == 2 else 2))
    before.close()
    arrivals = Arrivals(tmp_path, 1, wanted=4)
    assert arrivals.filling == 1
    arrivals.add(delivery(1, 3, 2))
    assert arrivals.filling == 2
    assert arrivals.add(delivery(1, 2, 1)) is None, "it was here already"
    arrivals.add(delivery(1, 4, 3))
    arrivals.close()
    everything = Arrivals(tmp_path, 1, wanted=4)
    assert [ids(everything.take(i)) for i in (1, 2)] == [
        [*first_ids(1, 0, 2), *first_ids(1, 3, 2)], [*first_ids(1, 1, 2), *first_ids(1, 4, 3)]
    ]  # fmt: skip


def test_a_torn_end_loses_the_last_delivery_only(tmp_path: Path) -> None:
    arrivals = Arrivals(tmp_path, 1, wanted=100)
    for number in range(3):
        arrivals.add(delivery(1, number, 2))
    path = tmp_path / "000001.arrived"
    path.write_bytes(path.read_bytes()[:-5])
    again = Arrivals(tmp_path, 1, wanted=100)
    again.add(delivery(1, 2, 2))
    assert ids(Arrivals(tmp_path, 1, wanted=100).take(1)) == ids([games(1, number, 2) for number in range(3)])


def test_what_comes_twice_is_taken_once(tmp_path: Path) -> None:
    arrivals = Arrivals(tmp_path, 1, wanted=100)
    assert arrivals.add(delivery(1, 0, 2)) is not None
    assert arrivals.add(delivery(1, 0, 2)) is None
    again = Arrivals(tmp_path, 1, wanted=100)
    assert again.add(delivery(1, 0, 2)) is None, "after a crash too"
    assert again.add(delivery(2, 0, 2)) is not None, "another worker's first delivery is another one"
    assert again.count(1) == 4


def test_no_number_of_a_worker_is_given_twice(tmp_path: Path) -> None:
    numbers = [next_worker(RunFolder(tmp_path)) for _ in range(3)]
    assert numbers == [1, 2, 3]


def test_a_run_that_had_a_cluster_goes_on_without_it(tmp_path: Path) -> None:
    """What came from others is learned from; the rest of the iteration is played here."""
    train_until(CONFIG, tmp_path, StopAt(iteration=1))
    arrived: list[Any] = []
    arrivals = Arrivals(tmp_path / "replay", 2, CONFIG.games_per_iteration)
    for number in range(6):  # more than one iteration has
        arrived.append(arrivals.add(delivery(1, number, 2)))
    arrivals.close()
    train(CONFIG, str(tmp_path))
    found = [from_bytes(path.read_bytes()) for path in sorted((tmp_path / "replay").glob("*.games"))]
    everything = ids(found)
    assert set(ids(arrived)) <= set(everything)
    assert len(everything) == len(set(everything))
    assert ids(found[1:2]) == ids(arrived[:4]), "an iteration that was whole before anybody played here"
    assert not list((tmp_path / "replay").glob("*.arrived"))
    assert workers_of(join_records(found, 5))[1] == 12
