"""Acts fetched from Cellar, as it is played back on this machine: what is asked, what is kept, what goes wrong."""

from __future__ import annotations

import io
import json
import random
import sys
import tempfile
import zipfile
from datetime import date
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import PREPARE, add, findings, texts, versions, write_rulebook
from responsa.corpus import cellar, fetch, library
from responsa.corpus.library import Library
from responsa.corpus.limits import Limits
from responsa.corpus.readers import read_bytes
from responsa.errors import FetchError, InputError, LibraryError, MissingDependency, ReadError
from responsa.pacing import Clock
from responsa.testing import CellarServer

ACT = "celex:32028R0077"
TODAY = "celex:32028R0077@2030-01-01"
TITLE = "<TITLE><TI><P>Regulation (EU) 2028/77</P><P>on bread</P></TI></TITLE>"


def terms(text: str) -> str:
    return f"<ENACTING.TERMS><ARTICLE><TI.ART>Article 1</TI.ART><ALINEA>{text}</ALINEA></ARTICLE></ENACTING.TERMS>"


def consolidated(text: str, start: str, celex: str = "32028R0077") -> str:
    return (
        f'<CONS.ACT><INFO.CONSLEG START.DATE="{start}" END.DATE="99999999"/><CONS.DOC><FAM.COMP><BIB.DATA><NO.CELEX>'
        f"{celex}</NO.CELEX></BIB.DATA></FAM.COMP>{TITLE}{terms(text)}</CONS.DOC></CONS.ACT>"
    )


def published(text: str) -> str:
    return f'<ACT><BIB.INSTANCE><DATE ISO="20280605">x</DATE></BIB.INSTANCE>{TITLE}{terms(text)}</ACT>'


def annex(number: str, text: str) -> str:
    return f"<ANNEX><TITLE><TI><P>ANNEX {number}</P></TI></TITLE><CONTENTS><P>{text}</P></CONTENTS></ANNEX>"


def package(*parts: str, clock: int = 0, **named: str) -> bytes:
    """An archive of the parts; ``clock`` is when it was packed, as Cellar packs anew for each request."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in [*((f"L_{place}.xml", part) for place, part in enumerate(parts)), *named.items()]:
            archive.writestr(zipfile.ZipInfo(name, (2030, 1, 1, 0, 0, 2 * clock)), text, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("picture.tif"), random.Random(1).randbytes(5000))
    return buffer.getvalue()


def page(*paragraphs: str) -> bytes:
    body = "".join(f'<p class="{kind}">{text}</p>' for kind, _, text in (each.partition("|") for each in paragraphs))
    return (
        f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{body}</body></html>'.encode()
    )


PAGE = page("doc-ti|REGULATION (EU) 2028/77", "doc-ti|on bread", "ti-art|Article 1", "normal|Bread is brown.")
FIRST, SECOND = (
    package(consolidated("Bread is round.", "20290101")),
    package(consolidated("Bread is flat.", "20300601")),
)
WORKS = {
    "32028R0077": {"fmx4": package(published("Bread is fresh."))},
    "02028R0077-20290101": {"fmx4": FIRST},
    "02028R0077-20300601": {"fmx4": SECOND},
    "02028R0770-20290101": {"fmx4": b"of another act"},
}


class Time:
    """A clock that sleeping moves on, and nothing else."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def sleep(self, seconds):
        self.slept.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture(autouse=True)
def moment(monkeypatch, tmp_path):
    moment = Time()
    clock = Clock(monotonic=lambda: moment.now, wall=lambda: 0.0, sleep=moment.sleep, jitter=lambda: 1.0)
    monkeypatch.setattr(fetch, "CLOCK", clock)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return moment


