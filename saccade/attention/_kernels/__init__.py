"""How the mechanism is computed fast. Each kernel has a plain counterpart that reads like the formula."""
