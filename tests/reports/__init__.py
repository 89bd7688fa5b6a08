"""Reports on how well the parts that judge do, over real material checked by hand."""
