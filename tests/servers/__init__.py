"""Real servers for tests: started on loopback, thrown away afterwards."""
