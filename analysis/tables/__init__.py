"""Tables of papers from rows: `entries` works them out, `layout` puts them in the paper's order, and `latex`,
`markdown`, `spreadsheet` and `page` write them."""
