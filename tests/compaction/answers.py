"""What models answer when asked for a summary: good ones and bad ones, each with what is wrong with it."""

from dataclasses import dataclass

SOURCE_EN = """
User: The login fails since yesterday, can you find out why? The log says SessionExpired after 30 s.
Assistant: I looked at src/auth/session.py. The cookie lifetime is read as milliseconds, so 30 minutes
become 1.8 seconds. I have changed the unit in src/auth/session.py and added a test in tests/test_session.py.
User: Great. Please deploy it to staging, but never push to main directly.
Assistant: I tried to deploy to staging with make deploy, but it failed: the certificate of
staging.example.org expired on 2026-02-24. Raising the timeout to 60 s did not help.
User: Then ask Miriam for a new certificate. Our goal is to release version 2.4 on Friday.
Assistant: I have written to Miriam and wait for her answer. All 17 tests pass in the meantime.
"""
SOURCE_DE = """
Nutzer: Seit gestern geht der Login nicht mehr, kannst du herausfinden warum? Im Log steht SessionExpired.
Assistent: Ich habe mir src/auth/session.py angesehen. Die Lebensdauer des Cookies wird als Millisekunden
gelesen, aus 30 Minuten werden so 1,8 Sekunden. Ich habe die Einheit in src/auth/session.py geändert.
Nutzer: Super. Spiel es bitte auf staging ein, aber pushe nie direkt auf main.
Assistent: Das Einspielen mit make deploy ist fehlgeschlagen: das Zertifikat von staging.example.org ist am
24.02.2026 abgelaufen. Ein höheres Zeitlimit von 60 s hat nicht geholfen.
Nutzer: Dann frag Miriam nach einem neuen Zertifikat. Unser Ziel ist, Version 2.4 am Freitag zu zeigen.
Assistent: Ich habe Miriam geschrieben und warte auf ihre Antwort. Alle 17 Tests laufen inzwischen durch.
"""

GOOD_EN = """## Requests
- Find out why the login fails since yesterday
- Deploy the fix to staging
## Goal
- Release version 2.4 on Friday
## Done
- The cookie lifetime was read as milliseconds; fixed in src/auth/session.py
- Added a test in tests/test_session.py; all 17 tests pass
## Open
- Miriam has been asked for a new certificate for staging.example.org (expired 2026-02-24)
## Must not
- Never push to main directly
- Raising the timeout to 60 s did not help
"""
GOOD_DE = """## Anfragen
- Herausfinden, warum der Login seit gestern nicht mehr geht
- Die Korrektur auf staging einspielen
## Ziel
- Version 2.4 am Freitag veröffentlichen
## Erledigt
- Die Lebensdauer des Cookies wurde als Millisekunden gelesen; in src/auth/session.py behoben
- Ein Test ist ergänzt, alle 17 Tests laufen durch
## Offen
- Miriam ist nach einem neuen Zertifikat für staging.example.org gefragt (abgelaufen am 24.02.2026)
## Nicht tun
- Nie direkt auf main pushen
- Ein höheres Zeitlimit von 60 s hat nicht geholfen
"""


@dataclass(frozen=True)
class Answer:
    name: str
    text: str
    trouble: str = ""
    language: str = "en"
    finish: str | None = "stop"

    @property
    def source(self) -> str:
        return SOURCE_DE if self.language == "de" else SOURCE_EN


def _english(name: str, text: str, trouble: str = "", finish: str | None = "stop") -> Answer:
    return Answer(name, text, trouble, "en", finish)


def _german(name: str, text: str, trouble: str = "", finish: str | None = "stop") -> Answer:
    return Answer(name, text, trouble, "de", finish)


