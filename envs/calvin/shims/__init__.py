"""What the published CALVIN code needs to run unmodified on this Python, without a display, torch or tacto. One module
each, with its reason; nothing of the checkouts is changed on disk or copied."""
