"""A small good file of every kind: what the fuzzing starts from."""

from __future__ import annotations

from hostile import archives, markup, pdfs, plain

VALID = {
    "a.md": plain.TEXT,
    "a.jsonl": b'{"id": "a", "text": "A rule."}\n{"id": "b", "parent": "a", "number": "1(a)", "text": "Another."}\n',
    "a.json": b'[{"ID": "1", "DocumentID": 1, "PassageID": "1.1", "Passage": "A Firm must."}]',
    "a.html": markup.page(
        "<h1>Rules</h1><style>.x{display:none}</style><ol><li value=3>One<sup><a href='#n'>1</a></sup><li class=x>Two"
        "</ol><table><tr><th colspan=2>A<td>B<tr><td>C<td>D</table><p id=n>1. A note.</p>"
    ),
    "a.xhtml": b'<html xmlns="http://www.w3.org/1999/xhtml"><body><h2>1. A</h2><p>1.1 A rule.</p></body></html>',
    "pra.html": markup.page(
        '<h1>Credit Risk</h1><div class="part-content"><div class="chapter-section"><h3 class="chapter-heading">A</h3>'
        '<div class="row-block" id="a"><span class="rule-number">1.1</span><div class="div-row__col-2"><p>term</p>'
        '<p>means this:</p><ol><li>(1) one</li></ol></div><div class="row-block__info"><li>01/02/2020</li></div></div>',
        '<link rel="canonical" href="https://www.prarulebook.co.uk/pra-rules/credit-risk">',
    ),
    "a.xml": markup.ACT,
    "eurlex.html": markup.EURLEX,
    "a.fmx4": archives.archive({"a.xml": markup.ACT}, archives.STORED),
    "a.docx": archives.document(
        '<w:p><w:pPr><w:pStyle w:val="a"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>A'
        "</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc>" + archives.RULE + "</w:tc></w:tr></w:tbl>",
        styles=archives.styles(("a", "b")),
    ),
    "a.pdf": pdfs.pdf(pdfs.pages(pdfs.stream(pdfs.HELLO))),
}
