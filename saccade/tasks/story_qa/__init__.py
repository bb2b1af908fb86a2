"""Story questions: stories with questions in, a memory network out (End-To-End Memory Networks)."""

COMMANDS = {
    "ask": "answer a question about a story",
}
