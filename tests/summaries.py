"""A talk about a garden, and a model that can sum it up, for tests of what people see of a summary."""

from holdfast.messages import Message

ENGLISH = """Requests
- tell about the garden, the pump and the fence
Goal
- a garden for the family
Done
- the pump with number P-4711 was set up
Open
- none
Must not
- none"""

GERMAN = """Anfragen
- erzählen vom Garten, von der Pumpe und vom Zaun
Ziel
- ein Garten für die Familie
Erledigt
- die Pumpe mit der Nummer P-4711 wurde aufgestellt
Offen
- nichts
Nicht tun
- nichts"""


def garden_talk(exchanges: int = 8, german: bool = False) -> list[Message]:
    """Questions and answers that fit their window with room to spare."""
    report = []
    for number in range(exchanges):
        if german:
            question = (
                f"Erzähl mir noch etwas über den Garten, Teil {number}, und über die Pumpe und den Zaun."
            )
            answer = f"Die Pumpe P-4711 steht bei Beet {number}, und der Zaun ist noch nicht gestrichen. " * 7
        else:
            question = f"Tell me more about the garden, part {number}, and about the pump and the fence."
            answer = f"The pump P-4711 stands beside bed {number}, and the fence is not painted yet. " * 7
        if not number:
            # What a person says themselves may become a memory.
            fact = "Die Pumpe hat die Nummer P-4711." if german else "The pump has the number P-4711."
            question = f"{fact} {question}"
        report += [Message.of("user", question), Message.of("assistant", answer.strip())]
    last = "Und was ist mit den Rosen?" if german else "And what about the roses?"
    return [*report, Message.of("user", last)]


def summing_up(prompt: str) -> str:
    """What a model says: a summary or memories where it is asked for them, else something short."""
    if "=====" not in prompt:
        return "Noted."
    if "Nicht tun" in prompt:
        return GERMAN
    if "Must not" in prompt:
        return ENGLISH
    german = "KEINE_MEMORIES" in prompt
    return "FAKT: Die Pumpe hat die Nummer P-4711" if german else "FACT: The pump has the number P-4711"
