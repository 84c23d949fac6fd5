"""What might be otherwise: a list of typed edits, and the one way in which every door writes and reads them.

An edit is written as `{"kind": …, "of": …, "form": {…}}`. `of` is the id of the noun that it is about, `form` holds
the fields of the form that the real act has, read as that form reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from paika.domain.access import Act
from paika.domain.form import FieldKind as K
from paika.domain.form import Form, FormField, Group, schema
from paika.domain.policy_form import POLICY, read_numbers
from paika.domain.problem import BadValue, FieldMissing, Problem, Several, UnknownField
from paika.domain.quantity import given, shown, tidy
from paika.domain.task_draft import TaskDraft
from paika.domain.task_form import FORM, read_form
from paika.services.access_form import QUOTA, Edited, read_edit
from paika.services.booking_form import BOOKING, GUARANTEE
from paika.services.move_task import MOVE, read_move

MOST_EDITS = 20
UNNAMED, NOTHING = "what-if", ("true",)  # name and command of a new task that says neither
_PARTS = ("kind", "of", "form")


class EditKind(StrEnum):
    """What may be thought otherwise."""

    NEW_TASK = "new_task"
    CHANGED_TASK = "changed_task"
    CANCELLED_TASK = "cancelled_task"
    MOVED_TASK = "moved_task"
    BOOKING = "booking"
    GUARANTEE = "guarantee"
    WITHDRAWN_GUARANTEE = "withdrawn_guarantee"
    POLICY = "policy"
    LOST_NODE = "lost_node"
    LOST_CARD = "lost_card"
    NODE_BACK = "node_back"
    CARD_BACK = "card_back"
    MORE_CARDS = "more_cards"
    QUOTA = "quota"
    READY_DATASET = "ready_dataset"


@dataclass(frozen=True, slots=True)
class NewTask:
    """One more task in the queue."""

    draft: TaskDraft


@dataclass(frozen=True, slots=True)
class ChangedTask:
    """A task with other fields; `form` names them as the form of an edit does."""

    task: str
    form: Mapping[str, object]
    zone: str


@dataclass(frozen=True, slots=True)
class CancelledTask:
    """A task taken out of the queue, or off its cards."""

    task: str


@dataclass(frozen=True, slots=True)
class MovedTask:
    """A task moved in the order by so many points."""

    task: str
    points: int


@dataclass(frozen=True, slots=True)
class NewBooking:
    """A booking or maintenance, taken as approved."""

    form: Edited


@dataclass(frozen=True, slots=True)
class NewGuarantee:
    """A team's floor, new or other than it is."""

    team: str
    form: Edited


@dataclass(frozen=True, slots=True)
class WithdrawnGuarantee:
    """A floor taken back."""

    guarantee: str


@dataclass(frozen=True, slots=True)
class NewPolicy:
    """Other numbers in the policy."""

    numbers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LostNode:
    """A machine that is down, with all that runs there."""

    node: str


@dataclass(frozen=True, slots=True)
class LostCard:
    """A card that is lost, with all that runs on it."""

    card: str


@dataclass(frozen=True, slots=True)
class NodeBack:
    """A machine that takes work again, and its cards with it."""

    node: str


@dataclass(frozen=True, slots=True)
class CardBack:
    """A card that is well again."""

    card: str


@dataclass(frozen=True, slots=True)
class MoreCards:
    """So many more cards of a type, on `nodes` new machines."""

    cards: int
    card_type: str
    nodes: int
    pool: str


@dataclass(frozen=True, slots=True)
class NewQuota:
    """Another ceiling for a team; None lifts it."""

    team: str
    max_cards: int | None


@dataclass(frozen=True, slots=True)
class ReadyDataset:
    """A dataset that is ready."""

    dataset: str


Edit = (
    NewTask
    | ChangedTask
    | CancelledTask
    | MovedTask
    | NewBooking
    | NewGuarantee
    | WithdrawnGuarantee
    | NewPolicy
    | LostNode
    | LostCard
    | NodeBack
    | CardBack
    | MoreCards
    | NewQuota
    | ReadyDataset
)

