"""mrag eval, annotate and compare: measuring, judging, and showing both."""
