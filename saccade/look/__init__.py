"""Attention maps, and pictures of them: terminal, figure, HTML, notebook."""

from saccade.look.figure import FORMATS, draw_beside, draw_figure, figure_bytes, save_beside, save_figure
from saccade.look.links import METHODS, SYMMETRIZATIONS, as_pharaoh, links, symmetrize
from saccade.look.maps import KINDS, AttentionMap, Grid, Kind, drawable
from saccade.look.notebook import widget
from saccade.look.order import draw_order, save_order
from saccade.look.overlay import draw_overlay
from saccade.look.page import Panel, as_frame, as_page, page_data, save_page
from saccade.look.path import draw_path, save_path
from saccade.look.rollout import rollout
from saccade.look.saving import load_map, map_record, save_map
from saccade.look.subwords import merge_subwords
from saccade.look.terminal import draw, draw_text

__all__ = [
    "FORMATS",
    "KINDS",
    "METHODS",
    "SYMMETRIZATIONS",
    "AttentionMap",
    "Grid",
    "Kind",
    "Panel",
    "as_frame",
    "as_page",
    "as_pharaoh",
    "draw",
    "draw_beside",
    "draw_figure",
    "draw_order",
    "draw_overlay",
    "draw_path",
    "draw_text",
    "drawable",
    "figure_bytes",
    "links",
    "load_map",
    "map_record",
    "merge_subwords",
    "page_data",
    "rollout",
    "save_beside",
    "save_figure",
    "save_map",
    "save_order",
    "save_page",
    "save_path",
    "symmetrize",
    "widget",
]
