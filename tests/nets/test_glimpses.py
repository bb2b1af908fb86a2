"""Glimpses: what the retina sees, and what the loss teaches."""

import pytest
import torch
import torch.nn.functional as F

from saccade.nets import GlimpseSensor, RecurrentAttention, RecurrentAttentionOutput, glimpse_loss


def location_of(pixel: float, size: int) -> float:
    """Where the middle between pixels is, from -1 to 1."""
    return 2 * pixel / (size - 1) - 1


@pytest.mark.parametrize(("top", "left"), [(0, 0), (2, 3), (5, 1)])
def test_a_glimpse_is_a_piece_of_the_image(top: int, left: int):
    torch.manual_seed(0)
    image = torch.rand(1, 1, 9, 7)
    middle = torch.tensor([[location_of(left + 1.5, 7), location_of(top + 1.5, 9)]])
    wanted = F.pad(image, (0, 4, 0, 4))[0, 0, top : top + 4, left : left + 4]
    torch.testing.assert_close(GlimpseSensor(4, 1)(image, middle).view(4, 4), wanted)


def test_a_further_scale_is_twice_as_wide_and_half_as_sharp():
    torch.manual_seed(1)
    image = torch.rand(2, 1, 12, 12)
    middle = torch.tensor([[location_of(5.5, 12)] * 2] * 2)
    sharp, wide, widest = GlimpseSensor(2, 3)(image, middle).view(2, 3, 2, 2).unbind(1)
    torch.testing.assert_close(sharp, image[:, 0, 5:7, 5:7])
    torch.testing.assert_close(wide, F.avg_pool2d(image[:, 0, 4:8, 4:8], 2))
    torch.testing.assert_close(widest, F.avg_pool2d(image[:, 0, 2:10, 2:10], 4))


def test_outside_the_image_it_is_black():
    assert not GlimpseSensor(2, 1)(torch.ones(1, 1, 8, 8), torch.tensor([[3.0, 3.0]])).any()


def looker(**changes: int) -> RecurrentAttention:
    torch.manual_seed(2)
    options = {"classes": 3, "glimpses": 4, "patch_size": 3, "scales": 2, "dim": 10, **changes}
    return RecurrentAttention(**options, location_std=0.2)


def test_in_use_it_begins_in_the_middle_and_draws_nothing():
    net, images = looker().eval(), torch.rand(5, 1, 8, 8)
    one, other = net(images), net(images)
    assert not one.locations[:, 0].any()
    assert one.locations.shape == (5, 4, 2)
    assert (one.locations == other.locations).all()
    assert (one.logits == other.logits).all()
    torch.testing.assert_close(net(images[2:3]).logits, one.logits[2:3])


def test_in_training_locations_are_drawn_around_what_was_meant():
    net = looker(glimpses=2).train()
    with torch.no_grad():
        for layer in (net.next_location,):
            layer.weight.zero_()
            layer.bias.copy_(torch.tensor([0.5, -0.3]))
    output = net(torch.rand(4000, 1, 8, 8))
    drawn = output.locations[:, 1]
    torch.testing.assert_close(drawn.mean(0), torch.tanh(torch.tensor([0.5, -0.3])), atol=0.02, rtol=0)
    torch.testing.assert_close(drawn.std(0), torch.full((2,), 0.2), atol=0.02, rtol=0)
    assert drawn.abs().max() <= 1
    # the log probability is that of the normal distribution, up to its constant
    normal = torch.distributions.Normal(torch.tanh(net.next_location.bias.detach()), 0.2)
    inside = (drawn.abs() < 1).all(-1)
    wanted = normal.log_prob(drawn).sum(-1)
    off = (output.log_probs[:, 0] - wanted)[inside]
    torch.testing.assert_close(off, off[:1].expand_as(off), atol=1e-4, rtol=0)


def test_who_chooses_learns_by_reward_alone_and_everybody_learns():
    net = looker().train()
    labels = torch.tensor([0, 1, 2, 0, 1, 2])
    output = net(torch.rand(6, 1, 8, 8))
    F.cross_entropy(output.logits, labels, reduction="sum").backward(retain_graph=True)
    assert net.next_location.weight.grad is None  # locations are detached: no way from the class to the choice
    assert net.baseline.weight.grad is None
    net.zero_grad()
    (output.log_probs.sum() + output.baselines.sum()).backward(retain_graph=True)
    assert net.recurrent.weight.grad is None  # nor from the choice to the states
    glimpse_loss(output, labels, smoothing=0.0).backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in net.parameters())


def test_the_loss_is_its_formula():
    logits = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    output = RecurrentAttentionOutput(
        logits, torch.zeros(2, 3, 2), torch.tensor([[-1.0, -2.0], [-3.0, -4.0]]), torch.full((2, 2), 0.25)
    )
    labels = torch.tensor([0, 0])  # the first is right, the second wrong
    chosen = (1 * 0.75 + 2 * 0.75) + (3 * -0.25 + 4 * -0.25)
    off = 2 * 0.75**2 + 2 * 0.25**2
    wanted = F.cross_entropy(logits, labels, reduction="sum") + chosen + off
    torch.testing.assert_close(glimpse_loss(output, labels, smoothing=0.0), wanted)


def test_one_glimpse_has_nothing_to_choose():
    output = looker(glimpses=1).train()(torch.rand(2, 1, 8, 8))
    assert output.log_probs.shape == output.baselines.shape == (2, 0)
