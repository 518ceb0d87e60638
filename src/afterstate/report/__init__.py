"""What people see: tables, blocks of statistics, plots."""
