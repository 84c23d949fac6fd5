"""How values of the house become text and come back; shared by the adapters that write them down."""
