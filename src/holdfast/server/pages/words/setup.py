"""Words for the page `setup`."""

from holdfast.i18n import lazy, lazy_context

WORDS: dict[str, str] = {
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
    "no_models": lazy(
        "There is no model yet. Start a model server, or get the small one with `holdfast models get`."
    ),
    "window_of": lazy("Window of {model} in tokens"),
    "window_now": lazy("Window in use:"),
    "window_set": lazy("{model} now has a window of {n} tokens."),
    "window_fixed": lazy("This server decides its window when it starts."),
    "use_recommended": lazy("Use the recommended {n}"),
    "set_window": lazy("Set"),
    "leave_window": lazy("Leave it to Holdfast"),
    "trained": lazy("trained for {n}"),
    "recommended": lazy("recommended {n}"),
    "by_you": lazy_context("page", "set by you"),
    "by_running": lazy("as it runs"),
    "by_modelfile": lazy("from its Modelfile"),
    "by_client": lazy("as a client asked"),
    "by_training": lazy_context("page", "trained for no more"),
    "by_knowledge": lazy("usual for this family"),
    "by_size": lazy("usual for its size"),
    "get_embedder": lazy("Get {model} and use it"),
    "use_embedder": lazy("Use {model}"),
    "embedder_set": lazy(
        "{model} is used after the next start; all vectors are then made again in the background."
    ),
    "keep_alive_kept": lazy("Set; it holds after the next start."),
    "keep_alive_elsewhere": lazy("Set by {where}."),
    "pulled": lazy("{model} is here."),
    "sum_profile": lazy("What every private conversation begins with"),
    "sum_no_profile": lazy("No profile yet."),
    "sum_password": lazy("Password"),
    "sum_has_password": lazy("Set."),
    "sum_no_password": lazy("None; not needed on this machine."),
    "sum_network": lazy("Address"),
    "sum_models": lazy("Models and their windows"),
}