@pytest.fixture
def serve(monkeypatch):
    """Starts a server of works and points Responsa at it."""
    opened = []

    def serve(works=WORKS, **settings):
        server = CellarServer(works, **settings).__enter__()
        opened.append(server)
        monkeypatch.setenv("RESPONSA_CELLAR", server.address)
        return server

    yield serve
    for server in opened:
        server.__exit__(None, None, None)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """A command in this process: its exit status, what it printed, what it noted."""

    def run(*arguments):
        from responsa.cli import main

        monkeypatch.setattr(sys, "argv", ["responsa", "--library", str(folder), *map(str, arguments)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code
        printed = capsys.readouterr()
        return (status, printed.out, printed.err) if isinstance(status, int) else (1, printed.out, str(status))

    return run


def report(folder, *sources, **settings):
    return library.add(folder, [Path(source) for source in sources], PREPARE, **settings)


def status(folder, *sources, **settings):
    """What became of each source, with the reason."""
    files = report(folder, *sources, **settings).files
    return {file.path: f"{file.status} {file.reason}".strip() for file in files}


def only(folder, source, **settings):
    ((_, became),) = status(folder, source, **settings).items()
    return became


def cached(suffix):
    (path,) = cellar._folder(cellar._server()).glob(f"*{suffix}")
    return path


def asked(server):
    return [request.path.partition("?")[0] for request in server.requests]


# What is wanted


@pytest.mark.parametrize(
    ("text", "celex", "day"),
    [
        ("celex:32013R0575", "32013R0575", None),
        ("CELEX:32013r0575", "32013R0575", None),
        ("celex:32013R0575@2024-07-09", "32013R0575", date(2024, 7, 9)),
        ("celex:02013R0575-20240709", "02013R0575-20240709", None),
    ],
)
def test_sources(text, celex, day):
    assert cellar.is_source(text)
    wanted = cellar.parse(text)
    assert (wanted.celex, wanted.day, wanted.act) == (celex, day, "32013R0575")
    assert cellar.parse(wanted.name) == wanted


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("celex:", "no CELEX number"),
        ("celex:575/2013", "no CELEX number"),
        ("celex:32013R575", "no CELEX number"),
        ("celex:32013R0575@9.7.2024", "no CELEX number"),
        ("celex:02013R0575", "no CELEX number"),
        ("celex:02013R0575-20240709@2024-07-09", "no CELEX number"),
        ("celex:32013R0575/../../x", "no CELEX number"),
        ("celex:32013R0575@2024-02-30", "not a date"),
        ("celex:02013R0575-20241340", "not a date"),
        ("celex:32013R0575@2012-12-31", "before that"),
    ],
)
def test_what_is_no_source(folder, serve, text, why):
    server = serve()
    with pytest.raises(InputError, match=why):
        cellar.parse(text)
    assert why in only(folder, text)
    assert server.requests == []


@pytest.mark.parametrize(
    ("source", "expected", "start"),
    [
        (ACT, "Bread is fresh.", None),
        ("celex:32028R0077@2029-01-01", "Bread is round.", date(2029, 1, 1)),
        (TODAY, "Bread is round.", date(2029, 1, 1)),
        ("celex:32028R0077@2030-06-01", "Bread is flat.", date(2030, 6, 1)),
        ("celex:02028R0077-20300601", "Bread is flat.", date(2030, 6, 1)),
        ("celex:32028R0077@2028-12-31", "Bread is fresh.", None),  # nothing had been amended yet
    ],
)
def test_the_text_of_a_day(folder, serve, source, expected, start):
    serve()
    assert only(folder, source) == "added"
    (version,) = versions(folder, "32028R0077")
    assert expected in texts(folder, "32028R0077")
    assert start is None or version.valid_from == start


def test_two_days_are_two_versions_and_the_last_source_of_one_is_removed_with_it(folder, serve, run):
    serve()
    later = "celex:32028R0077@2031-01-01"
    assert status(folder, TODAY, later, "celex:32028R0077@2031-02-02") == {
        TODAY: "added",
        later: "added",
        "celex:32028R0077@2031-02-02": "added",
    }
    assert len(versions(folder, "32028R0077")) == 2
    assert run("remove", later.upper().replace("CELEX", "celex"))[0] == 0
    assert len(versions(folder, "32028R0077")) == 2
    assert run("remove", TODAY)[0] == 0
    assert [each.valid_from for each in versions(folder, "32028R0077")] == [date(2030, 6, 1)]


def test_a_text_that_was_not_in_force_yet_is_refused(folder, serve):
    serve({"32028R0077": {"fmx4": package(published("This Regulation shall enter into force on 1 May 2029."))}})
    assert "was not yet in force on 2028-08-01, but from 2029-05-01" in only(folder, "celex:32028R0077@2028-08-01")


# How it is asked


