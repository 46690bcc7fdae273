//! Frontier, workbench, politeness, robots, fetch, agents.
