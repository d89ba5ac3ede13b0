"""The CSV of ratings: what is read, what is refused and where, and the form that is filled in."""

from __future__ import annotations

import csv
import io

import pytest

from responsa.errors import InputError
from responsa.taxonomy.evaluation.files import COLUMNS, read_annotations, template

HEAD = "row,method,generation,HE1,HE2,HE3,C21,C31,C32,logic_hole,conclusion"


@pytest.fixture
def written(tmp_path):
    def write(*lines, head=HEAD):
        path = tmp_path / "ratings.csv"
        path.write_bytes(("\ufeff" + "\r\n".join([head, *lines]) + "\r\n").encode())
        return path

    return write


def refused(path):
    with pytest.raises(InputError) as error:
        read_annotations(path)
    return str(error.value)


def test_ratings_are_read(written):
    found, blank = read_annotations(
        written(
            "d1,zero-shot-cot,0,2,-1,3,1,0,1,,True",
            "d1,traditional,1,,,0,,,,criteria,not_aligned",
            head=f"{HEAD},BE_SCC,rater,note on tone",
        )
    )
    assert blank == []
    first, second = found
    assert (first.row, first.method, first.generation, first.line) == ("d1", "zero-shot-cot", 0, 2)
    assert (dict(first.scores), first.links, first.conclusion) == ({1: 2, 2: -1, 3: 3}, (1, 0, 1), "true")
    assert (dict(second.scores), second.links, second.hole) == ({3: 0}, None, "criteria")


def test_columns_in_any_order_and_case_parted_by_semicolons_with_decimal_commas(written):
    (found,), _ = read_annotations(
        written(
            "3;d1;few-shot-cot;4;2;2;1;1;1;0,25;-0,1;A",
            head="he3;Row;Method;Generation;he1;he2;c21;c31;c32;bl_1;BE_1;Rater",
        )
    )
    assert found.scores[3] == 3
    assert found.metrics == {"BL_1": 0.25, "BE_1": -0.1}
    assert found.rater == "A"


def test_lines_that_nobody_has_rated_yet_are_left_out_and_told(written):
    found, blank = read_annotations(
        written(
            "d1,zero-shot-cot,0,,,,,,,,true", "d1,zero-shot-cot,1,2,2,2,1,1,1,,true", "", "d2,traditional,0,,,,,,,,"
        )
    )
    assert len(found) == 1
    assert blank == [2, 5]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("d1,zero-shot-cot,0,,2,2,1,1,1,,", "line 2: HE1 is missing"),
        ("d1,zero-shot-cot,0,2,2,,1,1,1,,", "line 2: HE3 is missing"),
        ("d1,zero-shot-cot,0,good,2,2,1,1,1,,", "line 2: HE1 is 'good'; write -1, 0, 1 or 2"),
        ("d1,zero-shot-cot,0,3,2,2,1,1,1,,", "line 2: HE1 is '3'; write -1, 0, 1 or 2"),
        ("d1,zero-shot-cot,0,2,2,4,1,1,1,,", "line 2: HE3 is '4'; write -1, 0, 1, 2 or 3"),
        ("d1,zero-shot-cot,0,2,2,2.0,1,1,1,,", "HE3 is '2.0'"),
        ("d1,zero-shot-cot,0,2,2,2,yes,1,1,,", "line 2: C21 is 'yes'; write 0 or 1"),
        ("d1,zero-shot-cot,0,2,2,2,1,1,,,", "line 2: C32 is missing"),
        ("d1,zero-shot,0,2,2,2,1,1,1,,", "no method 'zero-shot'; did you mean 'zero-shot-cot'"),
        ("d1,zero-shot-cot,first,2,2,2,1,1,1,,", "generation is 'first'; write its number"),
        (",zero-shot-cot,0,2,2,2,1,1,1,,", "line 2: no row"),
        ("d1,traditional,0,2,,2,1,,,,", "one step, step 3; leave HE1, C21 empty"),
        ("d1,zero-shot-cot,0,2,2,0,1,1,1,criterion,", "no logic_hole 'criterion'; did you mean 'criteria'"),
        ("d1,zero-shot-cot,0,2,2,2,1,1,1,criteria,", "a hole explains an HE3 of 1 or less"),
        ("d1,zero-shot-cot,0,2,2,2,1,1,1,,maybe", "conclusion is 'maybe'"),
        ("d1,zero-shot-cot,0,2,2,2,1,1,1,,true,more", "12 cells under a head of 11"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(written, line, message):
    said = refused(written(line))
    assert message in said
    assert "ratings.csv" in said


@pytest.mark.parametrize("value", ["45.3", "nan", "1e999", "high", "1.01"])
def test_metrics_are_shares(written, value):
    assert f"BL_3 is {value!r}" in refused(written(f"d1,traditional,0,,,2,,,,,,{value}", head=f"{HEAD},BL_3"))


def test_lines_are_those_of_the_file_where_cells_hold_several(written):
    said = refused(
        written('d1,traditional,0,,,2,,,,,,"two\r\nlines"', "d2,traditional,0,,,x,,,,,,", head=f"{HEAD},step_3")
    )
    assert "line 4: HE3 is 'x'" in said


def test_a_generation_rated_twice_by_one_rater(written):
    line = "d1,traditional,0,,,2,,,,,,"
    head = f"{HEAD},rater"
    assert len(read_annotations(written(line + "A", line + "B", head=head))[0]) == 2
    assert "line 3: 'd1', traditional, generation 0 is on line 2" in refused(written(line + "A", line + "A", head=head))


def test_many_wrong_lines_are_told_in_short(written):
    said = refused(written(*(f"d{at},traditional,0,,,x,,,,," for at in range(9))))
    assert said.count("HE3 is 'x'") == 5
    assert "and 4 more lines" in said


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("row,method,generation", "no column HE3"),
        (f"{HEAD},BL3", "unknown column 'BL3'; did you mean 'BL_3'"),
        (f"{HEAD},he1", "column 'HE1' comes twice"),
        ("", "is empty"),
    ],
)
def test_heads(written, head, message):
    assert message in refused(written(head=head))


def test_files_that_are_none(tmp_path):
    assert "cannot be read" in refused(tmp_path / "none.csv")
    path = tmp_path / "b.csv"
    path.write_bytes(b"row,method\xff\n")
    assert "UTF-8" in refused(path)
    path.write_text(HEAD + "\n")
    assert "no generation is rated" in refused(path)


def test_the_form_has_all_columns_and_no_formulas():
    text = template(
        [{"row": "=d1", "method": "traditional", "generation": "0", "step_3": "=HYPERLINK(1)", "BL_3": "-0.1"}]
    )
    (row,) = csv.DictReader(io.StringIO(text))
    assert list(row) == list(COLUMNS)
    assert (row["row"], row["step_3"]) == ("'=d1", "'=HYPERLINK(1)")
    assert row["BL_3"] == "-0.1"
    assert row["HE3"] == ""


def test_the_form_filled_in_is_read(tmp_path):
    text = template(
        [{"row": "d1", "method": "traditional", "generation": "0", "step_3": 'Two\nlines, "quoted"', "BL_3": "0.5"}]
    )
    rows = list(csv.DictReader(io.StringIO(text)))
    rows[0]["HE3"] = "2"
    path = tmp_path / "filled.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    (found,), blank = read_annotations(path)
    assert (found.scores[3], found.metrics, blank) == (2, {"BL_3": 0.5}, [])