def test_requests_are_polite(folder, serve, moment):
    server = serve()
    assert only(folder, TODAY) == "added"
    assert asked(server) == [
        "/webapi/rdf/sparql",
        "/resource/celex/02028R0077-20290101",
        "/resource/cellar/02028R0077-20290101.fmx4/zip",
    ]
    headers = [request.headers for request in server.requests]
    assert all(each["user-agent"].startswith("Responsa/") for each in headers)
    assert [each["accept"] for each in headers] == [
        "application/sparql-results+json",
        *["application/zip;mtype=fmx4"] * 2,
    ]
    assert [each.get("accept-language") for each in headers] == [None, "eng", "eng"]
    assert moment.slept == [1.0, 1.0]  # one second from each to the next


def test_html_where_there_is_no_formex(folder, serve):
    server = serve({"32028R0077": {"html": PAGE}})
    assert only(folder, ACT) == "added"
    assert "Bread is brown." in texts(folder, "32028R0077")
    assert [each.headers["accept"] for each in server.requests] == [
        "application/zip;mtype=fmx4",
        "application/xhtml+xml",
        "text/html",
        "text/html",
    ]


def test_formex_that_is_listed_and_not_there(folder, serve):
    server = serve({"32028R0077": {"fmx4": b"", "xhtml": PAGE}})
    server.faults("ok", "404")
    assert only(folder, ACT) == "added"
    assert asked(server)[1:] == [
        "/resource/cellar/32028R0077.fmx4/zip",
        "/resource/celex/32028R0077",
        "/resource/cellar/32028R0077.xhtml/DOC_1",
    ]


@pytest.mark.parametrize("code", [400, 404, 406, 415])
def test_a_form_that_is_refused_gives_way_to_the_next(folder, serve, code):
    server = serve({"32028R0077": {"fmx4": FIRST, "xhtml": PAGE}})
    server.faults(str(code))
    assert only(folder, ACT) == "added"
    assert "Bread is brown." in texts(folder, "32028R0077")


def test_a_server_that_does_not_answer(serve, tmp_path):
    server = serve()
    server.faults("slow:5")
    downloads = fetch.Downloads(server.address, 1 << 20, timeout=0.2, attempts=1)
    with pytest.raises(FetchError, match=r"no answer within 0\.2 seconds"):
        downloads.get(fetch.Request(f"{server.address}/x", tmp_path / "x", ["text/html"], lambda _: ""))
    downloads.close()


def test_a_server_that_takes_too_long_in_all(serve, tmp_path, moment):
    server = serve()
    url = f"{server.address}/resource/cellar/32028R0077.fmx4/zip"
    downloads = fetch.Downloads(server.address, 1 << 20, seconds=5, attempts=1)
    downloads.clock = Clock(monotonic=lambda: moment.sleep(6) or moment.now, sleep=moment.sleep)
    with pytest.raises(FetchError, match="was not complete within 5 seconds"):
        downloads.get(fetch.Request(url, tmp_path / "x", ["application/zip"], lambda _: ""))
    downloads.close()


def test_pages_that_make_no_act_together(folder, serve):
    serve({"32028R0077": {"xhtml": [PAGE, b"<html>no body</html>"]}})
    assert "has no body" in only(folder, ACT)
    serve({"32028R0077": {"xhtml": [PAGE] * 101}})
    assert "is in 101 files as HTML, more than 100" in only(folder, ACT)
    padded = PAGE.replace(b"<body>", b"<body>" + b" " * 600_000)
    serve({"32028R0077": {"xhtml": [padded, padded]}})
    assert "is larger than 1 MiB" in only(folder, ACT, limits=Limits(size=1))


def test_an_act_in_several_pages(folder, serve):
    more = [page("doc-ti|ANNEX I", "normal|Rye."), page("doc-ti|ANNEX II", "normal|Wheat.")]
    server = serve({"32028R0077": {"xhtml": [PAGE, *more]}})
    assert only(folder, ACT) == "added"
    found = texts(folder, "32028R0077")
    assert [text for text in found if text in ("Bread is brown.", "Rye.", "Wheat.")] == [
        "Bread is brown.",
        "Rye.",
        "Wheat.",
    ]
    server.reset()
    assert only(folder, ACT) == "unchanged"
    assert [each.headers.get("if-none-match") is not None for each in server.requests[-3:]] == [True] * 3
    assert only(folder, ACT, offline=True) == "unchanged"


def test_what_has_not_changed_is_not_sent_again(folder, serve):
    server = serve()
    only(folder, TODAY)
    before = cached(".fmx4").stat().st_mtime_ns
    server.reset()
    assert only(folder, TODAY) == "unchanged"
    assert "if-none-match" in server.requests[-1].headers
    assert "if-none-match" not in server.requests[-2].headers  # the tag is that of the file, not of the redirect
    assert cached(".fmx4").stat().st_mtime_ns == before


