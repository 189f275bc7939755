"""Speed and memory, each as a ratio against something plain in the same run."""
