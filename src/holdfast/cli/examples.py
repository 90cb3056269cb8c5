"""Examples for every command, as people would type them. Ids stand for those that a list shows.

Each is read by the commands in a test, so that none is out of date.
"""

from collections.abc import Mapping, Sequence

EXAMPLES: Mapping[str, Sequence[str]] = {
    "ask": (
        'holdfast ask "What is a mutex?"',
        'git diff | holdfast ask "Review this"',
        'holdfast ask "Explain @./engine.py:Engine.turn" --json',
        'holdfast ask -q "One word: yes or no?" && echo answered',
    ),
    "chat": (
        "holdfast chat",
        "holdfast chat -m qwen3:8b",
        "holdfast chat -c c_01h8xk",
        'printf "Hello\\n/window\\n" | holdfast chat',
    ),
    "serve": (
        "holdfast serve",
        "holdfast serve --port 8080 --upstream http://127.0.0.1:11434",
        "holdfast serve --for-docker",
    ),
    "mcp": (
        "holdfast mcp",
        "holdfast mcp --project lease-3f2a1b",
        "holdfast mcp --http --port 8080",
    ),
    "demo": ("holdfast demo", "holdfast demo --fast"),
    "count": ("holdfast count notes.md", "git diff | holdfast count -m qwen3:8b -"),
    "window": ("holdfast window c_01h8xk", "holdfast window c_01h8xk --summary"),
    "jobs": ("holdfast jobs", "holdfast jobs --status failed --json"),
    "doctor": ("holdfast doctor", "holdfast doctor --json"),
    "config": ("holdfast config", "holdfast config --json"),
    "password": ("holdfast password", "printf '%s' \"$PASSWORD\" | holdfast password --stdin"),
    "conversations": ("holdfast conversations list", "holdfast conversations search lease"),
    "conversations list": ("holdfast conversations list", "holdfast conversations list --limit 100 --json"),
    "conversations show": ("holdfast conversations show c_01h8xk",),
    "conversations search": (
        "holdfast conversations search lease",
        "holdfast conversations search '\"never push to main\"' --limit 5",
    ),
    "conversations rename": ("holdfast conversations rename c_01h8xk The new flat",),
    "conversations delete": (
        "holdfast conversations delete c_01h8xk",
        "holdfast conversations delete c_01h8xk --yes --forget",
    ),
    "conversations fork": (
        "holdfast conversations fork c_01h8xk",
        'holdfast conversations fork c_01h8xk 12 --title "Another way"',
    ),
    "conversations prune": (
        "holdfast conversations prune --older-than 90d --dry-run",
        "holdfast conversations prune --older-than 1y --memories forget --yes",
    ),
    "conversations switch": (
        "holdfast conversations switch c_01h8xk --no-memory",
        "holdfast conversations switch c_01h8xk --off",
    ),
    "conversations compact": ("holdfast conversations compact c_01h8xk",),
    "conversations pin": ("holdfast conversations pin c_01h8xk 3",),
    "conversations unpin": ("holdfast conversations unpin c_01h8xk 3",),
    "conversations undo": (
        "holdfast conversations undo c_01h8xk",
        "holdfast conversations undo c_01h8xk d_01h8zz",
    ),
    "conversations expand": (
        "holdfast conversations expand c_01h8xk",
        "holdfast conversations expand c_01h8xk 12",
    ),
    "memory": ("holdfast memory add The lease ends in May", "holdfast memory search lease"),
    "memory add": (
        "holdfast memory add The lease ends in May",
        "holdfast memory add I prefer short answers --kind preference --scope user",
    ),
    "memory list": ("holdfast memory list", "holdfast memory list --kind decision --json"),
    "memory show": ("holdfast memory show m_01h8xk",),
    "memory edit": (
        "holdfast memory edit m_01h8xk",
        "holdfast memory edit m_01h8xk The lease ends in June",
        "holdfast memory edit m_01h8xk --pin",
    ),
    "memory proposals": ("holdfast memory proposals",),
    "memory replace": ("holdfast memory replace m_01h8xk",),
    "memory keep-both": ("holdfast memory keep-both m_01h8xk",),
    "memory forget": ("holdfast memory forget m_01h8xk", "holdfast memory forget m_01h8xk --yes"),
    "memory clear": ("holdfast memory clear", "holdfast memory clear --scope user"),
    "memory stats": ("holdfast memory stats",),
    "memory export": (
        "holdfast memory export -o memories.json",
        "holdfast memory export --format markdown",
    ),
    "memory import": (
        "holdfast memory import memories.json",
        "holdfast memory import - < notes.md",
    ),
    "memory search": (
        "holdfast memory search when does the lease end",
        "holdfast memory search lease --within all --json",
    ),
    "memory reindex": ("holdfast memory reindex",),
    "profile": ("holdfast profile show", "holdfast profile set name Ada"),
    "profile show": ("holdfast profile show",),
    "profile set": (
        "holdfast profile set name Ada",
        'holdfast profile set languages "[German, English]"',
    ),
    "profile edit": ("holdfast profile edit",),
    "profile proposals": ("holdfast profile proposals",),
    "profile accept": ("holdfast profile accept p_01h8xk",),
    "profile dismiss": ("holdfast profile dismiss p_01h8xk",),
    "research": ('holdfast research ask "Who won the marathon?"', "holdfast research list"),
    "research ask": (
        'holdfast research ask "Who won the marathon?" --mode deep',
        'holdfast research ask "What is new?" -s https://example.org/news -s ./notes.pdf',
    ),
    "research add": (
        'holdfast research add "What does the lease say?" lease.pdf https://example.org/law',
        'holdfast research add "What did they decide?" - < minutes.txt',
    ),
    "research list": ("holdfast research list", "holdfast research list --text lease --json"),
    "research show": ("holdfast research show r_01h8xk --texts",),
    "research forget": ("holdfast research forget r_01h8xk",),
    "research prune": ("holdfast research prune",),
    "files": ("holdfast files show @./engine.py", "holdfast files list c_01h8xk"),
    "files show": (
        "holdfast files show @./engine.py",
        'holdfast files show "./my notes.md:summary"',
        "holdfast files show @./src/:tree",
    ),
    "files list": ("holdfast files list c_01h8xk",),
    "models": ("holdfast models", "holdfast models show qwen3:8b", "holdfast models get"),
    "models list": ("holdfast models list", "holdfast models list --json"),
    "models show": ("holdfast models show qwen3:8b",),
    "models set": (
        "holdfast models set qwen3:8b --num-ctx 16384",
        "holdfast models set qwen3:8b --num-ctx 0",
    ),
    "models get": ("holdfast models get",),
    "keys": ('holdfast keys create --name "Open WebUI"', "holdfast keys list"),
    "keys create": (
        'holdfast keys create --name "Open WebUI" --forwarder',
        "holdfast keys create --name laptop --user ada --rate 60/min",
    ),
    "keys list": ("holdfast keys list",),
    "keys revoke": ("holdfast keys revoke k_01h8xk",),
    "import": (
        "holdfast import ~/Downloads/chatgpt-export.zip --dry-run",
        "holdfast import ollama-prompt ~/.config/ollama-prompt/sessions.db",
        "holdfast import openclaw ~/.openclaw",
        "holdfast import markdown notes/ --memories",
    ),
    "backup": ("holdfast backup create", "holdfast backup check holdfast-2026-02-24-090000.zip"),
    "backup create": ("holdfast backup create", "holdfast backup create /mnt/backups/holdfast.zip --json"),
    "backup check": ("holdfast backup check holdfast.zip",),
    "backup restore": (
        "holdfast --home /srv/holdfast backup restore holdfast.zip",
        "holdfast backup restore holdfast.zip --overwrite",
    ),
    "backup finish": ("holdfast backup finish",),
    "migrate": (
        "holdfast migrate --to postgresql://holdfast:…@db/holdfast",
        "holdfast migrate --to sqlite:///holdfast.db --notes notes --switch",
        "holdfast migrate --notes s3://bucket/notes",
    ),
    "users": ("holdfast users list", "holdfast users export ada"),
    "users list": ("holdfast users list", "holdfast users list --json"),
    "users export": ("holdfast users export ada", "holdfast users export ada ada.zip"),
    "users delete": ("holdfast users delete ada", "holdfast users delete ada --yes --backups"),
}