def test_an_archive_packed_anew_says_the_same(folder, serve):
    works = {"32028R0077": {"fmx4": package(published("Bread is fresh."), clock=1)}}
    server = serve(works, validators="")
    only(folder, ACT)
    kept = cached(".fmx4").read_bytes()
    server.works["32028R0077"] = {"fmx4": package(published("Bread is fresh."), clock=2)}
    assert only(folder, ACT) == "unchanged"
    assert cached(".fmx4").read_bytes() == kept
    server.works["32028R0077"] = {"fmx4": package(published("Bread is stale."), clock=3)}
    assert only(folder, ACT) == "changed"
    assert "Bread is stale." in texts(folder, "32028R0077")


# What is cut off


@pytest.mark.parametrize(("validators", "resumed"), [("etag", True), ("date", True), ("", False)])
def test_a_cut_is_resumed_where_the_bytes_are_known_to_be_the_same(folder, serve, validators, resumed):
    server = serve(validators=validators)
    server.faults("ok", "cut:3000")
    assert only(folder, ACT) == "added"
    asked_again = server.requests[-1].headers
    assert asked_again.get("range") == ("bytes=3000-" if resumed else None)
    assert ("if-range" in asked_again) is resumed
    assert cached(".fmx4").read_bytes() == WORKS["32028R0077"]["fmx4"]


@given(cuts=st.lists(st.integers(1, 5000), max_size=4), validators=st.sampled_from(["etag", "date", ""]))
@settings(max_examples=15, deadline=None)
def test_however_often_it_is_cut_the_bytes_are_those_of_the_server(cuts, validators):
    content = WORKS["32028R0077"]["fmx4"]
    with tempfile.TemporaryDirectory() as place, CellarServer(WORKS, validators=validators) as server:
        target = Path(place) / "act.fmx4"
        for cut in cuts:
            server.faults("ok", f"cut:{cut}")
        downloads = fetch.Downloads(server.address, 1 << 20)
        headers = {"Accept": "application/zip;mtype=fmx4", "Accept-Language": "eng"}
        url = f"{server.address}/resource/celex/32028R0077"
        downloads.get(fetch.Request(url, target, ["application/zip"], lambda _: "", headers))
        downloads.close()
        assert target.read_bytes() == content
        assert fetch.kept(target)["size"] == len(content)


def test_a_cut_is_resumed_by_the_next_command(folder, serve, run):
    server = serve()
    server.faults("ok", "cut:3000", *["drop"] * 4)
    code, _, noted = run("add", ACT)
    assert code == 1
    assert "the connection broke off" in noted
    assert "tried 5 times" in noted
    server.reset()
    assert run("add", ACT)[0] == 0
    assert server.requests[-1].headers["range"] == "bytes=3000-"
    assert not list(cached(".fmx4").parent.glob("*.part*"))


def test_an_interrupted_download_is_resumed(folder, serve):
    server = serve()

    def stop(done, _total, _label):
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report(folder, ACT, progress=stop)
    part = cached(".part")
    assert not folder.exists()
    part.write_bytes(part.read_bytes()[:2000])  # loopback sends it all at once
    server.reset()
    assert only(folder, ACT) == "added"
    assert server.requests[-1].headers["range"] == "bytes=2000-"


def test_what_has_changed_since_the_cut_begins_anew(folder, serve):
    server = serve()
    server.faults("ok", "cut:3000", *["503"] * 4)
    only(folder, ACT)
    server.works["32028R0077"] = {"fmx4": package(published("Bread is stale."))}
    assert only(folder, ACT) == "added"
    assert cached(".fmx4").read_bytes() == server.works["32028R0077"]["fmx4"]


def test_a_range_that_does_not_exist_begins_anew(folder, serve):
    server = serve()
    server.faults("ok", "cut:3000", "416")
    assert only(folder, ACT) == "added"
    assert "range" not in server.requests[-1].headers


# What goes wrong: each by the command line, with a file beside it that is none the worse


