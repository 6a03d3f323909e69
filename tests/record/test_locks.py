"""A lock that is nobody's again when its owner was interrupted."""

import sys
from collections.abc import Iterator
from threading import Event, Thread, get_ident
from typing import Any

import pytest

from tape_ad.record import locks
from tape_ad.record.locks import Turn


@pytest.fixture
def two_threads() -> Any:
    """Let another thread be alive, as one alone takes nothing."""
    ended = Event()
    other = Thread(target=ended.wait)
    other.start()
    yield
    ended.set()
    other.join()


def held(turn: Turn, then: Any) -> Any:
    """Take a turn, do something, and leave the turn behind as an interrupt would."""
    mine = turn.take()
    return mine, then()


def holding() -> Turn:
    turn = Turn()
    turn.holding.add(held.__code__)
    return turn


@pytest.mark.usefixtures("two_threads")
def test_who_is_inside_takes_nothing_further_in() -> None:
    turn = holding()
    assert held(turn, lambda: held(turn, lambda: turn.owner)) == (True, (False, (get_ident(),)))


@pytest.mark.usefixtures("two_threads")
def test_who_was_interrupted_takes_the_turn_anew() -> None:
    turn = holding()
    _, left = held(turn, lambda: turn.owner)
    mine, owner = held(turn, lambda: turn.owner)
    assert mine
    assert owner == left
    assert owner is not left


@pytest.mark.usefixtures("two_threads")
def test_a_turn_left_behind_is_anothers_soon() -> None:
    turn = holding()
    held(turn, lambda: None)
    found: list[Any] = []
    other = Thread(target=lambda: found.append(held(turn, get_ident)))
    other.start()
    other.join()
    assert found == [(True, other.ident)]


def test_a_lone_thread_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_count", lambda: 0)
    turn = holding()
    assert held(turn, lambda: turn.owner) == (False, None)


def test_a_turn_is_not_given_away_while_a_generator_of_its_owner_goes_on() -> None:
    turn = holding()
    inside, resumed, outside, released = (Event() for _ in range(4))

    def values() -> Iterator[None]:
        inside.set()
        resumed.wait()
        yield

    def going_on() -> None:
        for _ in values():
            outside.set()
            released.wait()

    owner = Thread(target=held, args=(turn, going_on))
    owner.start()
    inside.wait()
    frame: Any = sys._current_frames()[owner.ident or 0]
    while frame.f_code is not values.__code__:
        frame = frame.f_back
    resumed.set()
    outside.wait()
    assert frame.f_back is None  # for who looks at the frames from the generator outwards
    assert turn.is_holding(frame)
    released.set()
    owner.join()
