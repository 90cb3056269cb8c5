"""Words of which only one holds at a time: tools of one trade, opposites, days. Data, German and English."""

from holdfast.text.dates import DAYS, MONTH_NAMES


def _list(words: str) -> frozenset[str]:
    return frozenset(words.casefold().split())


_GROUPS = {
    "database": _list(
        """
        postgres postgresql mysql mariadb sqlite mongodb mongo oracle cassandra dynamodb cockroachdb duckdb
        couchdb firebird mssql
        """
    ),
    "language": _list(
        """
        english german french spanish italian dutch polish portuguese
        englisch deutsch französisch spanisch italienisch niederländisch polnisch portugiesisch
        """
    ),
    "packages": _list("npm yarn pnpm bun"),
    "python": _list("pip poetry pipenv conda pdm uv"),
    "editor": _list("vim neovim emacs vscode pycharm intellij webstorm sublime nano helix zed"),
    "forge": _list("github gitlab bitbucket gitea forgejo codeberg"),
    "frontend": _list("react vue angular svelte solid ember"),
    "cloud": _list("aws azure gcp hetzner ovh digitalocean linode"),
    "broker": _list("rabbitmq kafka nats activemq"),
    "system": _list("ubuntu debian fedora arch opensuse centos nixos macos windows"),
    "indent": _list("tabs spaces"),
}
_GROUP_OF = {word: name for name, words in _GROUPS.items() for word in words}

MONTHS_AND_DAYS = _list(" ".join((*MONTH_NAMES, *DAYS)))

# A town lies in one of these: to name it says less, not something else. Of countries only one holds.
COUNTRIES = _list(
    """
    germany austria switzerland france italy spain portugal poland denmark sweden norway finland iceland
    ireland belgium netherlands luxembourg england scotland wales greece turkey croatia hungary romania
    bulgaria ukraine russia czechia slovakia slovenia estonia latvia lithuania serbia usa uk america canada
    mexico brazil argentina chile china japan india korea vietnam thailand indonesia israel egypt morocco
    nigeria kenya australia deutschland österreich schweiz frankreich italien spanien polen dänemark
    schweden norwegen finnland island irland belgien niederlande holland luxemburg schottland griechenland
    türkei kroatien ungarn rumänien bulgarien russland tschechien slowakei slowenien estland lettland
    litauen serbien kanada mexiko brasilien argentinien indien indonesien ägypten marokko australien
    """
)
REGIONS = COUNTRIES | _list(
    """
    europe asia africa scandinavia california texas florida bavaria saxony hesse europa asien afrika
    skandinavien bayern sachsen hessen thüringen brandenburg saarland niedersachsen sachsen-anhalt
    schleswig-holstein mecklenburg-vorpommern baden-württemberg nordrhein-westfalen rheinland-pfalz tirol
    """
)

OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in _list(
        """
        short/long short/detailed brief/long brief/detailed concise/detailed concise/verbose short/verbose
        formal/informal formal/casual enabled/disabled on/off open/closed public/private allowed/forbidden
        active/inactive free/paid dark/light required/optional
        kurz/lang kurz/ausführlich knapp/ausführlich kurz/detailliert knapp/detailliert formell/locker
        förmlich/locker aktiviert/deaktiviert an/aus offen/geschlossen öffentlich/privat erlaubt/verboten
        aktiv/inaktiv kostenlos/kostenpflichtig dunkel/hell
        """
    )
)


def find_group(word: str) -> str:
    """The trade of a tool or the like; empty for words that are none."""
    return _GROUP_OF.get(word, "")
