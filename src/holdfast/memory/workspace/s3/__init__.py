"""Notes in a bucket of an S3 server: MinIO, SeaweedFS, AWS and what else speaks their protocol."""