MORE_CARDS = Form(
    (
        FormField("cards", K.CARDS, ("count", "卡数"), 1, 4096, required=True, group=Group.BASIC),
        FormField("type", K.TEXT, ("types", "card_type", "卡型"), high=80, required=True, group=Group.BASIC),
        FormField("nodes", K.WHOLE, ("机器数",), 1, 512, default="1", group=Group.BASIC),
        FormField("pool", K.TEXT, ("资源池",), high=64, group=Group.BASIC),
    )
)
_POINTS = Form(tuple(field for field in MOVE.fields if field.key == "points"))
_QUOTA = Form(tuple(field for field in QUOTA.fields if field.key == "max_cards"))
_ACTS_ONLY = frozenset({"dry_run", "waitlist", "reason"})
_BOOKING = Form(tuple(field for field in BOOKING.fields if field.key not in _ACTS_ONLY))
_GUARANTEE = Form(tuple(field for field in GUARANTEE.fields if field.key not in _ACTS_ONLY))

Raw = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class EditForm:
    """How edits of a kind are written: `of` names such a noun ('' if none), `form` has its fields (None if none)."""

    of: str
    form: Form | None
    read: Callable[[str, Raw, str], Edit]


EDITS: dict[EditKind, EditForm] = {
    EditKind.NEW_TASK: EditForm("", FORM, lambda of, raw, zone: NewTask(read_form(_named(raw), zone))),
    EditKind.CHANGED_TASK: EditForm("task", FORM, lambda of, raw, zone: ChangedTask(of, _some(raw), zone)),
    EditKind.CANCELLED_TASK: EditForm("task", None, lambda of, raw, zone: CancelledTask(of)),
    EditKind.MOVED_TASK: EditForm("task", _POINTS, lambda of, raw, zone: MovedTask(of, read_move(raw, zone)[0])),
    EditKind.BOOKING: EditForm("", _BOOKING, lambda of, raw, zone: NewBooking(read_edit(_BOOKING, raw, zone))),
    EditKind.GUARANTEE: EditForm(
        "team", _GUARANTEE, lambda of, raw, zone: NewGuarantee(of, read_edit(_GUARANTEE, raw, zone, whole=True))
    ),
    EditKind.WITHDRAWN_GUARANTEE: EditForm("guarantee", None, lambda of, raw, zone: WithdrawnGuarantee(of)),
    EditKind.POLICY: EditForm("", POLICY, lambda of, raw, zone: NewPolicy(read_numbers(_some(raw), zone))),
    EditKind.LOST_NODE: EditForm("node", None, lambda of, raw, zone: LostNode(of)),
    EditKind.LOST_CARD: EditForm("card", None, lambda of, raw, zone: LostCard(of)),
    EditKind.NODE_BACK: EditForm("node", None, lambda of, raw, zone: NodeBack(of)),
    EditKind.CARD_BACK: EditForm("card", None, lambda of, raw, zone: CardBack(of)),
    EditKind.MORE_CARDS: EditForm(
        "", MORE_CARDS, lambda of, raw, zone: _more(read_edit(MORE_CARDS, raw, zone, whole=True))
    ),
    EditKind.QUOTA: EditForm("team", _QUOTA, lambda of, raw, zone: _quota(of, read_edit(_QUOTA, _some(raw), zone))),
    EditKind.READY_DATASET: EditForm("dataset", None, lambda of, raw, zone: ReadyDataset(of)),
}


RIGHTS: dict[EditKind, Act] = {  # what must be allowed before an edit of the kind is even offered
    EditKind.NEW_TASK: Act.SUBMIT_TASK,
    EditKind.CHANGED_TASK: Act.CHANGE_OWN_TASK,
    EditKind.CANCELLED_TASK: Act.CHANGE_OWN_TASK,
    EditKind.MOVED_TASK: Act.MOVE_TASK,
    EditKind.BOOKING: Act.BOOK_CARDS,
    EditKind.GUARANTEE: Act.CHANGE_TEAM,
    EditKind.WITHDRAWN_GUARANTEE: Act.CHANGE_TEAM,
    EditKind.POLICY: Act.CHANGE_POLICY,
    EditKind.LOST_NODE: Act.CHANGE_CARD,
    EditKind.LOST_CARD: Act.CHANGE_CARD,
    EditKind.NODE_BACK: Act.CHANGE_CARD,
    EditKind.CARD_BACK: Act.CHANGE_CARD,
    EditKind.MORE_CARDS: Act.CHANGE_CARD,
    EditKind.QUOTA: Act.CHANGE_TEAM,
    EditKind.READY_DATASET: Act.CHANGE_DATASET,
}


