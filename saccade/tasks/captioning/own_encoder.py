"""An image encoder of the user's own: any module that makes a grid of features of images."""

import copy

import torch
from torch import Tensor, nn

from saccade.base.errors import InputError
from saccade.nets import evaluating
from saccade.tasks.captioning.settings import CaptionerSettings, OwnEncoderSettings
from saccade.tasks.model import Modules

NAME = "image_encoder"  # among the modules


def own_encoder(settings: CaptionerSettings, modules: Modules, *, where: str, remedy: str) -> nn.Module | None:
    """A copy of the module, if the settings want one; None if they want none. One that does not fit is refused.

    where   wants it, such as a model's folder, in which its weights are, but not its code
    remedy  how it is handed over
    """
    wanted = settings.image_encoder
    strange = [name for name in modules if name != NAME]
    if strange:
        raise InputError(f"modules: found {strange[0]!r}, wanted {NAME}")
    if not isinstance(wanted, OwnEncoderSettings):
        if modules:
            raise InputError(f"modules: found an {NAME}, and {where} has {wanted.kind}; it wants {NAME}.kind=own")
        return None
    if NAME not in modules:
        called = f", {wanted.name}," if wanted.name else ""
        raise InputError(f"{where}: the image encoder{called} is one of somebody's own; hand it over: {remedy}")
    module = modules[NAME]
    _expect_grid(module, wanted)
    return copy.deepcopy(module)  # the user's own stays as it is, and may be handed over again


def named(settings: CaptionerSettings, module: nn.Module | None) -> CaptionerSettings:
    """The settings with the name of the module's class, so that who loads the model knows which one is missing."""
    encoder = settings.image_encoder
    if module is None or not isinstance(encoder, OwnEncoderSettings) or encoder.name:
        return settings
    encoder = encoder.model_copy(update={"name": type(module).__name__})
    return settings.model_copy(update={"image_encoder": encoder})


def _expect_grid(module: nn.Module, wanted: OwnEncoderSettings) -> None:
    size, side = wanted.image_size, wanted.side
    with evaluating(module):
        found = module(torch.zeros(1, 3, size, size))
    shape = list(found.shape) if isinstance(found, Tensor) else type(found).__name__
    if shape != [1, wanted.channels, side, side]:
        raise InputError(
            f"{NAME}: found {shape} for an image of {size} x {size}, wanted {[1, wanted.channels, side, side]}, as"
            f" {NAME}.channels and {NAME}.side say"
        )
