"""Small PDF files for tests, written by hand: standard fonts, places in points from the top left corner."""

from __future__ import annotations

from dataclasses import dataclass, field

WIDTH, HEIGHT = 595, 842


@dataclass
class Sheet:
    """A page as it is written: operators of the content stream, one after the other."""

    width: int = WIDTH
    height: int = HEIGHT
    rotate: int = 0
    picture: bool = False
    operators: list[str] = field(default_factory=list)

    def text(self, x, y, words, size=10, bold=False, color=(0, 0, 0), mode=0, turned=False):
        """Words with their base line ``y`` points below the top."""
        escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        matrix = "0 1 -1 0" if turned else "1 0 0 1"
        self.operators.append(
            f"BT /{'F2' if bold else 'F1'} {size} Tf {mode} Tr {' '.join(map(str, color))} rg"
            f" {matrix} {x} {self.height - y} Tm ({escaped}) Tj ET"
        )
        return self

    def lines(self, x, y, *lines, size=10, leading=12, bold=False):
        """Lines one below the other."""
        for number, line in enumerate(lines):
            self.text(x, y + number * leading, line, size, bold)
        return self

    def rule(self, x0, x1, y):
        """A level line."""
        self.operators.append(f"0.5 w {x0} {self.height - y} m {x1} {self.height - y} l S")
        return self

    def fill(self, x0, y0, x1, y1, color=(0, 0, 0)):
        """A filled rectangle."""
        self.operators.append(f"{' '.join(map(str, color))} rg {x0} {self.height - y1} {x1 - x0} {y1 - y0} re f")
        return self

    def image(self):
        """A grey picture over the whole page."""
        self.picture = True
        self.operators.append(f"q {self.width} 0 0 {self.height} 0 0 cm /I Do Q")
        return self


def pdf(*sheets, title="", encrypt=""):
    """The bytes of a file with these pages. ``encrypt`` is what stands for an encryption dictionary."""
    objects = [b"", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
               b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
               b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>"
               b"stream\n\x80\nendstream"]  # fmt: skip
    kids = []
    for sheet in sheets:
        content = "\n".join(sheet.operators).encode("cp1252")
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
        images = "/XObject<</I 5 0 R>>" if sheet.picture else ""
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {sheet.width} {sheet.height}]/Rotate {sheet.rotate}"
            f"/Contents {len(objects)} 0 R/Resources<</Font<</F1 3 0 R/F2 4 0 R>>{images}>>>>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>".encode()
    objects.append(f"<</Title({title})>>".encode())
    content = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    content += b"".join(b"%010d 00000 n \n" % place for place in places)
    extra = f"/Encrypt {encrypt}" if encrypt else ""
    trailer = f"<</Size {len(objects) + 1}/Root 1 0 R/Info {len(objects)} 0 R/ID[<00><00>]{extra}>>"
    return content + f"trailer\n{trailer}\nstartxref\n{start}\n%%EOF\n".encode()