ANSWERS = (
    _english("as asked", GOOD_EN),
    _german("wie verlangt", GOOD_DE),
    _english("with preamble, fence and closing", f"Sure! Here is the summary:\n\n```markdown\n{GOOD_EN}```"),
    _german(
        "mit Einleitung",
        f"Gerne, hier ist die Zusammenfassung:\n\n{GOOD_DE}\nSag Bescheid, wenn etwas fehlt.",
    ),
    _english(
        "after thinking", f"<think>\nThe user wants a summary.\n## Done? Let me see.\n</think>\n\n{GOOD_EN}"
    ),
    _german(
        "Denken, das die Vorlage öffnete", f"Also, der Nutzer will fünf Abschnitte.\n</think>\n{GOOD_DE}"
    ),
    _english("no server says why it stopped", GOOD_EN, finish=None),
    _english(
        "bold labels and prose",
        "**Requests:** The user asked to fix the login and to deploy it to staging.\n\n"
        "**Goal:** Version 2.4 should be released on Friday.\n\n"
        "**Done:** The cookie lifetime unit was corrected in `src/auth/session.py`.\n\n"
        "**Open:** A new certificate is needed.\n\n**Must not:** Do not push to main.",
    ),
    _german(
        "deutsche Worte unter englischen Überschriften, mit englischem Zitat",
        "## Requests\n- Der Login soll wieder gehen\n## Goal\n- Version 2.4 am Freitag\n## Done\n"
        '- Die Meldung "the session has expired and it is not valid for this user" ist weg\n## Open\n'
        "- Zertifikat von Miriam\n## Must not\n- Nicht auf main pushen",
    ),
    _english(
        "several sections with nothing in them",
        "## Requests\n- Fix the login that fails since yesterday\n## Goal\nNone mentioned so far.\n"
        "## Done\nNone mentioned so far.\n## Open\nNone mentioned so far.\n"
        "## Must not\nNone mentioned so far.",
    ),
    _english(
        "three sections, and it speaks about tool calls",
        "## Goal\n- Explain why the model prints `<tool_call>` as text\n## Done\n- The template was missing "
        "its tools section\n## Open\n- Check the same with the smaller model",
    ),
    _german(
        "Liste ohne Punkte am Ende, letzter Abschnitt fehlt",
        "## Anfragen\n- Login reparieren\n- auf staging einspielen\n## Ziel\n- Version 2.4\n## Erledigt\n"
        "- Einheit des Cookies in session.py geändert\n## Offen\n- Zertifikat von Miriam",
    ),
    _english("nothing", "", "empty"),
    _english("white space and dots", " \n\n ... \n--\n", "empty"),
    _english("only thinking", "<think>I should write a summary with five sections. Let me start", "empty"),
    _german("nur zu Ende gedacht", "<think>Der Nutzer möchte eine Zusammenfassung.</think>\n\n", "empty"),
    _english("only an announcement", "Here is the summary of the conversation:", "empty"),
    _english(
        "a tool call in tags",
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "src/auth/session.py"}}\n</tool_call>',
        "tool_markup",
    ),
    _english(
        "a tool call as bare JSON",
        '{"name": "summarize", "parameters": {"text": "the login fails"}}',
        "tool_markup",
    ),
    _german(
        "ein Aufruf nach Art von Mistral",
        '[TOOL_CALLS][{"name": "suche", "arguments": {"q": "Zertifikat"}}]',
        "tool_markup",
    ),
    _english("the transcript again", SOURCE_EN, "echo"),
    _german("das Gespräch noch einmal", f"Zusammenfassung:\n\n{SOURCE_DE}", "echo"),
    _english("the limit was reached", GOOD_EN[: len(GOOD_EN) // 2], "cut_off", finish="length"),
    _english(
        "half a sentence",
        "## Requests\n- Find out why the login fails.\n## Goal\n- Release 2.4.\n## Done\n"
        "- The lifetime was read as milliseconds.\n- A test was added to the",
        "cut_off",
    ),
    _german(
        "ein halber Satz",
        "## Anfragen\n- Login reparieren.\n## Ziel\n- Version 2.4 am Freitag.\n## Erledigt\n"
        "- Die Lebensdauer wurde als Millisekunden gelesen.\n## Offen\n- Das Zertifikat von stag",
        "cut_off",
    ),
    _german("auf Englisch statt auf Deutsch", GOOD_EN, "language"),
    _english("in German instead of English", GOOD_DE, "language"),
    _english(
        "in Chinese",
        "## Requests\n- 用户要求找出登录失败的原因\n## Goal\n- 周五发布 2.4 版本\n## Done\n"
        "- 已修复 session.py 中的单位错误\n## Open\n- 等待新的证书\n## Must not\n- 不要直接推送到 main",
        "language",
    ),
    _english(
        "prose without sections",
        "The conversation is about a login problem that was caused by a wrong unit, and it was fixed.",
        "sections",
    ),
    _english(
        "it answers the question instead",
        "You could also try to renew the certificate with certbot. First install it, then run the renewal.",
        "sections",
    ),
    _german("ein Satz", "Es ging um den Login und ein abgelaufenes Zertifikat auf dem Server.", "sections"),
    _english(
        "the same line for ever",
        GOOD_EN + "- The user wants to fix the login\n" * 200,
        "loops",
        finish="length",
    ),
    _german(
        "im Kreis ohne Zeilen",
        "## Anfragen\n"
        + "Der Nutzer möchte, dass der Login wieder geht und der Login soll wieder gehen, " * 80,
        "loops",
        finish="length",
    ),
    _english(
        "far too long",
        GOOD_EN
        + "\n".join(
            f"- Step {number} changed file{number}.py for reason {number * 7}" for number in range(400)
        ),
        "larger",
    ),
    _english(
        "headings in the model's own words",
        "### Summary\n\n**User's Requests**\n\n1. Investigate why login fails\n\n**Goal**\n\n"
        "Release 2.4.\n\n**What has been done**\n\n- Fixed session.py\n\n"
        "**What is still open**\n\n- Certificate\n\n**What must not be done**\n\n- push to main\n",
    ),
    _english(
        "in tags of its own",
        "<summary>\n## Requests\n- fix login\n## Goal\n- 2.4\n## Done\n- session.py\n## Open\n- certificate\n"
        "## Must not\n- push to main\n</summary>",
    ),
    _german(
        "nur Stichworte, die keine Sprache verraten",
        "## Anfragen\n- Login fix\n## Ziel\n- Release 2.4\n## Erledigt\n- session.py, 17 tests\n## Offen\n"
        "- Zertifikat staging.example.org\n## Nicht tun\n- push main",
    ),
    _english("a refusal", "I'm sorry, but I can't help with summarizing this conversation.", "sections"),
    _english(
        "in French",
        "## Requests\n- Trouver pourquoi la connexion échoue depuis hier et corriger le serveur de test\n"
        "## Goal\n- Publier la version 2.4 vendredi avec les tests qui passent tous sans erreur\n"
        "## Done\n- La durée du cookie était lue en millisecondes et le fichier a été corrigé avec un test\n"
        "## Open\n- Miriam doit envoyer un nouveau certificat car le précédent a expiré en février\n"
        "## Must not\n- Ne jamais pousser directement sur la branche principale du dépôt",
        "language",
    ),
    _german(
        "englische Sätze unter deutschen Überschriften",
        "## Anfragen\n- The user wants to know why the login fails\n## Ziel\n- Release 2.4 on Friday\n"
        "## Erledigt\n- The unit of the cookie lifetime was fixed\n## Offen\n- A new certificate is needed\n"
        "## Nicht tun\n- Do not push to main",
        "language",
    ),
    _english(
        "within a word, two sections short",
        "## Requests\n- Investigate the login\n## Goal\n- Release 2.4\n## Done\n- Changed src/auth/sess",
        "cut_off",
    ),
    _english(
        "a call first and the summary after it",
        f'<tool_call>{{"name": "read", "arguments": {{}}}}</tool_call>\n{GOOD_EN}',
        "tool_markup",
    ),
    _english(
        "a call in a fence", '```json\n{"tool": "deploy", "args": {"target": "staging"}}\n```', "tool_markup"
    ),
    _english("one sign for ever", "!" * 400, "empty", finish="length"),
    _english("one word for ever", "the " * 400, "loops", finish="length"),
    _english(
        "the transcript with other labels",
        SOURCE_EN.replace("User:", "[USER]:").replace("Assistant:", "[ASSISTANT]:"),
        "echo",
    ),
)
