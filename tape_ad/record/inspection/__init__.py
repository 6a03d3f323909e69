"""Looking inside a record: nodes, profiles, the origin of a nan, pages that show them."""
