"""Weight files of other programs, read and written: the course's framework, TDL2048-Demo and TDL2048+."""
