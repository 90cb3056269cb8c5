"""Words for the page `setup`."""

from holdfast.i18n import lazy
from holdfast.server.pages.words import models

WORDS: dict[str, str] = {
    **models.WORDS,
    "step_of": lazy("Step {n} of {all}"),
    "begin": lazy("Let's begin"),
    "next": lazy("Next"),
    "finish": lazy("Start chatting"),
    "change": lazy("Change"),
    "change_step": lazy("Change: {step}"),
    "password_here": lazy(
        "It is not needed on this machine. Once other devices or a reverse proxy can "
        "reach Holdfast, browsers sign in with it. You can skip this now."
    ),
    "password_elsewhere": lazy(
        "Others can reach this server. A browser comes in with this password; programs come in with keys."
    ),
    "password_short": lazy("A password has at least 8 characters."),
    "password_differs": lazy("The two are not the same."),
    "password_set": lazy("The password is set."),
    "looking": lazy("Looking for model servers …"),
    "no_server": lazy(
        "No model server was found. Until one runs, a small demonstration model answers. Start "
        "Ollama, llama.cpp or LM Studio, or name an address in the settings."
    ),
    "to_settings": lazy("To the settings"),
    "only_here": lazy("Only programs on this machine reach it."),
    "others_too": lazy("Other devices reach it, too, and need a key or the password."),
    "for_ollama": lazy("Ollama clients"),
    "for_openai": lazy("OpenAI base URL"),
    "for_anthropic": lazy("Anthropic clients"),
    "key_needed": lazy("Programs need a key: make one under Settings ▸ Access."),
    "no_key_needed": lazy("No key is needed on this machine; programs that insist on one may send any word."),
    "sum_profile": lazy("What every private conversation begins with"),
    "sum_no_profile": lazy("No profile yet."),
    "sum_password": lazy("Password"),
    "sum_has_password": lazy("Set."),
    "sum_no_password": lazy("None; not needed on this machine."),
    "sum_network": lazy("Address"),
    "sum_models": lazy("Models and their windows"),
}
