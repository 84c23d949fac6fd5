"""One use case a file. Rules live below, words live above."""
