"""What is derived from weights is made once, for many threads, and never used for weights that have changed."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from saccade.runtime.modules import all_modules
from saccade.runtime.prepared import Prepared, PreparedCache, derived, in_use, running_in


def frozen() -> nn.Sequential:
    return nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 3)).requires_grad_(requires_grad=False)


def test_a_net_at_rest_is_prepared_once_for_each_precision() -> None:
    cache, net = PreparedCache(), frozen()
    first = cache.of(net, "float32")
    assert cache.of(net, "float32") is first
    assert cache.of(net, "int8") is not first
    assert cache.of(net, "int8") is cache.of(net, "int8")
    assert cache.of(frozen(), "float32") is not first


def write_in_place(net: nn.Sequential) -> None:
    net.get_parameter("0.weight").mul_(2)


def load_others(net: nn.Sequential) -> None:
    net.load_state_dict(frozen().state_dict())


def hook(net: nn.Sequential) -> None:
    net[2].register_forward_hook(lambda module, inputs, output: None)


def replace_part(net: nn.Sequential) -> None:
    net[0] = nn.Linear(5, 7).requires_grad_(requires_grad=False)


def replace_weight(net: nn.Sequential) -> None:
    net[0].weight = nn.Parameter(torch.zeros(7, 5), requires_grad=False)


def other_dtype(net: nn.Sequential) -> None:
    net.double()


@pytest.mark.parametrize("change", [write_in_place, load_others, hook, replace_part, replace_weight, other_dtype])
def test_a_net_that_has_changed_is_prepared_anew(change: Callable[[nn.Sequential], None]) -> None:
    cache, net = PreparedCache(), frozen()
    before = cache.of(net, "float32")
    change(net)
    assert cache.of(net, "float32") is not before


def test_of_a_net_that_learns_nothing_is_kept() -> None:
    """A fused optimizer changes weights without a trace."""
    cache, net = PreparedCache(), frozen()
    net[2].weight.requires_grad_()
    assert cache.of(net, "float32") is not cache.of(net, "float32")


def test_a_step_of_an_optimizer_is_noticed_though_it_leaves_no_trace() -> None:
    cache, net = PreparedCache(), frozen()
    before, weight = cache.of(net, "float32"), net.get_parameter("0.weight")
    weight.requires_grad_()
    weight.grad = torch.ones_like(weight)
    version = weight._version
    torch.optim.Adam([weight], fused=True).step()
    assert weight._version == version  # or else the steps need not be counted
    weight.requires_grad_(False)  # noqa: FBT003 - the tensor's own has no name for it
    assert cache.of(net, "float32") is not before


def test_something_is_in_use_where_numbers_are_computed_without_gradients() -> None:
    prepared = Prepared("int8")
    with prepared.use():
        assert in_use() is None  # gradients are on
        with torch.no_grad():
            assert in_use() is prepared
            with running_in("int8"):
                assert in_use() is prepared
            with running_in("float32"):
                inside = in_use()
                assert inside is not None
                assert inside.precision == "float32"
            with pytest.raises(KeyError), Prepared("exact").use():
                raise KeyError
            assert in_use() is prepared
    assert in_use() is None


def test_what_is_derived_from_a_module_is_made_once_where_it_can_be_kept() -> None:
    net, made = frozen(), []

    def make() -> int:
        made.append(1)
        return len(made)

    with torch.no_grad(), Prepared("float32").use():
        assert [derived(net[0], make), derived(net[2], make), derived(net[0], make)] == [1, 2, 1]
    with torch.no_grad():
        assert [derived(net[0], make), derived(net[0], make)] == [3, 4]


def test_no_module_is_taken_for_one_that_is_gone() -> None:
    """The next module may well get the identity of the last."""
    prepared = Prepared("float32")
    with torch.no_grad(), prepared.use():
        for number in range(50):
            assert derived(nn.Linear(2, 2), lambda number=number: number) == number


def test_threads_that_ask_at_the_same_time_get_one_thing() -> None:
    prepared, ready, made = Prepared("float32"), threading.Barrier(8), []

    def make() -> object:
        made.append(1)
        return object()

    def ask() -> object:
        ready.wait()
        return prepared.once("key", make)

    with ThreadPoolExecutor(8) as pool:
        found = {id(one.result()) for one in [pool.submit(ask) for _ in range(8)]}
    assert len(found) == len(made) == 1


def test_all_modules_are_those_of_torch() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 5)), nn.Dropout())
    net.register_module("nothing", None)
    assert set(all_modules(net)) == set(net.modules())
    assert len(all_modules(net)) == 6
