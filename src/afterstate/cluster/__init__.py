"""More than one machine: evaluation, sweeps and training on Ray."""