@pytest.mark.parametrize(
    ("faults", "why"),
    [
        (["500*9"], "status 500 (tried 5 times)"),
        (["503*9"], "status 503 (tried 5 times)"),
        (["429*9"], "status 429 (tried 5 times)"),
        (["429:9999"], "status 429; try again in 9999 seconds"),
        (["403"], "refuses the request (status 403)"),
        (["drop*9"], "the connection broke off"),
        (["ok", "cut:3000", "drop*9"], "the connection broke off"),
        (
            ["ok", "page", "ok", "page", "ok", "page", "ok", "page", "ok", "page"],
            "'text/html' where 'application/zip' was due",
        ),
        (["page*9"], "'text/html' where 'application/zip' was due"),
        (["empty*9"], "no archive, or not all of one"),
        (["mislabelled*10"], "'text/plain' where 'application/zip' was due"),
        (["ok", "flipped"] * 5, "checksum mismatch"),
        (["loop*9"], "sends on and on"),
        (["moved:http://elsewhere.invalid/x"], "another server, 'elsewhere.invalid'"),
        (["moved:http://169.254.169.254/latest"], "another server, '169.254.169.254'"),
        (["moved:http://127.0.0.1:1/x"], "another server, '127.0.0.1:1'"),
        (["moved:file:///etc/passwd"], "no address of the web"),
        (["moved:http://user:word@127.0.0.1/x"], "no address of the web"),
        (["moved"], "no address of the web"),
    ],
)
def test_faults(folder, serve, run, tmp_path, faults, why):
    server = serve()
    server.faults(*faults)
    code, printed, noted = run("add", ACT, write_rulebook(tmp_path / "ferry.md", ["A Ferry floats."]))
    assert code == 1
    assert "1 added" in printed
    assert f"refused: {ACT}: http" in noted
    assert why in noted
    assert "Traceback" not in noted
    server.reset()
    assert only(folder, ACT) == "added"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("celex:32099R0001", "there is no act 32099R0001 in Cellar"),
        ("celex:02028R0077-20290102", "there is no act 02028R0077-20290102 in Cellar"),
        ("celex:32028L0001", "there is no English text of 32028L0001"),
        ("celex:bread", "no CELEX number"),
    ],
)
def test_what_is_not_there(serve, run, source, why):
    serve(WORKS | {"32028L0001": {"pdf": b"%PDF"}})
    code, _, noted = run("add", source)
    assert code == 1
    assert why in noted


@pytest.mark.parametrize("fault", ["page", "mislabelled", "empty", "cut:20", "500"])
def test_a_list_of_versions_that_cannot_be_read(folder, serve, fault):
    server = serve()
    server.faults(f"{fault}*5")
    became = only(folder, TODAY)
    assert became.startswith("refused")
    assert "/webapi/rdf/sparql:" in became
    assert only(folder, TODAY) == "added"


def test_a_list_that_the_server_has_not_finished_is_asked_for_again(folder, serve, monkeypatch):
    server = serve()
    whole, calls = server._sparql, []

    def partly(query):
        calls.append(query)
        reply = whole(query)
        if len(calls) > 1:
            return reply
        rows = json.dumps({"results": {"bindings": []}}).encode()
        return type(reply)(200, rows, (*reply.headers, ("X-SQL-State", "S1TAT")))

    monkeypatch.setattr(server, "_sparql", partly)
    assert only(folder, TODAY) == "added"
    assert "Bread is round." in texts(folder, "32028R0077")


def test_a_list_that_is_refused_names_the_way_round(folder, serve):
    server = serve()
    server.faults("404")
    assert "name a version itself: celex:02028R0077-YYYYMMDD" in only(folder, TODAY)


def test_the_pause_that_the_server_asks_for_is_kept(folder, serve, moment):
    server = serve()
    server.faults("429:7", "503:Thu, 01 Jan 1970 00:00:40 GMT", "500")
    assert only(folder, ACT) == "added"
    assert moment.slept[:3] == [7.0, 40.0, 2.0]


def test_a_list_that_is_too_long(folder, serve, monkeypatch):
    serve()
    monkeypatch.setattr(cellar, "_LIST", 10)
    assert "is larger than 10 bytes, as no such answer is" in only(folder, TODAY)


def test_proxies_that_cannot_be_used(folder, monkeypatch):
    monkeypatch.setenv("RESPONSA_CELLAR", "http://mirror.invalid")
    monkeypatch.setenv("ALL_PROXY", "nonsense://127.0.0.1:1")
    assert "the proxy or certificate settings of this machine cannot be used" in only(folder, ACT)


