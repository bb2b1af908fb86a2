"""Line reading: strips with their text in, a reader out, by CTC or by attention."""

COMMANDS = {
    "read": "read lines of digits from images",
}
