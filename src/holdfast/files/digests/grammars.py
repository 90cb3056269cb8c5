"""What the nodes of each tree-sitter grammar are to an outline: a table, and nothing that reads a source.

A node that is `through` is not told itself; what is inside it stands where it stands.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from holdfast.files.digests.quiet import unwarned

if TYPE_CHECKING:
    from tree_sitter import Language, Parser

# Nonsense that is nested deeply takes hours; what people write takes a hundredth of this.
_LONGEST = 1_000_000

Sort = Literal["class", "function", "constant", "through", "import", "variables"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """`package` and `entry` give the grammar.

    `private` are words in a head that make a thing private, `public` those without one of which it is;
    where `capitals` count, a name that begins with one is public.
    """

    name: str
    package: str
    nodes: dict[str, Sort]
    entry: str = "language"
    private: frozenset[str] = frozenset()
    public: frozenset[str] = frozenset()
    capitals: bool = False


def _nodes(**sorts: str) -> dict[str, Sort]:
    words: dict[str, Sort] = {
        "classes": "class",
        "functions": "function",
        "constants": "constant",
        "through": "through",
        "imports": "import",
        "variables": "variables",
    }
    return {node: words[sort] for sort, nodes in sorts.items() for node in nodes.split()}


_JAVASCRIPT = _nodes(
    classes="class_declaration class",
    functions="function_declaration generator_function_declaration method_definition function_expression",
    constants="field_definition",
    through="export_statement expression_statement",
    imports="import_statement",
    variables="lexical_declaration variable_declaration assignment_expression",
)
_TYPESCRIPT = _JAVASCRIPT | _nodes(
    classes="abstract_class_declaration interface_declaration enum_declaration internal_module module",
    functions="method_signature abstract_method_signature function_signature",
    constants="type_alias_declaration public_field_definition property_signature",
    through="ambient_declaration",
)
_C = _nodes(
    classes="struct_specifier union_specifier enum_specifier",
    functions="function_definition preproc_function_def",
    constants="declaration type_definition preproc_def",
    through="preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef linkage_specification "
    "declaration_list",
    imports="preproc_include",
)
_STATIC = frozenset({"static"})
_HIDDEN = frozenset({"private"})

GRAMMARS = {
    "javascript": Grammar("javascript", "tree_sitter_javascript", _JAVASCRIPT),
    "typescript": Grammar(
        "typescript", "tree_sitter_typescript", _TYPESCRIPT, "language_typescript", private=_HIDDEN
    ),
    "tsx": Grammar("tsx", "tree_sitter_typescript", _TYPESCRIPT, "language_tsx", private=_HIDDEN),
    "go": Grammar(
        "go",
        "tree_sitter_go",
        _nodes(
            classes="type_spec type_alias",
            functions="function_declaration method_declaration",
            constants="const_spec var_spec",
            through="type_declaration const_declaration var_declaration var_spec_list",
            imports="import_declaration",
        ),
        capitals=True,
    ),
    "rust": Grammar(
        "rust",
        "tree_sitter_rust",
        _nodes(
            classes="struct_item enum_item union_item trait_item impl_item mod_item",
            functions="function_item function_signature_item macro_definition",
            constants="const_item static_item type_item",
            through="foreign_mod_item",
            imports="use_declaration",
        ),
        public=frozenset({"pub", "impl", "macro_rules!"}),
    ),
    "java": Grammar(
        "java",
        "tree_sitter_java",
        _nodes(
            classes="class_declaration interface_declaration enum_declaration record_declaration "
            "annotation_type_declaration",
            functions="method_declaration constructor_declaration compact_constructor_declaration",
            constants="field_declaration constant_declaration",
            through="enum_body_declarations",
            imports="import_declaration",
        ),
        private=_HIDDEN,
    ),
    "c": Grammar("c", "tree_sitter_c", _C, private=_STATIC),
    "cpp": Grammar(
        "cpp",
        "tree_sitter_cpp",
        _C
        | _nodes(
            classes="class_specifier namespace_definition",
            constants="alias_declaration field_declaration concept_definition",
            through="template_declaration",
        ),
        private=_STATIC,
    ),
}


def parser_of(name: str) -> "Parser":
    """A parser for one source: threads must not share them. It gives up on what takes too long."""
    from tree_sitter import Parser

    # The library would rather have a callback, and that works only with sources read piece by piece.
    with unwarned():
        return Parser(_language(name), timeout_micros=_LONGEST)


@cache
def _language(name: str) -> "Language":
    from tree_sitter import Language

    grammar = GRAMMARS[name]
    return Language(getattr(import_module(grammar.package), grammar.entry)())