def read_edits(raw: object, zone: str) -> tuple[Edit, ...]:
    """The edits that are written there. Raises Several with every problem, its field under the edit's number."""
    listed = [raw] if isinstance(raw, Mapping) else raw
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not 0 < len(listed) <= MOST_EDITS:
        count = str(len(listed)) if isinstance(listed, Sequence) and not isinstance(listed, str) else shown(listed)
        raise BadValue(field="edits", value=count, allowed=f"1..{MOST_EDITS}")
    edits: list[Edit] = []
    problems: list[Problem] = []
    for number, one in enumerate(listed):
        try:
            with of_edit(number, len(listed)):
                edits.append(_read(one, zone))
        except Several as several:
            problems += several.problems
        except Problem as problem:
            problems.append(problem)
    if problems:
        raise Several(field=None, problems=tuple(problems))
    return tuple(edits)


@contextmanager
def of_edit(number: int, count: int) -> Iterator[None]:
    """Problems of the block have their fields under the edit's number, where there are several edits."""
    try:
        yield
    except Problem as problem:
        for one in (problem.problems if isinstance(problem, Several) else (problem,)) if count > 1 else ():
            one.field = f"edits[{number}]" + (f".{one.field}" if one.field else "")
        raise


def edit_schema() -> dict[str, Any]:
    """JSON schema of a list of edits."""
    kinds = [_schema_of(kind, how) for kind, how in EDITS.items()]
    return {"type": "array", "minItems": 1, "maxItems": MOST_EDITS, "items": {"oneOf": kinds}}


def _schema_of(kind: EditKind, how: EditForm) -> dict[str, Any]:
    properties: dict[str, Any] = {"kind": {"const": kind.value}}
    if how.of:
        properties["of"] = {"type": "string", "description": how.of}
    if how.form is not None:
        fields: dict[str, Any] = schema(how.form)
        properties["form"] = {**fields, "required": []} if kind is not EditKind.MORE_CARDS else fields
    required = ["kind", *(["of"] if how.of else []), *(["form"] if how.form is not None else [])]
    return {"type": "object", "title": kind.value, "properties": properties, "required": required}


def _read(one: object, zone: str) -> Edit:
    if not isinstance(one, Mapping):
        raise BadValue(field=None, value=shown(one), allowed='{"kind": …, "of": …, "form": {…}}')
    for name in one:
        if name not in _PARTS:
            near = tuple(get_close_matches(str(name)[:40], _PARTS, 1, 0.5))
            raise UnknownField(field=shown(name), nearest=near)
    kind = one.get("kind")
    if not given(kind):
        raise FieldMissing(field="kind")
    if not isinstance(kind, str) or kind not in EDITS:
        raise BadValue(field="kind", value=shown(kind), allowed=", ".join(EDITS))
    how = EDITS[EditKind(kind)]
    return how.read(_of(how, one.get("of")), _form(how, one.get("form")), zone)


def _of(how: EditForm, value: object) -> str:
    if not how.of:
        if given(value):
            raise BadValue(field="of", value=shown(value), allowed="")
        return ""
    if not given(value):
        raise FieldMissing(field="of")
    if not isinstance(value, str):
        raise BadValue(field="of", value=shown(value), allowed=how.of)
    return tidy(value)


def _form(how: EditForm, value: object) -> Raw:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or (how.form is None and value):
        raise BadValue(field="form", value=shown(value), allowed="{…}" if how.form else "")
    return {str(name): item for name, item in value.items()}


def _some(raw: Raw) -> Raw:
    if not raw:
        raise FieldMissing(field="form")
    return raw


def _named(raw: Raw) -> Raw:
    """The form of a new task; where it says neither name nor program it gets some, as they decide nothing."""
    keys = {match.field.key for name, value in raw.items() if given(value) and (match := FORM.match(name))}
    name = {} if "name" in keys else {"name": UNNAMED}
    program = {} if keys & {"command", "script"} else {"command": list(NOTHING)}
    return {**{key: value for key, value in raw.items() if given(value)}, **name, **program}


def _more(edit: Edited) -> MoreCards:
    cards, nodes = int(edit.values["cards"]), int(edit.values.get("nodes", 1))
    if cards % nodes:
        raise BadValue(field="nodes", value=str(nodes), allowed=f"{cards} / n")
    return MoreCards(cards, edit.values["type"], nodes, edit.values.get("pool", ""))


def _quota(team: str, edit: Edited) -> NewQuota:
    return NewQuota(team, edit.values.get("max_cards"))
