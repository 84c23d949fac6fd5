"""Every word a person reads, in Chinese and English."""
