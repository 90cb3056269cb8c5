"""Words for the page `settings`."""

WORDS: dict[str, tuple[str, str]] = {
    "found": ("{n} settings", "{n} Einstellungen"),
    "one_change": ("One change", "Eine Änderung"),
    "changes": ("{n} changes", "{n} Änderungen"),
    "undo": ("Undo", "Rückgängig"),
    "take_back": ("Take it back", "Zurücknehmen"),
    "from_default": ("default", "Standard"),
    "from_page": ("set here", "hier gesetzt"),
    "from_file_by": ("from {by}", "aus {by}"),
    "from_environment_by": ("set by {by}", "gesetzt durch {by}"),
    "from_command_line_by": ("set by whoever started the server", "beim Start des Servers gesetzt"),
    "from_elsewhere": ("only in the file or the environment", "nur in der Datei oder der Umgebung"),
    "from_signed_in": ("only after signing in", "nur nach dem Anmelden"),
    "pending": ("after a restart", "nach einem Neustart"),
    "pending_now": ("after a restart; now {now}", "nach einem Neustart; jetzt {now}"),
    "of_preset": ("the preset's", "der der Voreinstellung"),
    "secret_set": ("•••• is set", "•••• ist gesetzt"),
    "secret_none": ("none", "keiner"),
    "choice_auto": ("automatic", "automatisch"),
    "choice_en": ("English", "Englisch"),
    "choice_de": ("German", "Deutsch"),
    "choice_keep": ("keep", "behalten"),
    "choice_forget": ("forget", "vergessen"),
    "retention_title": ("Delete old conversations?", "Alte Gespräche löschen?"),
    "retention_text": (
        (
            "After the next start, conversations in which nobody spoke for {n} days are deleted, word for"
            " word, and from then on every day. They cannot be brought back."
        ),
        (
            "Nach dem nächsten Start werden Gespräche gelöscht, in denen seit {n} Tagen niemand "
            "gesprochen hat, Wort für Wort, und von da an jeden Tag. Sie lassen sich nicht zurückholen."
        ),
    ),
    "retention_yes": ("Yes, delete", "Ja, löschen"),
    "restart_needed": (
        "Some of what is set holds after a restart of the server.",
        "Einiges von dem, was gesetzt ist, gilt nach einem Neustart des Servers.",
    ),
    "restart_by_hand": (
        "Some of what is set holds after a restart. Restart the program that runs the server.",
        (
            "Einiges von dem, was gesetzt ist, gilt nach einem Neustart. Starten Sie das Programm neu, in"
            " dem der Server läuft."
        ),
    ),
    "restart_now": ("Restart now", "Jetzt neu starten"),
    "restart_title": ("Restart the server?", "Server neu starten?"),
    "restart_text": (
        "It takes a few seconds. Answers that are being written have a moment to end.",
        "Das dauert einige Sekunden. Antworten, die gerade entstehen, haben einen Moment, um zu enden.",
    ),
    "restart_moved": (
        (
            "The address changes: this page will be found at the new one. Answers that are being written "
            "have a moment to end."
        ),
        (
            "Die Adresse ändert sich: Diese Seite ist danach unter der neuen zu finden. Antworten, die "
            "gerade entstehen, haben einen Moment, um zu enden."
        ),
    ),
    "restarting": ("The server starts anew …", "Der Server startet neu …"),
    "restarted": ("The server runs with the new settings.", "Der Server läuft mit den neuen Einstellungen."),
    "restart_failed": (
        "The server is not back yet; look at its log.",
        "Der Server ist noch nicht zurück; sein Protokoll sagt mehr.",
    ),
    "restart_refused": (
        "The server could not start like this and goes on as before; look at its log.",
        "So konnte der Server nicht starten, er läuft wie zuvor weiter; sein Protokoll sagt mehr.",
    ),
    "in_force": ("In force", "In Kraft"),
    "would_be": ("With these settings", "Mit diesen Einstellungen"),
    "window_tokens": ("Window (tokens)", "Fenster (Token)"),
    "preview_table": ("Before and after in numbers", "Vorher und nachher in Zahlen"),
    "figure_reserve": ("kept for the answer", "für die Antwort frei"),
    "figure_prune": ("shortens from", "kürzt ab"),
    "figure_leave_out": ("leaves out from", "lässt weg ab"),
    "figure_ahead": ("sums up while idle from", "fasst in Ruhe zusammen ab"),
    "figure_summarise": ("sums up at once from", "fasst sofort zusammen ab"),
    "server_well": ("Answers, {n} models", "Antwortet, {n} Modelle"),
    "server_away": ("Does not answer", "Antwortet nicht"),
    "server_unknown": ("Not asked yet", "Noch nicht gefragt"),
    "server_seen": ("last heard of {at}", "zuletzt gehört {at}"),
    "no_server": (
        "No model server was found; the small model inside answers.",
        "Kein Modellserver gefunden; das kleine eingebaute Modell antwortet.",
    ),
    "gate": ("may be told memories", "darf Erinnerungen erfahren"),
    "no_keys": ("There are no keys yet.", "Es gibt noch keine Schlüssel."),
    "key_unnamed": ("without a name", "ohne Namen"),
    "key_user": ("user {user}", "Nutzer {user}"),
    "key_project": ("project {project}", "Projekt {project}"),
    "key_rate": ("{n} a minute", "{n} pro Minute"),
    "key_used": ("last used {at}", "zuletzt benutzt {at}"),
    "key_unused": ("never used", "nie benutzt"),
    "key_admin": ("administrator", "Verwaltung"),
    "key_forwarder": ("speaks for others", "spricht für andere"),
    "key_files": ("files", "Dateien"),
    "key_no_memory": ("without memory", "ohne Gedächtnis"),
    "key_off": ("passed through", "durchgereicht"),
    "key_crowded": (
        "Several people come through this key and share one memory. Make it one that speaks for others.",
        (
            "Mehrere Personen kommen mit diesem Schlüssel und teilen ein Gedächtnis. Besser ist einer, "
            "der für andere spricht."
        ),
    ),
    "key_revoke": ("Revoke", "Widerrufen"),
    "key_revoke_named": ("Revoke the key {name}", "Schlüssel {name} widerrufen"),
    "key_revoke_title": ("Revoke this key?", "Diesen Schlüssel widerrufen?"),
    "key_revoke_text": (
        "Whoever has {name} cannot come in any more, at once.",
        "Wer {name} hat, kommt ab sofort nicht mehr herein.",
    ),
    "key_new": ("A new key", "Ein neuer Schlüssel"),
    "sign_in": ("Sign in", "Anmelden"),
    "key_sign_in": (
        "Keys are made by who knows the password. Sign in with it first.",
        "Schlüssel legt an, wer das Passwort kennt. Bitte erst damit anmelden.",
    ),
    "key_needs_password": (
        "Keys are made by who knows the password, and there is none yet. Set one first.",
        "Schlüssel legt an, wer das Passwort kennt, und noch gibt es keines. Bitte erst eines setzen.",
    ),
    "key_make": ("Make it", "Anlegen"),
    "key_made": ("The key is made.", "Der Schlüssel ist angelegt."),
    "key_once": (
        "This is the key. It is shown only now: copy it before you go on.",
        "Das ist der Schlüssel. Er wird nur jetzt gezeigt: bitte kopieren, bevor es weitergeht.",
    ),
    "key_hide": ("I have it", "Ich habe ihn"),
    "key_field_name": ("Name, to tell it apart", "Name, zum Unterscheiden"),
    "key_field_user": ("Whose conversations and memories", "Wessen Gespräche und Erinnerungen"),
    "key_field_project": ("Only this project (empty: any)", "Nur dieses Projekt (leer: alle)"),
    "key_field_rate": ("Requests a minute (0: no limit)", "Anfragen pro Minute (0: unbegrenzt)"),
    "key_switch_admin": ("may manage this server", "darf diesen Server verwalten"),
    "key_switch_forwarder": ("says for whom it asks (Open WebUI)", "sagt, für wen es fragt (Open WebUI)"),
    "key_switch_files": ("may point at files on this machine", "darf auf Dateien dieses Rechners zeigen"),
    "key_switch_memory": ("with memory", "mit Gedächtnis"),
    "key_switch_off": ("pass everything through untouched", "alles unverändert durchreichen"),
    "password_there": (
        "A password is set. Browsers elsewhere come in with it.",
        "Ein Passwort ist gesetzt. Browser anderswo melden sich damit an.",
    ),
    "password_none": (
        "There is none. On this machine none is needed; browsers elsewhere cannot come in without.",
        "Es gibt keines. Auf diesem Rechner ist keines nötig; Browser anderswo kommen ohne nicht herein.",
    ),
    "password_change": ("Change it …", "Ändern …"),
    "password_choose": ("Set one …", "Eines setzen …"),
    "password_differs": ("The two are not the same.", "Die beiden sind nicht gleich."),
    "password_set": ("The password is set.", "Das Passwort ist gesetzt."),
    "password_current": ("The password in use", "Das bisherige Passwort"),
    "password_remove": ("Remove it", "Entfernen"),
    "password_remove_title": ("Remove the password?", "Passwort entfernen?"),
    "password_remove_text": (
        "Browsers on other machines cannot come in any more, and all sessions end.",
        "Browser auf anderen Rechnern kommen dann nicht mehr herein, und alle Sitzungen enden.",
    ),
}
