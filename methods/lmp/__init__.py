"""Language model programs: prompts, generation and the task API that generated code calls."""
