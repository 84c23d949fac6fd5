"""paika 排卡: queue and ledger for shared accelerator cards."""

__version__ = "0.1.0"
