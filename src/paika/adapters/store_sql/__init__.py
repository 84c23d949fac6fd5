"""The store on SQLite or PostgreSQL: open records resident in memory, everything durable in SQL."""
