"""Words for the page `models`, and for the step of the set-up that is the same."""

from holdfast.i18n import lazy, lazy_context

WORDS: dict[str, str] = {
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
    "window_running": lazy("runs with {n} now"),
    "model_size": lazy("{n} GB"),
    "model_delete": lazy("Delete {model} from the server"),
    "model_delete_title": lazy("Delete this model?"),
    "model_delete_text": lazy("{model} is deleted from its server. It can be got again."),
    "model_deleted": lazy("{model} is deleted."),
    "model_installed": lazy("Installed"),
    "model_get": lazy("Get {model}"),
    "models_for": lazy("Good for this machine with {n} GB of memory:"),
    "models_usual": lazy("Good to begin with:"),
}
