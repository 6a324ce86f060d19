"""The parts that the model plays for robots that remember: planner with and without a memory, and Sentry. Everything comes
from the text of one request: the user's words, the plan, the records, and the lines below the frames that say what each
camera sees. Nothing here looks at pixels, knows a task or keeps anything."""
