"""Which layer a node belongs to."""

from tape_ad.record.inspection.pages.lines import Group, grouped, layers_of, split


def test_names_are_taken_apart_at_slashes_and_dots() -> None:
    assert split("model/encoder.0.weight") == ("model", "encoder", "0", "weight")


def test_what_follows_a_layer_stays_in_it_until_the_next() -> None:
    names = {0: "a/w", 1: "b/w"}
    parents = [(), (), (), (2, 0), (3,), (4, 1), (5,)]  # x @ a, tanh, @ b, tanh
    assert layers_of(parents, names)[3:] == [("a",), ("a",), ("b",), ("b",)]


def test_a_sum_of_two_branches_leaves_both() -> None:
    names = {0: "block/0/w", 1: "block/1/w"}
    parents = [(), (), (), (2, 0), (3, 1), (3, 4)]
    assert layers_of(parents, names)[5] == ("block",)


def test_parameters_of_one_layer_within_another_meet_in_the_outer() -> None:
    names = {0: "attention.in_proj_weight", 1: "attention.out_proj.weight"}
    parents = [(), (), (), (2, 0), (3, 3), (4, 1)]
    assert layers_of(parents, names)[3:] == [
        ("attention",),
        ("attention",),
        ("attention", "out_proj"),
    ]


def test_decay_of_all_parameters_belongs_to_what_they_have_in_common() -> None:
    names = {0: "a/w", 1: "b/w"}
    parents = [(), (), (0,), (1,), (2, 3)]
    assert layers_of(parents, names) == [("a",), ("b",), ("a",), ("b",), ()]


def test_data_belong_to_no_layer_and_take_nothing_along() -> None:
    assert layers_of([(), (0,), (), (1, 2)], {2: "a/w"}) == [(), (), ("a",), ("a",)]


def test_a_layer_stands_where_its_first_computation_does() -> None:
    layers = [("b",), ("a",), (), ("a",), ("b",), ()]
    leaves = [True, True, True, False, False, False]
    a, b = Group(("a",), [1, 3]), Group(("b",), [0, 4])
    assert repr(grouped(layers, leaves)) == repr(Group((), [2, a, b, 5]))


def test_layers_within_layers_are_gathered_though_they_are_used_again() -> None:
    layers = [("a", "x"), ("a",), ("b",), ("a", "x")]
    inner = Group(("a", "x"), [0, 3])
    expected = Group((), [Group(("a",), [inner, 1]), Group(("b",), [2])])
    found = grouped(layers, [False] * 4)
    assert repr(found) == repr(expected)
    assert found.nodes == [0, 3, 1, 2]


def test_nothing_is_grouped_to_nothing() -> None:
    assert grouped(layers_of([], {}), []).members == []


def test_a_plain_input_makes_what_is_computed_with_it_no_parameter() -> None:
    names = {0: "a/w", 1: "b/w"}
    parents = [(), (), (0,), (1,), (2, 3)]  # x @ a, then b transposed, and their product
    assert layers_of(parents, names, {2})[4] == ("b",)
    assert layers_of(parents, names)[4] == ()


def test_a_parameter_itself_says_more_than_what_was_made_of_others() -> None:
    names = {0: "a/w", 1: "b/w"}
    assert layers_of([(), (), (0,), (2, 1)], names)[3] == ("b",)
