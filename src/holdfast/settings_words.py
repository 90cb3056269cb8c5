"""What people are told of each setting beside the table in `config`: its help in German, and its group.

Words only. A setting that is missing here is told in English, among the others.
"""

GROUPS: dict[str, tuple[str, ...]] = {
    "window": ("preset", "level_1", "level_2", "level_3_ahead", "level_3", "reserve", "recall_share"),
    "servers": (
        "upstream", "upstream_key", "upstreams", "upstream_keys", "model", "helper_model", "parallel",
        "upstream_parallel", "stall_timeout", "keep_alive", "embedded_model", "embedded_window",
    ),
    "memory": (
        "memory", "memory_gate", "flush_enabled", "profile_learns", "index_conversations", "notes_paths",
        "search_weights", "citations",
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
        "max_request_mb", "unread", "heartbeat", "mcp",
    ),
    "data": (
        "retention_days", "retention_memories", "home", "store", "models_dir", "workspace", "s3_endpoint",
        "s3_region", "s3_key", "s3_secret", "s3_path_style",
    ),
    "other": ("language", "log_level"),
}  # fmt: skip

GERMAN: dict[str, str] = {
    "home": "Datenordner: Datenbank, Notizen, Modelle. Nur mit HOLDFAST_HOME oder --home.",
    "host": "Adresse, auf der der Server hört.",
    "port": "Port, auf dem der Server hört.",
    "key": "Schlüssel, den Clients senden müssen; auf jeder Adresse außer Loopback nötig.",
    "require_key": "Ob auch auf diesem Rechner ein Schlüssel oder ein Passwort nötig ist.",
    "trust_forwarded_users": "Ob Programme ohne eigenen Schlüssel sagen dürfen, für wen sie fragen (Open"
    " WebUI tut das).",
    "allowed_hosts": "Weitere Namen, auf die dieser Server hört, mehrere mit Kommas; .example.com für alle"
    " darunter.",
    "cors_origins": "Seiten, die diesen Server aus einem Browser benutzen dürfen, wie app://obsidian.md;"
    " mehrere mit Kommas.",
    "upstream": "Modellserver, z. B. http://127.0.0.1:11434, oder embedded. Leer: einen suchen.",
    "upstream_key": "Schlüssel, den der Modellserver verlangt.",
    "upstreams": "Mehrere Modellserver: NAME=ADRESSE oder ADRESSE, mit Kommas. Ein Modell geht an den ersten,"
    " der es hat; NAME/MODELL nennt den Server.",
    "upstream_keys": "Schlüssel dieser Server: NAME=SCHLÜSSEL, mit Kommas.",
    "model": "Modell für `ask` und `chat`. Leer: das erste, das der Modellserver nennt.",
    "store": "Datenbank: sqlite:///PFAD oder postgresql://… Leer: holdfast.db im Datenordner.",
    "workspace": "Wo die Notizen liegen: ein Ordner oder s3://bucket/prefix. Leer: workspace im Datenordner.",
    "s3_endpoint": "Adresse des S3-Servers, wie http://127.0.0.1:9000 für MinIO. Leer: AWS.",
    "s3_region": "Region des Buckets. Leer: us-east-1.",
    "s3_key": "Zugangsschlüssel des S3-Servers.",
    "s3_secret": "Geheimnis zu diesem Zugangsschlüssel.",
    "s3_path_style": "Ob der Bucket im Pfad der Adressen steht; aus: vor dem Namen des Servers.",
    "models_dir": "Ordner für Modelldateien. Leer: models im Datenordner.",
    "keep_alive": "Wie lange Ollama ein Modell im Speicher hält: 30m, 2h, -1 für immer. Leer: wie Ollama"
    " eingestellt ist.",
    "embedded_model": "Eine GGUF-Datei als eingebautes Modell anstelle von SmolLM2.",
    "embedded_window": "Kontextfenster des eingebauten Modells, in Token.",
    "preset": "Wann und wie ein langer Verlauf passend gemacht wird.",
    "level_1": "Anteil, ab dem alter Text gekürzt wird, als 0.5 oder 50%. Leer: der der Voreinstellung.",
    "level_2": "Anteil, ab dem das Unwichtigste weggelassen wird. Leer: der der Voreinstellung.",
    "level_3_ahead": "Anteil, ab dem in Ruhe eine Zusammenfassung entsteht. Leer: der der Voreinstellung.",
    "level_3": "Anteil, ab dem sofort zusammengefasst wird. Leer: der der Voreinstellung.",
    "reserve": "Token, die für die Antwort frei bleiben. 0: nach der Größe des Fensters.",
    "recall_share": "Anteil am Platz für das, was eine Frage von früher zurückholt. Leer: 30 % bei 4k, 25"
    " % bei"
    " 8k, 20 % darüber.",
    "helper_model": "Modell für Zusammenfassungen und Erinnerungen. Leer: das, mit dem gesprochen wird; ein"
    " anderes kann es verdrängen.",
    "memory": "Ob über ein Gespräch hinaus etwas behalten wird.",
    "embedder": "Was Erinnerungen nach Bedeutung findet: auto (nur lokal), embedded, off, ollama, openai,"
    " gemini, voyage, eine GGUF-Datei oder eine Adresse wie ollama+http://127.0.0.1:11434 oder"
    " openai+https://api.example.com/v1.",
    "embedder_model": "Embedding-Modell auf diesem Server. Leer: das dort übliche.",
    "embedder_key": "Schlüssel, den der Server des Embedders verlangt.",
    "embedder_headers": "Weitere Kopfzeilen für den Server des Embedders: Name: Wert; Anderer: Wert.",
    "embedder_timeout": "Sekunden, die der Embedder schweigen darf.",
    "embedder_dimensions": "Länge der Vektoren, wo das Modell sie offen lässt. 0: die dort übliche.",
    "embedder_prompts": "Was der Embedder vor Fragen und Texten liest: off oder query=search_query: "
    "|text=search_document: . Leer: was das Modell bekanntlich braucht.",
    "embedder_batch": "Ob viele Vektoren auf einmal als Batch-Jobs des Servers entstehen (OpenAI, Gemini):"
    " billiger, später.",
    "embedder_batch_wait": "Ob `memory reindex` auf diese Jobs wartet.",
    "embedder_batch_poll": "Sekunden zwischen zwei Blicken auf diese Jobs.",
    "embedder_batch_timeout": "Minuten, nach denen ein solcher Job aufgegeben wird.",
    "embedder_batch_concurrency": "Wie viele dieser Jobs zugleich laufen.",
    "vectors": "Was Vektoren vergleicht: auto (dieser Prozess), pgvector (die Datenbank, falls PostgreSQL)"
    " oder postgresql://…, qdrant+http://HOST:6333, qdrant:ORDNER, sqlite-vec.",
    "vectors_key": "Schlüssel, den der Qdrant-Server verlangt.",
    "vectors_collection": "Name der Collection in Qdrant.",
    "vectors_extension": "Datei von sqlite-vec. Leer: die des Pakets.",
    "memory_backend": "Wer antwortet, wenn Notizen durchsucht werden; QMD ist ein eigenes Programm"
    " (docs/qmd.md).",
    "qmd_command": "Wie QMD gestartet wird: ein Programm, mit Argumenten, falls es welche braucht.",
    "qmd_mode": "Wie QMD sucht: query (mit Modellen), vsearch (nach Bedeutung), search (nach Wörtern; braucht"
    " kein Modell).",
    "qmd_paths": "Weitere Notizen für QMD: NAME=ORDNER oder NAME=ORDNER/**/*.md, mehrere mit dem"
    " Pfadtrennzeichen des Systems.",
    "qmd_scope": "Wem QMD antwortet, anderen wird wie üblich geantwortet: Regeln wie allow private, deny"
    " project=NAME, allow group=NAME; die erste passende entscheidet.",
    "qmd_limit": "Treffer, die QMD höchstens gibt.",
    "qmd_snippet": "Zeichen eines Treffers von QMD, höchstens.",
    "qmd_characters": "Zeichen aller Treffer von QMD zusammen, höchstens.",
    "qmd_timeout": "Sekunden, die QMD für eine Antwort hat; danach antwortet unsere Suche.",
    "qmd_interval": "Minuten zwischen zwei Blicken von QMD auf die Notizen.",
    "qmd_debounce": "Sekunden nach einer Änderung, bis QMD auf die Notizen blickt.",
    "qmd_embed_interval": "Minuten zwischen zwei Malen, in denen QMD Vektoren macht.",
    "qmd_update_timeout": "Sekunden, die QMD zum Lesen der Notizen hat, und für Vektoren.",
    "notes_paths": "Weitere Notizen zum Durchsuchen: Markdown-Dateien und Ordner, mehrere mit dem"
    " Pfadtrennzeichen des Systems.",
    "index_conversations": "Ob Gesagtes auch nach seiner Bedeutung gefunden wird; dafür wird es gelesen,"
    " während niemand wartet.",
    "search_weights": "Was Bedeutung und Wörter in einer Suche wert sind, als 0.7:0.3. Leer: was sich in"
    " Messungen bewährt hat.",
    "citations": "Ob Treffer einer Suche ihre Quelle nennen; auto: im Privaten, nicht in Gruppen.",
    "searxng": "Ein SearXNG, das Seiten für Recherchen findet, wie http://127.0.0.1:8080; es muss JSON"
    " anbieten.",
    "research_private": "Ob Recherchen von diesem Rechner und aus privaten Netzen lesen dürfen: off, on oder"
    " nur Adressen und Netze wie 192.168.1.0/24, 10.0.0.5:8080.",
    "profile_learns": "Ob erwähnte Vorlieben ohne Rückfrage ins Profil kommen.",
    "memory_gate": "Modellserver, die Erinnerungen erfahren dürfen oder nicht: adresse=on oder adresse=off,"
    " mehrere mit Kommas. Ohne Angabe: die auf diesem Rechner und in privaten Netzen, andere nicht.",
    "file_roots": "Ordner, auf deren Dateien Anfragen mit @ zeigen dürfen, mehrere mit dem Pfadtrennzeichen"
    " des Systems. Leer: keine; was auf der Kommandozeile getippt wird, erreicht alles, was diese Person"
    " lesen darf.",
    "file_references": "Ob auch Anfragen ohne eigenen Schlüssel auf Dateien zeigen dürfen (Schlüssel:"
    " --files).",
    "flush_enabled": "Ob aus dem, was ein Fenster verlässt, Erinnerungen entnommen werden.",
    "retention_days": "Tage, nach denen Gespräche gelöscht werden. 0: nie.",
    "retention_memories": "Was aus dem wird, was darin gelernt wurde.",
    "parallel": "Anfragen, die ein Modellserver gleichzeitig beantwortet; andere warten. 0: unbegrenzt.",
    "upstream_parallel": "Dasselbe für einzelne Server: NAME=ZAHL, mehrere mit Kommas.",
    "unread": "Sekunden, die ein Client Gesendetes ungelesen lassen darf, bevor er aufgegeben wird. 0: für"
    " immer.",
    "heartbeat": "Sekunden, nach denen ein Client, der auf einen Strom wartet, ein Lebenszeichen bekommt. 0:"
    " nie.",
    "stall_timeout": "Sekunden, die ein Modellserver schweigen darf, bevor eine Anfrage scheitert.",
    "max_request_mb": "Größte Anfrage, die angenommen wird, in Megabyte.",
    "mcp": "Ob der Server seine Werkzeuge unter /mcp für MCP-Programme anbietet.",
    "language": "Sprache dessen, was Menschen lesen.",
    "log_level": "Wie viel protokolliert wird.",
}


def group_of(name: str) -> str:
    return next((group for group, names in GROUPS.items() if name in names), "other")
