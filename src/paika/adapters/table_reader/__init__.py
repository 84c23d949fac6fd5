"""Lists as labs keep them: CSV in the encodings of the region, XLSX and XLS."""
