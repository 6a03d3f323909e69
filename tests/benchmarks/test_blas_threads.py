"""The program that times steps with one BLAS thread and with several."""

import pytest

from benchmarks.blas_threads import NETWORKS, Network, beside_one, main

pytest.importorskip("threadpoolctl")

SMALL = Network(2, (3, 4, 2))


def test_the_largest_product_is_counted() -> None:
    assert (SMALL.title, SMALL.largest) == ("2 rows, 3x4x2", 2 * 3 * 4)
    assert [each.largest for each in NETWORKS] == sorted(each.largest for each in NETWORKS)


def test_a_step_is_timed_with_each_number_of_threads() -> None:
    times = beside_one(SMALL, 2, brief=True)
    assert set(times) == {1, 2}
    assert [len(each.rounds) > 1 and each.least > 0 for each in times.values()] == [True, True]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_table_is_printed_where_there_are_several(
    threads: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.blas_threads.NETWORKS", (SMALL,))
    monkeypatch.setattr("tape_ad.training.threads.blas_thread_count", lambda: threads)
    monkeypatch.setattr("sys.argv", ["blas_threads", "--quick"])
    main()
    printed = capsys.readouterr().out
    assert ("nothing to compare" in printed) == (threads == 1)
    assert ("2 rows, 3x4x2" in printed) == (threads == 2)