def test_what_is_too_large_is_refused(folder, serve, monkeypatch):
    content = bytes(range(256)) * 5000
    serve({"32028R0077": {"fmx4": content}})
    assert "is larger than 1 MiB; allow more with --max-size" in only(folder, ACT, limits=Limits(size=1))
    monkeypatch.setattr(fetch, "_place", lambda _response, _part: (0, None))  # the server does not say how large
    assert "is larger than 1 MiB; allow more with --max-size" in only(folder, ACT, limits=Limits(size=1))
    assert not list(cellar._folder(cellar._server()).glob("32028R0077*"))


def test_another_act_than_asked_for_is_refused_and_not_kept(folder, serve):
    server = serve(
        {"32028R0078": {"fmx4": FIRST}, "02028R0077-20290102": {"fmx4": FIRST}, "32028R0079": {"html": page("h|Sorry")}}
    )
    assert "what came is 32028R0077, not 32028R0078" in only(folder, "celex:32028R0078")
    assert "the version of 2029-01-01, not of 2029-01-02" in only(folder, "celex:02028R0077-20290102")
    assert "what came is 32028R0079.eng, not 32028R0079" in only(folder, "celex:32028R0079")
    assert not list(cellar._folder(server.address).glob("*.fmx4*"))


def test_names_in_an_archive_are_not_paths_and_bombs_are_refused(folder, serve, tmp_path):
    serve({"32028R0077": {"fmx4": package(**{"../../../evil.xml": published("Bread is fresh."), "/root.tif": "x"})}})
    assert only(folder, ACT) == "added"
    assert not list(tmp_path.rglob("evil*"))
    serve({"32028R0077": {"fmx4": package(published("x"), **{"bomb.xml": "<ANNEX>" + " " * (30 << 20) + "</ANNEX>"})}})
    assert "becomes more than" in only(folder, ACT)


# Without a network


def test_offline_takes_what_is_in_the_cache(folder, serve, run):
    server = serve()
    assert run("add", TODAY)[0] == 0
    server.reset()
    assert run("add", "--offline", TODAY)[0] == 0
    code, _, noted = run("add", "--offline", ACT)
    assert code == 1
    assert "32028R0077 is not in the cache; leave out --offline, or fetch it where there is a network" in noted
    assert "-o 32028R0077.fmx4 https://publications.europa.eu/resource/celex/32028R0077" in noted
    assert "leave out --offline" in run("add", "--offline", "celex:32029R0001@2030-01-01")[2]
    assert server.requests == []


def test_a_damaged_copy_is_fetched_again(folder, serve):
    server = serve()
    only(folder, ACT)
    cached(".fmx4").write_bytes(b"PK damaged")
    assert "not in the cache" in only(folder, ACT, offline=True)
    server.reset()
    assert only(folder, ACT) == "unchanged"
    assert "if-none-match" not in server.requests[-1].headers


def test_no_network(folder, run, monkeypatch):
    monkeypatch.setenv("RESPONSA_CELLAR", "http://127.0.0.1:1")
    code, _, noted = run("add", ACT)
    assert code == 1
    assert "cannot be reached" in noted
    assert "check the network and the proxy settings" in noted


@pytest.mark.parametrize(
    "address", ["publications.europa.eu", "ftp://x", "http://", "http://a b", "http://u:p@x", "http://x?q"]
)
def test_addresses_that_are_none(folder, monkeypatch, address):
    monkeypatch.setenv("RESPONSA_CELLAR", address)
    with pytest.raises(InputError, match="is no address of a server"):
        report(folder, ACT)


def test_the_library_that_fetches_is_named_where_it_is_missing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingDependency, match=r"responsa\[fetch\]"):
        report(folder, ACT)


def test_one_process_fetches_at_a_time(folder, serve, monkeypatch):
    server = serve()
    monkeypatch.setattr(cellar, "_WAIT", 0.0)
    place = cellar._folder(server.address)
    place.mkdir(parents=True)
    with FileLock(place / ".lock"), pytest.raises(FetchError, match="another process"):
        report(folder, ACT)


def test_a_cache_that_cannot_be_written(folder, serve, monkeypatch, tmp_path):
    serve()
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(LibraryError, match="set XDG_CACHE_HOME"):
        report(folder, ACT)


