"""Words for the page `setup`."""

WORDS: dict[str, tuple[str, str]] = {
    "step_of": ("Step {n} of {all}", "Schritt {n} von {all}"),
    "begin": ("Let's begin", "Los geht's"),
    "next": ("Next", "Weiter"),
    "finish": ("Start chatting", "Zum Chat"),
    "change": ("Change", "Ändern"),
    "change_step": ("Change: {step}", "Ändern: {step}"),
    "password_here": (
        (
            "On this machine nobody is asked for it. It is needed as soon as other devices or a reverse "
            "proxy reach Holdfast: then a browser comes in with it. You can skip this now."
        ),
        (
            "Auf diesem Rechner fragt niemand danach. Nötig wird es, sobald andere Geräte oder ein "
            "Reverse-Proxy Holdfast erreichen: Dann meldet sich ein Browser damit an. Sie können das "
            "jetzt überspringen."
        ),
    ),
    "password_elsewhere": (
        "Others can reach this server. A browser comes in with this password; programs come in with keys.",
        (
            "Andere können diesen Server erreichen. Ein Browser meldet sich mit diesem Passwort an, "
            "Programme mit Schlüsseln."
        ),
    ),
    "password_short": ("A password has at least 8 characters.", "Ein Passwort hat mindestens 8 Zeichen."),
    "password_differs": ("The two are not the same.", "Die beiden sind nicht gleich."),
    "password_set": ("The password is set.", "Das Passwort ist gesetzt."),
    "looking": ("Looking for model servers …", "Modellserver werden gesucht …"),
    "no_server": (
        (
            "No model server was found. Until one runs, a small demonstration model answers. Start "
            "Ollama, llama.cpp or LM Studio, or name an address in the settings."
        ),
        (
            "Kein Modellserver gefunden. Bis einer läuft, antwortet ein kleines Vorführmodell. Starten "
            "Sie Ollama, llama.cpp oder LM Studio, oder nennen Sie in den Einstellungen eine Adresse."
        ),
    ),
    "to_settings": ("To the settings", "Zu den Einstellungen"),
    "server_well": ("Answers, {n} models", "Antwortet, {n} Modelle"),
    "server_away": ("Does not answer.", "Antwortet nicht."),
    "server_unknown": ("Not asked yet", "Noch nicht gefragt"),
    "only_here": (
        "Only programs on this machine reach it.",
        "Nur Programme auf diesem Rechner erreichen es.",
    ),
    "others_too": (
        "Other devices reach it, too, and need a key or the password.",
        "Auch andere Geräte erreichen es und brauchen einen Schlüssel oder das Passwort.",
    ),
    "for_ollama": ("Ollama clients", "Ollama-Clients"),
    "for_openai": ("OpenAI base URL", "OpenAI-Basisadresse"),
    "for_anthropic": ("Anthropic clients", "Anthropic-Clients"),
    "key_needed": (
        "Programs need a key: make one under Settings ▸ Access.",
        "Programme brauchen einen Schlüssel: unter Einstellungen ▸ Zugang anlegen.",
    ),
    "no_key_needed": (
        "No key is needed on this machine; programs that insist on one may send any word.",
        (
            "Auf diesem Rechner ist kein Schlüssel nötig; Programme, die einen verlangen, dürfen ein "
            "beliebiges Wort senden."
        ),
    ),
    "no_models": (
        "There is no model yet. Start a model server, or get the small one with `holdfast models get`.",
        (
            "Noch ist kein Modell da. Starten Sie einen Modellserver, oder holen Sie das kleine mit "
            "`holdfast models get`."
        ),
    ),
    "window_of": ("Window of {model} in tokens", "Fenster von {model} in Token"),
    "window_now": ("Window in use:", "Benutztes Fenster:"),
    "window_set": ("{model} now has a window of {n} tokens.", "{model} hat jetzt ein Fenster von {n} Token."),
    "window_fixed": (
        "This server decides its window when it starts.",
        "Dieser Server legt sein Fenster beim Start fest.",
    ),
    "use_recommended": ("Use the recommended {n}", "Empfohlene {n} nehmen"),
    "set_window": ("Set", "Setzen"),
    "leave_window": ("Leave it to Holdfast", "Holdfast überlassen"),
    "trained": ("trained for {n}", "trainiert für {n}"),
    "recommended": ("recommended {n}", "empfohlen {n}"),
    "by_you": ("set by you", "von Ihnen gesetzt"),
    "by_running": ("as it runs", "wie es läuft"),
    "by_modelfile": ("from its Modelfile", "aus seinem Modelfile"),
    "by_client": ("as a client asked", "wie ein Client es wollte"),
    "by_training": ("trained for no more", "für mehr nicht trainiert"),
    "by_knowledge": ("usual for this family", "für diese Familie üblich"),
    "by_size": ("usual for its size", "für seine Größe üblich"),
    "get_embedder": ("Get {model} and use it", "{model} holen und benutzen"),
    "use_embedder": ("Use {model}", "{model} benutzen"),
    "embedder_set": (
        "{model} is used after the next start; vectors are then made anew while nobody waits.",
        "{model} wird nach dem nächsten Start benutzt; Vektoren entstehen dann neu, während niemand wartet.",
    ),
    "keep_alive_kept": ("Set; it holds after the next start.", "Gesetzt; es gilt nach dem nächsten Start."),
    "keep_alive_elsewhere": ("Set by {where}.", "Gesetzt durch {where}."),
    "pulled": ("{model} is here.", "{model} ist da."),
    "sum_profile": ("What every private conversation begins with", "Womit jedes private Gespräch beginnt"),
    "sum_no_profile": ("No profile yet.", "Noch kein Profil."),
    "sum_password": ("Password", "Passwort"),
    "sum_has_password": ("Set.", "Gesetzt."),
    "sum_no_password": ("None; not needed on this machine.", "Keines; auf diesem Rechner nicht nötig."),
    "sum_network": ("Address", "Adresse"),
    "sum_models": ("Models and their windows", "Modelle und ihre Fenster"),
}
