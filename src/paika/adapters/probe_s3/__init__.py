"""Looks at what lies below a prefix of an S3 bucket."""
