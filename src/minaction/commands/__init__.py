"""What each command does; one module per command, imported only when it runs."""
