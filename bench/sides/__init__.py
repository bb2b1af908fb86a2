"""One toolkit each, as a process that works when it is told to; `bench.race` starts them and lets them take turns."""
