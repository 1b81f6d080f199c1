"""Asks DuckDB, by its package for Python, what the program duckdb would be asked.

Arguments: what comes before the question (SQL), the format of the answer, its width. The question
comes from standard input.
"""

import sys

# The folder that one stands in may be anybody's, with a duckdb.py in it.
sys.path = [folder for folder in sys.path if folder]

import csv
import json
import math

import duckdb

AT_ONCE = 4096


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


def text(value):
    """A value as a cell of text."""
    if value is None:
        return ""
    if isinstance(value, (bool, dict, list, tuple)):
        return json.dumps(plain(value), ensure_ascii=False)
    return str(value)


def rows(answer):
    while some := answer.fetchmany(AT_ONCE):
        yield from some


def as_csv(names, answer):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(names)
    for row in rows(answer):
        out.writerow(text(value) for value in row)


def as_json(names, answer):
    keys = [json.dumps(name, ensure_ascii=False) for name in names]
    before = "["
    for row in rows(answer):
        cells = (json.dumps(plain(value), ensure_ascii=False) for value in row)
        print(before + "{" + ",".join(f"{key}:{cell}" for key, cell in zip(keys, cells)) + "}", end="")
        before = ",\n"
    print("]" if before != "[" else "[]")


def as_markdown(names, answer):
    def line(cells):
        cells = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
        print("| " + " | ".join(cells) + " |")

    line(names)
    line("---" for _ in names)
    for row in rows(answer):
        line(text(value) for value in row)


PRINT = {"csv": as_csv, "json": as_json, "markdown": as_markdown}


def ask(before, form, width):
    database = duckdb.connect(":memory:")
    with open(before, encoding="utf-8") as file:
        database.execute(file.read())
    kinds = duckdb.StatementType
    answers = [kinds.SELECT, kinds.EXPLAIN, kinds.CALL, kinds.PRAGMA]
    for statement in database.extract_statements(sys.stdin.read()):
        if statement.type not in answers:
            database.execute(statement)
        elif form == "table":
            found = database.sql(statement)
            if found is not None:
                found.show(max_width=width)
        else:
            answer = database.execute(statement)
            PRINT[form]([column[0] for column in answer.description or []], answer)


for stream in (sys.stdin, sys.stdout, sys.stderr):
    stream.reconfigure(encoding="utf-8")
try:
    ask(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.stdout.flush()
except duckdb.Error as error:
    sys.stdout.flush()
    sys.exit(str(error))
