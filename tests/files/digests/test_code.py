"""Other languages: the names are told, and each can be reached, with or without a grammar."""

import pytest

from holdfast.files.digests import build_digest, find_element, list_elements

SOURCES = {
    "a.js": (
        """
import fs from 'fs';
/** Opens it. */
export function open(path) {
  return fs.x(path);
}
class Box extends Base {
  area(x) {
    return 1;
  }
}
export const make = async (a) => {
  b();
};
module.exports.late = function (x) {
  return 2;
};
const LIMIT = 5;
""",
        ["open", "Box", "Box.area", "make", "late", "LIMIT"],
        ("Box.area", "  area(x) {"),
    ),
    "a.ts": (
        """
export interface Shape {
  area(): number;
}
export type Id = string;
enum Way { Up, Down }
namespace Inner {
  export function f(): void {}
}
export abstract class Box<T> implements Shape {
  private size = 1;
  area(): number {
    return 1;
  }
}
""",
        ["Shape", "Shape.area", "Id", "Way", "Box", "Box.size", "Box.area"],
        ("Id", "export type Id = string;"),
    ),
    "a.tsx": (
        """
export function View(props: { a: string }) {
  return <div>{props.a}</div>;
}
""",
        ["View"],
        ("View", "export function View"),
    ),
    "a.go": (
        """
package a

import "fmt"

// Box holds.
type Box struct {
	Size int
}

const Limit = 3

// Area tells.
func (b *Box) Area(x int) (int, error) {
	return 1, nil
}

func hidden() {}
""",
        ["Box", "Limit", "Box.Area", "hidden"],
        ("Area", "// Area tells.\nfunc (b *Box) Area"),
    ),
    "a.rs": (
        """
use std::fmt;

pub struct Box {
    size: u32,
}

impl Box {
    /// Tells.
    pub fn area(&self) -> u32 {
        1
    }
}

pub trait Shape {
    fn area(&self) -> u32;
}

mod inner {
    pub fn f() {}
}
""",
        ["Box", "Box.area", "Shape", "Shape.area", "inner", "inner.f"],
        ("Box.area", "    /// Tells.\n    pub fn area"),
    ),
    "A.java": (
        """
import java.util.List;

/** Holds. */
public class Box extends Base {
    static final int LIMIT = 3;

    public Box(int size) {
        this.size = size;
    }

    public int area() {
        return 1;
    }

    interface Lid {
        void close();
    }
}

enum Way { UP, DOWN; int f() { return 1; } }
""",
        ["Box", "Box.LIMIT", "Box.Box", "Box.area", "Box.Lid", "Box.Lid.close", "Way", "Way.f"],
        ("area", "    public int area() {"),
    ),
    "a.c": (
        """
#include <stdio.h>
#define LIMIT 3

struct box {
    int size;
};

typedef struct lid { int x; } lid_t;

/* Tells. */
int area(struct box *b)
{
    return b->size;
}

int known(void);
static int hidden(void) { return 1; }
""",
        ["LIMIT", "box", "lid", "lid_t", "area", "known", "hidden"],
        ("area", "/* Tells. */\nint area(struct box *b)\n{\n"),
    ),
    "a.cpp": (
        """
#include <vector>
namespace outer {
template <typename T>
class Box : public Base {
 public:
  int area() const;
  void grow(int by) { size += by; }
 private:
  int size;
};
}
int Other::area() const {
  return 1;
}
""",
        ["outer", "outer.Box", "outer.Box.area", "outer.Box.grow", "outer.Box.size", "Other.area"],
        ("Other.area", "int Other::area() const {"),
    ),
    "a.rb": (
        """
module Outer
  class Box
    def area
      1
    end

    def self.make(x)
      2
    end
  end
end
""",
        ["Outer", "Outer.Box", "Outer.Box.area", "Outer.Box.make"],
        ("area", "    def area\n      1\n    end"),
    ),
    "a.sh": (
        """
#!/bin/sh
build() {
  make
}

function clean {
  rm x
}
""",
        ["build", "clean"],
        ("build", "build() {\n  make\n}"),
    ),
    "a.sql": (
        """
CREATE TABLE IF NOT EXISTS people (
  id int
);
create index by_name on people (name);
""",
        ["people", "by_name"],
        ("people", "CREATE TABLE"),
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_names_are_listed_and_each_can_be_reached(name):
    text, names, (wanted, beginning) = SOURCES[name]
    known = list_elements(name, text)
    assert [each for each in known if each in names] == names
    assert find_element(name, text, wanted).text.startswith(beginning)


@pytest.mark.parametrize("name", SOURCES)
def test_the_digest_of_a_long_source_has_its_names(name):
    text, names, _ = SOURCES[name]
    comment = "#" if name.endswith((".rb", ".sh")) else "--" if name.endswith(".sql") else "//"
    filling = f"{comment} nothing to see here, only a long line of words that say nothing at all\n" * 150
    digest = build_digest(name, text + "\n" + filling)
    last = [each.rpartition(".")[2] for each in names]
    assert [each for each in last if each not in digest.text] == []
    assert "left out of" in digest.left_out


@pytest.mark.parametrize("name", [name for name in SOURCES if name not in ("a.sql", "a.cpp")])
def test_source_too_large_for_grammar_is_summarised_by_lines(name):
    text, names, _ = SOURCES[name]
    comment = "#" if name.endswith((".rb", ".sh")) else "//"
    filling = f"{comment} nothing to see here, only a long line of words that say nothing at all\n" * 6_000
    digest = build_digest(name, text + "\n" + filling)
    assert names[0] in digest.text
    assert len(digest.text) < 3_000


def test_documentation_and_heads_are_told_where_there_is_room():
    text, _, _ = SOURCES["a.go"]
    report = build_digest("a.go", text + "// filling words that say nothing at all\n" * 60).text
    assert "func (b *Box) Area(x int) (int, error)  # Area tells." in report
    assert "imports: fmt" in report
