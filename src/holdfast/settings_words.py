"""The groups of settings, as pages and documents show them. A setting that is in none is among the others."""

# What people set in daily life; all the rest is folded away until it is looked for.
EVERYDAY = frozenset(
    {
        "model", "titles", "memory", "memory_limit", "profile_learns", "searxng",
        "retention_days", "backup_days", "language", "require_key",
    }
)  # fmt: skip

GROUPS: dict[str, tuple[str, ...]] = {
    "window": ("preset", "level_1", "level_2", "level_3_ahead", "level_3", "reserve", "recall_share"),
    "servers": (
        "upstream", "upstream_key", "upstreams", "upstream_keys", "model", "helper_model", "titles",
        "parallel", "upstream_parallel", "stall_timeout", "max_answer_mb", "keep_alive", "embedded_model",
        "embedded_window",
    ),
    "memory": (
        "memory", "memory_limit", "memory_gate", "flush_enabled", "profile_learns", "index_conversations",
        "notes_paths", "search_weights", "citations",
        "embedder", "embedder_model", "embedder_key", "embedder_headers", "embedder_timeout",
        "embedder_dimensions", "embedder_prompts", "embedder_batch", "embedder_batch_wait",
        "embedder_batch_poll", "embedder_batch_timeout", "embedder_batch_concurrency", "vectors",
        "vectors_key", "vectors_collection", "vectors_extension",
        "memory_backend", "qmd_command", "qmd_mode", "qmd_paths", "qmd_scope", "qmd_limit", "qmd_snippet",
        "qmd_characters", "qmd_timeout", "qmd_interval", "qmd_debounce", "qmd_embed_interval",
        "qmd_update_timeout",
    ),
    "research": ("searxng", "research_private", "file_roots", "file_references"),
    "access": (
        "host", "port", "key", "require_key", "trust_forwarded_users", "allowed_hosts", "cors_origins",
        "max_request_mb", "max_messages", "unread", "heartbeat", "mcp",
    ),
    "data": (
        "retention_days", "retention_memories", "backup_days", "home", "store", "models_dir", "workspace",
        "s3_endpoint", "s3_region", "s3_key", "s3_secret", "s3_path_style",
    ),
    "other": ("language", "log_level"),
}  # fmt: skip


def group_of(name: str) -> str:
    return next((group for group, names in GROUPS.items() if name in names), "other")