@pytest.mark.parametrize(
    ("base", "location", "leads"),
    [
        (
            "https://publications.europa.eu",
            "http://publications.europa.eu/resource/x#y",
            "https://publications.europa.eu/resource/x",
        ),
        ("https://publications.europa.eu", "/resource/x", "https://publications.europa.eu/resource/x"),
        ("https://publications.europa.eu", "http://publications.europa.eu:8080/x", None),
        ("https://publications.europa.eu", "https://publications.europa.eu.evil.example/x", None),
        ("https://publications.europa.eu", "//evil.example/x", None),
        ("http://127.0.0.1:8000", "https://127.0.0.1:8000/x", "https://127.0.0.1:8000/x"),
        ("http://mirror.example", "http://[::1]/x", None),
    ],
)
def test_redirects_stay_on_the_server(base, location, leads):
    downloads = fetch.Downloads(base, 100)
    if leads is None:
        with pytest.raises(FetchError, match="another server"):
            downloads.within(f"{base}/a/b", location)
    else:
        assert downloads.within(f"{base}/a/b", location) == leads


# In the library


def test_documents_and_verify_know_where_it_came_from(folder, serve, run):
    serve()
    assert run("add", TODAY)[0] == 0
    assert json.loads(run("documents", "--json")[1])["documents"][0]["source"] == TODAY
    assert [each.state for each in findings(folder) if each.what == "source"] == ["ok"]
    cached(".fmx4").unlink()
    (finding,) = [each for each in findings(folder) if each.what == "source"]
    assert finding.state == "note"
    assert "adding it again fetches it" in finding.detail
    assert run("verify")[0] == 0


def test_a_file_does_not_take_the_place_of_what_was_fetched(folder, serve, tmp_path):
    serve()
    only(folder, TODAY)
    path = tmp_path / "mine.xml"
    path.write_text(consolidated("Bread is square.", "20290101"))
    (file,) = add(folder, path).files
    assert f"is already in the library from {TODAY}" in file.reason
    assert "Bread is round." in texts(folder, "32028R0077")


def test_fetching_reports_its_progress(folder, serve):
    serve()
    seen = []
    report(folder, ACT, progress=lambda *step: seen.append(step))
    size = len(WORKS["32028R0077"]["fmx4"])
    assert (size, size, "32028R0077.eng.fmx4") in seen


def test_a_real_act(folder, serve, data):
    content = (data / "eu_law/originals/32015r0061_2022-07-08.fmx4.xml").read_text(encoding="utf-8")
    serve({"02015R0061-20220708": {"fmx4": package(content)}, "02015R0061-20200430": {"fmx4": b""}})
    assert only(folder, "celex:32015R0061@2023-01-01") == "added"
    (edition,) = read_bytes(content.encode(), "x.xml")
    with Library.open(folder) as opened:
        (version,) = opened.corpus().versions
        assert tuple(opened.corpus().passages(version)) == edition.passages
    assert version.valid_from == date(2022, 7, 8)


# Packages


def names(*parts, **named):
    (edition,) = read_bytes(package(*parts, **named), "32028R0077.fmx4")
    return [passage.number for passage in edition.passages]


def test_annexes_follow_in_the_order_of_the_list():
    listed = '<DOC><FMX><REF.PHYS FILE="L_0.xml"/><REF.PHYS FILE="L_2.xml"/><REF.PHYS FILE="L_1.xml"/></FMX></DOC>'
    parts = published("Bread."), annex("II", "Wheat."), annex("I", "Rye.")
    assert [each for each in names(*parts) if "Annex" in each] == ["Annex II", "Annex I"]
    assert [each for each in names(*parts, **{"x.doc.xml": listed}) if "Annex" in each] == ["Annex I", "Annex II"]


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([], "is no package of one act: the files that hold an act are: none"),
        ([annex("I", "x")], "the files that hold an act are: none"),
        ([published("x"), published("y")], "the files that hold an act are: L_0.xml, L_1.xml"),
        ([published("x"), "<LETTER/>"], "part 'L_1.xml' is a 'LETTER', which no reader knows"),
        ([published("x"), "<ANNEX>"], "part 'L_1.xml' line 1: is cut off"),
        ([published("x"), "<!DOCTYPE a [<!ENTITY b 'c'>]><ANNEX/>"], "part 'L_1.xml' defines names of its own"),
    ],
)
def test_packages_that_are_refused(parts, why):
    with pytest.raises(ReadError, match=r"law\.fmx4: ") as caught:
        read_bytes(package(*parts), "law.fmx4")
    assert why in str(caught.value)


def test_the_tables_of_contents_of_the_journal_are_passed_over():
    assert names(published("Bread."), "<PUBLICATION/>") == names(published("Bread."))
