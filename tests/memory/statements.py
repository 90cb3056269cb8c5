"""Sentences with a gap, German and English: where a new value replaces the old one, and where both hold."""

from itertools import permutations

ONE_AT_A_TIME = (
    ("The database runs on port {}.", "5432 5433"),
    ("The staging API listens on port {}.", "8000 8081 3000"),
    ("Our rent is {} euros a month.", "900 1100 1250"),
    ("The release is planned for {}.", "Monday Friday Sunday"),
    ("My sister lives in {}.", "Rome Oslo Kiel"),
    ("The server in Kiel is called {}.", "arion bree"),
    ("The nightly job starts at {}.", "2:00 3:30 4:15"),
    ("The maximum upload size is {} MB.", "25 50"),
    ("The token expires after {} minutes.", "15 60"),
    ("The project uses Python {}.", "3.10 3.12"),
    ("The database is {}.", "Postgres SQLite"),
    ("We use {} for the shop.", "Postgres SQLite"),
    ("Commit messages should be in {}.", "English German"),
    ("Answers should be {}.", "short detailed"),
    ("Die Miete beträgt {} Euro.", "900 1100"),
    ("Unser Büro liegt in {}.", "Bonn Ulm"),
    ("Der Hund heißt {}.", "Rex Bello"),
    ("Das Passwort läuft nach {} Tagen ab.", "30 90"),
    ("Meine Schwester wohnt in {}.", "Rom Oslo"),
    ("Unsere Datenbank ist {}.", "MySQL PostgreSQL"),
    ("Die Antworten sollen {} sein.", "kurz ausführlich"),
    ("Die Besprechung ist am {}.", "Dienstag Donnerstag"),
    ("Der Newsletter ist {}.", "aktiviert deaktiviert"),
)
BOTH_HOLD = (
    ("{} is on the team.", "Anna Ben Clara"),
    ("Port {} is used by nginx.", "8080 9090"),
    ("We support {}.", "Chrome Firefox Safari"),
    ("Anna speaks {}.", "French German Polish"),
    ("The shop sells {}.", "tea coffee mugs"),
    ("Ticket {} is about login.", "481 482"),
    ("We use {}.", "Redis Kafka Docker Postgres SQLite"),
    ("Ben has a {}.", "cat dog bike"),
    ("The file {} holds settings.", "a.yaml b.yaml"),
    ("Node {} has 16 GB.", "1 2"),
    ("The {} server is called arion.", "test live"),
    ("Ben is {}.", "tall friendly"),
    ("The error was {}.", "E1001 E1002"),
    ("Use {} for tests.", "pytest hypothesis"),
    ("Call {} lunch.", "before after"),
    ("The weather in {} is good.", "Berlin Hamburg"),
    ("{} gehört zum Team.", "Anna Ben"),
    ("Wir unterstützen {}.", "Chrome Firefox"),
    ("Der Laden verkauft {}.", "Tee Kaffee"),
    ("Ich mag {}.", "Jazz Rock"),
    ("Im Raum {} steht ein Drucker.", "101 102"),
    ("Rechnung {} ist bezahlt.", "4711 4712"),
    ("Anna ist {}.", "Ärztin Mutter"),
    ("Der {} Server heißt arion.", "alte neue"),
    ("Wir trinken Tee {} Zucker.", "mit ohne"),
    ("Das Wetter in {} ist gut.", "Berlin Hamburg"),
)


def pairs(table):
    for sentence, values in table:
        for old, new in permutations(values.split(), 2):
            yield sentence.format(old), sentence.format(new)


def statements():
    tables = (*ONE_AT_A_TIME, *BOTH_HOLD)
    return [sentence.format(value) for sentence, values in tables for value in values.split()]
