"""Public pairs of sentences by name: Multi30k, Europarl, and what volunteers translated for Tatoeba."""

from pathlib import PurePosixPath

from saccade.tasks.public_set import PublicSet, Published
from saccade.tasks.translation.public_pairs import check_splits, split_europarl, split_tatoeba

_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"

MULTI30K = PublicSet(
    name="multi30k",
    about="31,000 captions of photographs in English, German and French (Elliott 2016)",
    rights="research and education, as Flickr30k",
    page="https://github.com/multi30k/dataset",
    files=[
        Published(f"{_MULTI30K}{name}.gz", sha256)
        for name, sha256 in {
            "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
            "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
            "train.fr": "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d",
            "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
            "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
            "val.fr": "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc",
            "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
            "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
            "test_2016_flickr.fr": "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6",
        }.items()
    ],
    megabytes=3,
    most_megabytes=64,
)

_EUROPARL = ("europarl-v7.fr-en.en", "europarl-v7.fr-en.fr", "train.en-fr.tsv", "by_length.en-fr.tsv")

EUROPARL = PublicSet(
    name="europarl-en-fr",
    about="what was said in the European Parliament, in English and French (Koehn 2005)",
    rights="free to use",
    page="https://www.statmt.org/europarl",
    # no checksum of the archive is known for sure
    files=[Published("https://www.statmt.org/europarl/v7/fr-en.tgz")],
    megabytes=200,
    most_megabytes=2048,
    place=lambda path: path.name if path.name in _EUROPARL else None,
    finish=split_europarl,
    check=check_splits,
)

# the languages of Tatoeba's larger lists: what they are called, and by the archive
_LANGUAGES = {
    "cs": ("Czech", "ces"),
    "de": ("German", "deu"),
    "es": ("Spanish", "spa"),
    "fr": ("French", "fra"),
    "it": ("Italian", "ita"),
    "ja": ("Japanese", "jpn"),
    "nl": ("Dutch", "nld"),
    "pl": ("Polish", "pol"),
    "pt": ("Portuguese", "por"),
    "ru": ("Russian", "rus"),
    "tr": ("Turkish", "tur"),
    "uk": ("Ukrainian", "ukr"),
    "zh": ("Chinese", "cmn"),
}


def _tatoeba(short: str, language: str, code: str) -> PublicSet:
    def place(path: PurePosixPath) -> str | None:
        return path.name if path.name == f"{code}.txt" else None

    return PublicSet(
        name=f"tatoeba-en-{short}",
        about=f"short sentences in English and {language}, translated by volunteers (Tatoeba)",
        rights="CC BY 2.0 France",
        page="https://www.manythings.org/anki",
        # no checksum: the list grows
        files=[Published(f"https://www.manythings.org/anki/{code}-eng.zip")],
        megabytes=8,
        most_megabytes=256,
        place=place,
        finish=split_tatoeba,
        check=check_splits,
    )


PUBLIC = (MULTI30K, EUROPARL, *(_tatoeba(short, *names) for short, names in _LANGUAGES.items()))
