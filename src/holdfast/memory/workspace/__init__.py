"""Notes as files a person can read: the seam they lie behind, and what stands in them."""
