"""Plain text by name."""

from saccade.tasks.public_set import PublicSet, Published

TINYSHAKESPEARE = PublicSet(
    name="tinyshakespeare",
    about="a million characters of Shakespeare's plays (Karpathy 2015)",
    rights="public domain",
    page="https://github.com/karpathy/char-rnn, data/tinyshakespeare/input.txt",
    files=[
        Published(
            "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
            "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
            named="tinyshakespeare.txt",
        )
    ],
    megabytes=2,
    most_megabytes=4,
    place=lambda path: "tinyshakespeare.txt" if path.name in ("tinyshakespeare.txt", "input.txt") else None,
)

PUBLIC = (TINYSHAKESPEARE,)
