"""Attention maps, and pictures of them: terminal, figure, HTML, notebook."""

from saccade.look.figure import FORMATS, draw_beside, draw_figure, figure_bytes, save_beside, save_figure
from saccade.look.from_module import from_module
from saccade.look.from_transformers import from_transformers
from saccade.look.heads import PLACES, HeadMeasure, HeadMeasures, Reading, measure_heads
from saccade.look.landmarks import behind_a_start, find_landmarks
from saccade.look.links import METHODS, SYMMETRIZATIONS, as_pharaoh, links, symmetrize
from saccade.look.maps import KINDS, AttentionMap, Grid, Kind, drawable
from saccade.look.notebook import widget
from saccade.look.order import draw_order, save_order
from saccade.look.overlay import draw_overlay
from saccade.look.page import Panel, as_frame, as_page, page_data, save_page
from saccade.look.path import draw_path, save_path
from saccade.look.rollout import rollout
from saccade.look.saving import load_map, map_record, save_map
from saccade.look.strip import draw_surprise
from saccade.look.strip_figure import draw_surprise_figure, save_surprise
from saccade.look.subwords import merge_subwords
from saccade.look.surprise import ScoredTokens
from saccade.look.terminal import draw, draw_text

__all__ = [
    "FORMATS",
    "KINDS",
    "METHODS",
    "PLACES",
    "SYMMETRIZATIONS",
    "AttentionMap",
    "Grid",
    "HeadMeasure",
    "HeadMeasures",
    "Kind",
    "Panel",
    "Reading",
    "ScoredTokens",
    "as_frame",
    "as_page",
    "as_pharaoh",
    "behind_a_start",
    "draw",
    "draw_beside",
    "draw_figure",
    "draw_order",
    "draw_overlay",
    "draw_path",
    "draw_surprise",
    "draw_surprise_figure",
    "draw_text",
    "drawable",
    "figure_bytes",
    "find_landmarks",
    "from_module",
    "from_transformers",
    "links",
    "load_map",
    "map_record",
    "measure_heads",
    "merge_subwords",
    "page_data",
    "rollout",
    "save_beside",
    "save_figure",
    "save_map",
    "save_order",
    "save_page",
    "save_path",
    "save_surprise",
    "symmetrize",
    "widget",
]
