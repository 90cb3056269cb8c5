"""The greeting at `/`: what is running, and the one address that clients need. German or English, no script.

Knows what the server knows about models; the text is all there is.
"""

from html import escape

from starlette.requests import Request

from holdfast import __version__
from holdfast.errors import HoldfastError
from holdfast.language import say, speak
from holdfast.server.door import engine_of

_PAGE = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Holdfast</title>
<body>
<h1>Holdfast {version}</h1>
<p>{state}</p>
<ul>{models}</ul>
<p>{advice}</p>
<pre>OLLAMA_HOST={address}
OPENAI_BASE_URL=http://{address}/v1</pre>
</body>
</html>
"""


async def welcome(request: Request) -> str:
    speak("de" if request.headers.get("accept-language", "").lower().startswith("de") else "en")
    upstreams = engine_of(request).upstreams
    try:
        provider = await upstreams.main()
        models = await upstreams.models()
        state = _state(provider.name, provider.location)
    except HoldfastError as error:
        models, state = [], str(error)
    return _PAGE.format(
        language=say("en", "de"),
        version=__version__,
        state=escape(state),
        models="".join(f"<li>{escape(model.name)}</li>" for model in models),
        advice=escape(
            say("Point your client at this address:", "Tragen Sie diese Adresse in Ihrem Programm ein:")
        ),
        address=escape(request.headers.get("host", "")),
    )


def _state(name: str, location: str) -> str:
    if name == "embedded":
        return say(
            "No model server found: this is a small demonstration model. Start Ollama, llama.cpp or LM Studio"
            " to use your own.",
            "Kein Modellserver gefunden: Das hier ist ein kleines Vorführmodell. Starten Sie Ollama,"
            " llama.cpp oder LM Studio, um Ihr eigenes zu benutzen.",
        )
    return say(f"Model server: {name} at {location}", f"Modellserver: {name} unter {location}")
