"""Attention maps in a notebook, as a widget: the same module as in pages, by way of anywidget."""

import importlib
from typing import Any

from saccade.base.errors import InputError
from saccade.look.page import Shown, module_source, page_data


def widget(panels: Shown) -> Any:
    """A widget of Jupyter and its kin; set its `data` to `page_data(...)` to show something else in its place."""
    try:
        anywidget = importlib.import_module("anywidget")
        traitlets = importlib.import_module("traitlets")
    except ImportError:
        raise InputError("widget: anywidget is not installed; pip install 'saccade[notebook]'") from None
    kind = type(
        "AttentionWidget",
        (anywidget.AnyWidget,),
        {"_esm": module_source(), "data": traitlets.Dict().tag(sync=True)},
    )
    return kind(data=page_data(panels))
