"""HiMe's upper layers over HTTP, with the interface of the published task server, so that a robot's client for that one
works against any of our variants. `shapes` is what goes over the wire, `pictures` what is accepted as a picture, `tasks` what
happens to a task, `store` how it survives the process, `app` the routes."""
