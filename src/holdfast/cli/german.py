"""German translations of the `--help` texts, by their English text. Imported only when German is used.

A test checks that none is missing or stale.
"""

GERMAN: dict[str, str] = {
    # All commands
    "A context keeper for language models with small windows.": (
        "Hält den Kontext für Sprachmodelle mit kleinen Fenstern."
    ),
    "Exit codes: 0 all went well; 1 something failed, and was explained; 2 a misspelt command; "
    "3 no answer, or only a part of one; 130 interrupted.": (
        "Exit-Codes: 0 alles ging gut; 1 etwas ist gescheitert und wurde erklärt; 2 ein falsch geschriebener "
        "Befehl; 3 keine oder nur ein Teil einer Antwort; 130 abgebrochen."
    ),
    "Usage": "Aufruf",
    "Arguments": "Argumente",
    "Options": "Optionen",
    "Commands": "Befehle",
    "Show this message and exit.": "Diese Hilfe zeigen und enden.",
    "Data folder, instead of the usual one.": "Datenordner, statt des üblichen.",
    "Model server, instead of the one found.": "Modellserver, statt des gefundenen.",
    "Say the version and stop.": "Die Version nennen und enden.",
    "Install completion for the current shell.": "Vervollständigung für diese Shell einrichten.",
    "Show completion for the current shell, to copy it or customize the installation.": (
        "Vervollständigung für diese Shell zeigen, zum Kopieren oder Anpassen."
    ),
    "As JSON.": "Als JSON.",
    "Do not ask.": "Nicht nachfragen.",
    "How many at most.": "Wie viele höchstens.",
    "The model to ask.": "Das Modell, das gefragt wird.",
    "The model to count for.": "Das Modell, für das gezählt wird.",
    "Whose project this belongs to, instead of the folder's (`default`: none).": (
        "Zu welchem Projekt es gehört, statt zu dem des Ordners (`default`: keins)."
    ),
    "Only those that speak of this.": "Nur die, in denen es darum geht.",
    "How many of the newest to pass over.": "So viele der neuesten überspringen.",
    # chat, ask
    "Talk with a model; the conversation is kept and can be gone on with later.": (
        "Mit einem Modell sprechen; das Gespräch bleibt und kann später weitergehen."
    ),
    "Ask one question and print the answer.": "Eine Frage stellen und die Antwort ausgeben.",
    "The question. Piped text is added to it.": "Die Frage. Text aus einer Pipe kommt dazu.",
    "Instructions that stand above the talk.": "Anweisungen, die über dem Gespräch stehen.",
    "Go on with this one: its id, or a clear beginning.": (
        "Dieses Gespräch fortsetzen: seine Id oder ein eindeutiger Anfang."
    ),
    "Nothing beside the answer but errors.": "Neben der Antwort nichts außer Fehlern.",
    "The whole answer as JSON, not streamed.": "Die ganze Antwort als JSON, nicht nach und nach.",
    # serve, mcp, demo
    "Serve clients of Ollama and OpenAI, and keep what they say.": (
        "Programme bedienen, die Ollama oder OpenAI sprechen, und behalten, was gesagt wird."
    ),
    "Address to listen on.": "Adresse, auf der gehört wird.",
    "Port to listen on.": "Port, auf dem gehört wird.",
    "Let clients in containers in, and say what they need.": (
        "Programme in Containern einlassen, und sagen, was sie brauchen."
    ),
    "Offer memory, conversations and research to an MCP host, such as Claude Desktop, Cursor or Zed.": (
        "Gedächtnis, Gespräche und Recherche einem MCP-Host anbieten, etwa Claude Desktop, Cursor oder Zed."
    ),
    "Start the server, with MCP at /mcp, instead of standard input.": (
        "Den Server starten, mit MCP unter /mcp, statt der Standardeingabe."
    ),
    "Address to listen on, with --http.": "Adresse, auf der gehört wird, mit --http.",
    "Port to listen on, with --http.": "Port, auf dem gehört wird, mit --http.",
    "Whose memory it is.": "Wessen Gedächtnis es ist.",
    "A group, instead of a project: only what belongs to it is seen.": (
        "Eine Gruppe statt eines Projekts: nur was ihr gehört, ist zu sehen."
    ),
    "Watch a talk of 120 turns in a window of 8,192 tokens; exit code 1 if something was forgotten.": (
        "Einem Gespräch von 120 Zügen in einem Fenster von 8.192 Token zusehen; Exit-Code 1, wenn etwas "
        "vergessen wurde."
    ),
    "Nothing is needed for it, and nothing of it is left behind. The model is scripted, all else is real.": (
        "Nichts ist dafür nötig, und nichts davon bleibt zurück. Das Modell folgt einem Drehbuch, alles "
        "andere ist echt."
    ),
    "The language of the talk, instead of your own.": "Die Sprache des Gesprächs, statt der eigenen.",
    "No pauses to look at it.": "Keine Pausen zum Zusehen.",
    "Keep the data folder, and say where it is.": "Den Datenordner behalten und sagen, wo er ist.",
    # conversations, window
    "The conversations that were kept.": "Die Gespräche, die behalten wurden.",
    "List conversations, the last used first.": "Gespräche aufzählen, das zuletzt benutzte zuerst.",
    "Show a conversation from its first word to its last.": (
        "Ein Gespräch zeigen, vom ersten Wort bis zum letzten."
    ),
    "Its id, or a clear beginning of it.": "Die Id oder ein eindeutiger Anfang davon.",
    "Find messages by their words, in all conversations.": (
        "Nachrichten nach ihren Wörtern finden, in allen Gesprächen."
    ),
    "What to look for; an exact phrase in quotes.": (
        "Wonach gesucht wird; eine genaue Wendung in Anführungszeichen."
    ),
    "Give a conversation another title.": "Einem Gespräch einen anderen Titel geben.",
    "What it is to be called.": "Wie es heißen soll.",
    "Delete a conversation and its words, except those that a fork shares.": (
        "Ein Gespräch und seine Worte löschen, außer denen, die ein abgezweigtes mit ihm teilt."
    ),
    "Forget what was learned in it, too; else that stays.": (
        "Auch vergessen, was darin gelernt wurde; sonst bleibt das."
    ),
    "Go on in a second conversation from any message; both share what came before it.": (
        "Von einer Nachricht aus in einem zweiten Gespräch weitermachen; was davor war, teilen beide."
    ),
    "The last message to share, by number or id; else all.": (
        "Die letzte gemeinsame Nachricht, nach Nummer oder Id; sonst alle."
    ),
    "What the fork is called; else as its origin.": "Wie das abgezweigte heißt; sonst wie sein Ursprung.",
    "Delete conversations in which nobody has spoken for a long time.": (
        "Gespräche löschen, in denen lange niemand gesprochen hat."
    ),
    "How long nobody spoke in them: 90d, 12w, 6m, 1y.": (
        "Wie lange niemand darin gesprochen hat: 90d, 12w, 6m, 1y."
    ),
    "What becomes of what was learned in them.": "Was aus dem wird, was darin gelernt wurde.",
    "In all projects, of all people.": "In allen Projekten, von allen Leuten.",
    "Only say what would go.": "Nur sagen, was gehen würde.",
    "Switch Holdfast off for one conversation, or only its memory.": (
        "Holdfast für ein Gespräch ausschalten, oder nur sein Gedächtnis."
    ),
    "Only pass its requests through, and keep nothing more.": (
        "Seine Anfragen nur durchreichen und nichts mehr behalten."
    ),
    "Whether anything is remembered in it and of it.": "Ob darin und daraus etwas erinnert wird.",
    "Summarise the older part of a conversation, however much room there is.": (
        "Den älteren Teil eines Gesprächs zusammenfassen, auch wenn noch Platz ist."
    ),
    "Keep a message in the window as it is, whatever has to give way.": (
        "Eine Nachricht im Fenster behalten, wie sie ist, was auch weichen muss."
    ),
    "A message's number or id, as `show` has them.": "Nummer oder Id einer Nachricht, wie `show` sie nennt.",
    "Let a message be shortened or left out again.": (
        "Eine Nachricht darf wieder gekürzt oder weggelassen werden."
    ),
    "Take back what was shortened or left out; it is not done again before the last resort.": (
        "Kürzen oder Weglassen zurücknehmen; es geschieht erst als letztes Mittel wieder."
    ),
    "A decision's id; else the last batch.": "Id einer Entscheidung; sonst der letzte Durchgang.",
    "Show the originals of what the window shortened or left out.": (
        "Die Originale dessen zeigen, was das Fenster gekürzt oder weggelassen hat."
    ),
    "One message, by number or id; else all.": "Eine Nachricht, nach Nummer oder Id; sonst alle.",
    "Show what a model was last shown of a conversation: section by section, and what is out and why.": (
        "Zeigen, was ein Modell zuletzt von einem Gespräch sah: Abschnitt für Abschnitt, was fehlt und warum."
    ),
    "The window of this size, not the newest.": "Das Fenster dieser Größe, nicht das neueste.",
    "Only the summary that stands for what is out.": (
        "Nur die Zusammenfassung, die für das Weggelassene steht."
    ),
    # memory
    "What is remembered beyond a conversation.": "Was über ein Gespräch hinaus erinnert wird.",
    "Remember something. What says the same is brought up to date, what contradicts it is replaced.": (
        "Sich etwas merken. Gleiches wird auf den neuen Stand gebracht, Widersprechendes ersetzt."
    ),
    "What is to be remembered.": "Was gemerkt werden soll.",
    "fact, decision, preference or note.": "fact, decision, preference oder note.",
    "fact, decision, preference, note or summary.": "fact, decision, preference, note oder summary.",
    "How much it matters, from 0 to 1.": "Wie wichtig es ist, von 0 bis 1.",
    "Never put it into the archive.": "Nie ins Archiv legen.",
    "Only your own, or only the project's; else both, and new ones go to the project.": (
        "Nur die eigenen oder nur die des Projekts; sonst beide, und neue gehen zum Projekt."
    ),
    "List memories, newest first.": "Erinnerungen aufzählen, die neueste zuerst.",
    "Also what no longer holds.": "Auch, was nicht mehr gilt.",
    "Show a memory: its words, where it stands, and where it comes from.": (
        "Eine Erinnerung zeigen: ihre Worte, wo sie steht und woher sie kommt."
    ),
    "Its id, as `memory list` has it.": "Die Id, wie `memory list` sie nennt.",
    "Correct a memory; without anything new its words are opened in your editor ($EDITOR).": (
        "Eine Erinnerung berichtigen; ohne Neues öffnen sich ihre Worte im Editor ($EDITOR)."
    ),
    "Its new words.": "Die neuen Worte.",
    "List memories that may replace an older one; both hold until you decide.": (
        "Erinnerungen aufzählen, die vielleicht eine ältere ersetzen; bis zur Entscheidung gelten beide."
    ),
    "Let a memory take the place of the older one that `proposals` names.": (
        "Eine Erinnerung an die Stelle der älteren setzen, die `proposals` nennt."
    ),
    "Let a memory and the older one that `proposals` names both hold.": (
        "Eine Erinnerung und die ältere, die `proposals` nennt, beide gelten lassen."
    ),
    "Forget a memory for good, and see that it is not learned again.": (
        "Eine Erinnerung endgültig vergessen; sie wird nicht wieder gelernt."
    ),
    "Forget all memories of a project, or your own, the archive included. Other words in the files stay.": (
        "Alle Erinnerungen eines Projekts oder die eigenen vergessen, mit dem Archiv. Anderes in den Dateien "
        "bleibt."
    ),
    "The name of what is to be emptied, instead of being asked.": (
        "Der Name dessen, was geleert wird, statt gefragt zu werden."
    ),
    "Say how much is remembered, and how far the index has come.": (
        "Sagen, wie viel erinnert wird und wie weit der Index ist."
    ),
    "Write out all memories; JSON has their history and the archive too.": (
        "Alle Erinnerungen ausgeben; JSON hat auch ihre Geschichte und das Archiv."
    ),
    "For programs, or for reading.": "Für Programme, oder zum Lesen.",
    "A file, instead of the terminal.": "Eine Datei, statt des Terminals.",
    "Bring memories in, from JSON or Markdown. What is there already stays as it is.": (
        "Erinnerungen hereinholen, aus JSON oder Markdown. Was schon da ist, bleibt, wie es ist."
    ),
    "What `export` gave, or - to read it from a pipe.": "Was `export` ergab, oder - für eine Pipe.",
    "Find notes and memories by their words and by their meaning.": (
        "Notizen und Erinnerungen nach Wörtern und Bedeutung finden."
    ),
    "What to look for, in your own words.": "Wonach gesucht wird, in eigenen Worten.",
    "Only memories of this kind; may be repeated.": "Nur Erinnerungen dieser Art; mehrmals möglich.",
    "Where to look.": "Wo gesucht wird.",
    "Whether each hit names its source.": "Ob jeder Fund seine Quelle nennt.",
    "Build the index anew from the notes: their words, then their vectors.": (
        "Den Index aus den Notizen neu bauen: ihre Wörter, dann ihre Vektoren."
    ),
    # profile
    "What a model is told about you.": "Was einem Modell über Sie gesagt wird.",
    "Show your profile as it is kept.": "Das eigene Profil zeigen, wie es behalten ist.",
    "Set one field: text, a number, or a list in brackets. Comments in the file stay.": (
        "Ein Feld setzen: Text, eine Zahl oder eine Liste in Klammern. Kommentare in der Datei bleiben."
    ),
    "A field, or FIELD.INNER for one inside another.": "Ein Feld, oder FELD.INNERES für eins darin.",
    "Its value; '' takes the field away.": "Der Wert; '' nimmt das Feld weg.",
    "Edit your profile in your editor ($EDITOR); it is checked before it is put back.": (
        "Das Profil im Editor ($EDITOR) bearbeiten; es wird geprüft, ehe es zurückkommt."
    ),
    "List what your profile might learn from what you said.": (
        "Aufzählen, was das Profil aus Gesagtem lernen könnte."
    ),
    "Take a proposal into your profile.": "Einen Vorschlag ins Profil aufnehmen.",
    "As `profile proposals` has it.": "Wie `profile proposals` sie nennt.",
    "Turn a proposal down; it is not made again.": "Einen Vorschlag ablehnen; er kommt nicht wieder.",
    # research
    "What was found for a question, kept while it holds.": (
        "Was zu einer Frage gefunden wurde, behalten, solange es gilt."
    ),
    "Find something out: sources are gathered, unless they are known, and the model answers with them.": (
        "Etwas herausfinden: Quellen werden gesammelt, wo keine bekannt sind, und das Modell antwortet damit."
    ),
    "What is to be found out.": "Was herausgefunden werden soll.",
    "A page or file to read, instead of searching; several times.": (
        "Eine Seite oder Datei zum Lesen, statt zu suchen; mehrmals möglich."
    ),
    "How many sources: quick 3, deep 7.": "Wie viele Quellen: quick 3, deep 7.",
    "Look it up anew, whatever is known.": "Neu nachsehen, was auch bekannt ist.",
    "Keep pages, files or piped text as what was found for a question.": (
        "Seiten, Dateien oder Text aus einer Pipe behalten als das, was zu einer Frage gefunden wurde."
    ),
    "The question that the sources answer.": "Die Frage, auf die die Quellen antworten.",
    "Pages, files, or - for a pipe.": "Seiten, Dateien oder - für eine Pipe.",
    "List what was found, newest first.": "Gefundenes aufzählen, das neueste zuerst.",
    "Show a finding: question, summary, sources, and how long it holds.": (
        "Ein Ergebnis zeigen: Frage, Zusammenfassung, Quellen und wie lange es gilt."
    ),
    "Its id, as `research list` has it.": "Die Id, wie `research list` sie nennt.",
    "The texts of its sources too.": "Auch die Texte der Quellen.",
    "Forget a finding for good, with the texts of its sources.": (
        "Ein Ergebnis endgültig vergessen, mit den Texten seiner Quellen."
    ),
    "Take away what is out of date for a month, and make one of findings that are alike.": (
        "Wegnehmen, was seit einem Monat überholt ist, und aus gleichen Ergebnissen eins machen."
    ),
    # files
    "Files that messages point at with @.": "Dateien, auf die Nachrichten mit @ zeigen.",
    "Show what a reference becomes: how, with how many tokens before and after, and the text.": (
        "Zeigen, was aus einem Verweis wird: wie, mit wie vielen Token vorher und nachher, und der Text."
    ),
    "As in a message: @./file.py, ./file.py:full, @./src/:tree.": (
        "Wie in einer Nachricht: @./datei.py, ./datei.py:full, @./src/:tree."
    ),
    "List the files that a conversation's messages brought in, and which of them have changed since.": (
        "Die Dateien aufzählen, die ein Gespräch mitbrachte, und welche sich seitdem geändert haben."
    ),
    # models, count, jobs
    "List the models of the model server that is in use, with their windows.": (
        "Die Modelle des Modellservers aufzählen, der in Gebrauch ist, mit ihren Fenstern."
    ),
    "The models that can be asked.": "Die Modelle, die gefragt werden können.",
    "Show a model's windows, how its window is shared out, and how its tokens are counted.": (
        "Die Fenster eines Modells zeigen, wie es aufgeteilt ist und wie Token gezählt werden."
    ),
    "The model's name.": "Der Name des Modells.",
    "Fix the window of a model; every request to it then carries the same one.": (
        "Das Fenster eines Modells festlegen; jede Anfrage an es trägt dann dasselbe."
    ),
    "Its window in tokens; 0 leaves it to Holdfast again.": (
        "Sein Fenster in Token; 0 überlässt es wieder Holdfast."
    ),
    "The window recommended for it; 0 for the usual one.": (
        "Das dafür empfohlene Fenster; 0 für das übliche."
    ),
    "Fetch SmolLM2, the small model that runs inside Holdfast (98 MB, once).": (
        "SmolLM2 holen, das kleine Modell, das in Holdfast läuft (98 MB, einmal)."
    ),
    "Say something only when there is something to do.": "Nur etwas sagen, wenn etwas zu tun ist.",
    "Count the tokens of texts, by the model's own vocabulary where there is one.": (
        "Die Token von Texten zählen, nach dem Vokabular des Modells, wo es eins gibt."
    ),
    "Files to count; - for standard input.": "Dateien, die gezählt werden; - für die Standardeingabe.",
    "List the last requests to model servers, newest first.": (
        "Die letzten Anfragen an Modellserver aufzählen, die neueste zuerst."
    ),
    "Only these: queued, running, done, failed or cut.": "Nur diese: queued, running, done, failed oder cut.",
    "Only those of this conversation.": "Nur die dieses Gesprächs.",
    # keys, password, config, doctor
    "Keys that let programs in.": "Schlüssel, die Programme einlassen.",
    "Make a key. Its secret is shown now, and never again.": (
        "Einen Schlüssel anlegen. Sein Geheimnis wird jetzt gezeigt und nie wieder."
    ),
    "What it is for, for you to know it by.": "Wofür er ist, damit Sie ihn erkennen.",
    "Whose conversations and memories it reaches.": "Wessen Gespräche und Erinnerungen er erreicht.",
    "Only this project; else the one a client names.": "Nur dieses Projekt; sonst das vom Programm genannte.",
    "May see and make keys, jobs, settings.": "Darf Schlüssel, Anfragen und Einstellungen sehen und ändern.",
    "Speaks for several people, and says for whom (Open WebUI).": (
        "Spricht für mehrere Leute und sagt, für wen (Open WebUI)."
    ),
    "Only passes through; nothing is kept.": "Reicht nur durch; nichts wird behalten.",
    "Keeps and fits, but remembers nothing.": "Behält und passt ein, erinnert aber nichts.",
    "May point at files with @, in the folders of file_roots.": (
        "Darf mit @ auf Dateien zeigen, in den Ordnern von file_roots."
    ),
    "Requests a minute, as 60 or 60/min; 0 for no limit.": (
        "Anfragen je Minute, als 60 oder 60/min; 0 für unbegrenzt."
    ),
    "List the keys there are, without their secrets.": "Die Schlüssel aufzählen, ohne ihre Geheimnisse.",
    "Take a key back: whoever has it cannot come in any more.": (
        "Einen Schlüssel zurücknehmen: wer ihn hat, kommt nicht mehr herein."
    ),
    "As `keys list` has it.": "Wie `keys list` sie nennt.",
    "Set the password of the page. Every browser that is signed in has to do it again.": (
        "Das Passwort der Seite setzen. Jeder angemeldete Browser muss sich neu anmelden."
    ),
    "Read it from standard input.": "Von der Standardeingabe lesen.",
    "Have none any more.": "Keins mehr haben.",
    "Show every setting, its value and where it came from.": (
        "Jede Einstellung zeigen, ihren Wert und woher er kommt."
    ),
    "Look at everything Holdfast needs; exit code 1 if something is wrong.": (
        "Alles ansehen, was Holdfast braucht; Exit-Code 1, wenn etwas nicht stimmt."
    ),
    # import, backup, users
    "Bring in what another tool has kept; exit code 1 if nothing of it could be read.": (
        "Einlesen, was ein anderes Programm behalten hat; Exit-Code 1, wenn nichts davon lesbar war."
    ),
    "What it is, unless it can be seen, and where: a file, a folder or a zip.": (
        "Was es ist, wenn man es nicht sieht, und wo: eine Datei, ein Ordner oder ein Zip."
    ),
    "Only say what would come in.": "Nur sagen, was hereinkäme.",
    "Markdown: make memories of list items; else files stay notes.": (
        "Markdown: aus Listenpunkten Erinnerungen machen; sonst bleiben Dateien Notizen."
    ),
    "Whose it will be.": "Wem es gehören wird.",
    "Move everything into another database or to another place; what there was stays as it was.": (
        "Alles in eine andere Datenbank oder an einen anderen Ort bringen; was da war, bleibt, wie es war."
    ),
    "The new database: postgresql://… or sqlite:///PATH, an empty one.": (
        "Die neue Datenbank: postgresql://… oder sqlite:///PFAD, eine leere."
    ),
    "The new place for the notes: s3://BUCKET/PREFIX or a folder.": (
        "Der neue Ort für die Notizen: s3://BUCKET/PRÄFIX oder ein Ordner."
    ),
    "Use the new places from now on.": "Die neuen Orte von jetzt an verwenden.",
    "Everything in one file, and back again.": "Alles in einer Datei, und wieder zurück.",
    "Write store, notes, settings and prompts into one file, and check it. A server may go on running.": (
        "Datenbank, Notizen, Einstellungen und Prompts in eine Datei schreiben und sie prüfen. Ein Server"
        " darf weiterlaufen."
    ),
    "Where to; else a name with the date, right here.": "Wohin; sonst ein Name mit Datum, gleich hier.",
    "See that a backup is whole: every file in it, and the database.": (
        "Sehen, ob eine Sicherung heil ist: jede Datei darin, und die Datenbank."
    ),
    "A backup.": "Eine Sicherung.",
    "Put a backup in place. Refused where there is something already, and while a server runs.": (
        "Eine Sicherung zurückspielen. Nicht, wo schon etwas ist, und nicht, während ein Server läuft."
    ),
    "Let it take the place of what is there.": "Sie an die Stelle dessen treten lassen, was da ist.",
    "Finish a restore that broke off in the middle; one that had changed nothing yet is dropped.": (
        "Ein abgebrochenes Zurückspielen zu Ende bringen; eins, das noch nichts geändert hat, verwerfen."
    ),
    "Who there is, and all that each of them has.": "Wer da ist, und alles, was jeder hat.",
    "List all who have anything, and how much.": "Alle aufzählen, die etwas haben, und wie viel.",
    "Write everything a user has into a zip of open formats, with a page that says what is what.": (
        "Alles, was ein Benutzer hat, in ein Zip mit offenen Formaten schreiben, mit einer Seite, die es"
        " erklärt."
    ),
    "Their name, as `users list` has it.": "Der Name, wie `users list` ihn nennt.",
    "Where to; else their name, right here.": "Wohin; sonst unter dem Namen, gleich hier.",
    "Delete everything a user has, for good: conversations, memories, notes, findings, keys, jobs.": (
        "Alles endgültig löschen, was ein Benutzer hat: Gespräche, Erinnerungen, Notizen, Recherchen,"
        " Schlüssel, Anfragen."
    ),
    "Also delete the old copies in the data folder.": "Auch die alten Kopien im Datenordner löschen.",
}
