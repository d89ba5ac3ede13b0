"""Units of the criteria in one normal form: "gCO2e/kWh", "tCO2e/t", "kWh/m3", "W/m2K", "%", "m2"."""

from __future__ import annotations

import re

_LOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789")
_CO2 = r"CO\s?_?2\s?(?:e(?:q)?\b\.?)?"
# (pattern of the unit behind the number, normal form); the first that matches counts.
_UNITS: tuple[tuple[str, str], ...] = (
    (rf"g\s?{_CO2.replace('(?:e', '(?P<e>e')}\s?/\s?km\b", "gCO2{e}/km"),
    (rf"g\s?{_CO2}\s?/\s?tkm\b", "gCO2e/tkm"),
    (rf"g\s?{_CO2}\s?(?:/|per\s1?\s?)\s?kWh", "gCO2e/kWh"),
    (rf"g\s?{_CO2}\s?/\s?MJ", "gCO2e/MJ"),
    (rf"g\s?{_CO2}\s?/\s?m3", "gCO2e/m3"),
    (rf"kg\s?{_CO2}\s?/\s?kW\b", "kgCO2e/kW"),
    (rf"kg\s?{_CO2}\s?/\s?m2", "kgCO2e/m2"),
    (rf"t\s?{_CO2}\s?/\s?t\s?of complex weighted throughput", "tCO2e/t CWT"),
    (rf"t\s?{_CO2}\s?(?:/\s?t(?:\b|H2)|per\s(?:tonne|ton)\b)", "tCO2e/t"),
    (r"MWh\s?(?:/\s?t\b|per\s(?:tonne|ton)\b)", "MWh/t"),
    (r"kWh\s?(?:/\s?m3|per cubic met(?:er|re))", "kWh/m3"),
    (r"kWh\s?(?:/\s?m2)", "kWh/m2"),
    (r"kWh per population equivalent(?: \(p\.e\.\))?(?: per annum)?", "kWh/p.e."),
    (r"W\s?/\s?m2\s?K", "W/m2K"),
    (r"W\s?/\s?mK", "W/mK"),
    (r"W\s?/\s?m2", "W/m2"),
    (r"(?:litres?|L)\s?/\s?min\b", "l/min"),
    (r"litres?/bowl/hour", "l/bowl/h"),
    (r"l/kg\b", "l/kg"),
    (r"(?:litres?|L)\b", "l"),
    (r"mg\s?/\s?kg\b", "mg/kg"),
    (r"mg of [^,;.]{3,80}? per m3", "mg/m3"),
    (r"kg\s?/\s?m3", "kg/m3"),
    (r"ppmv?\b", "ppm"),
    (r"%|percent\b|per cent\b", "%"),
    (r"percentage points?\b", "percentage point"),
    (r"GWh\b", "GWh"), (r"MWh\b", "MWh"), (r"kWh\b", "kWh"),
    (r"GHz\b", "GHz"), (r"Hz\b", "Hz"),
    (r"GW\b", "GW"), (r"MW\b", "MW"), (r"kW\b", "kW"), (r"kV\b", "kV"), (r"Nm\b", "Nm"),
    (r"m2\b|square met(?:re|er)s?\b", "m2"), (r"m3\b|cubic met(?:re|er)s?\b", "m3"),
    (r"km\b", "km"), (r"cm\b", "cm"), (r"mm\b", "mm"), (r"μm\b|µm\b", "um"), (r"met(?:re|er)s?\b|m\b", "m"),
    (r"ha\b|hectares?\b", "ha"),
    (r"tonnes? per day|t/day", "t/day"),
    (r"tonnes?\b|t\b", "t"), (r"kg\b|kilogrammes?\b", "kg"), (r"mg\b", "mg"), (r"g\b(?!/)", "g"),
    (r"gross tonnage", "GT"),
    (r"bar\b", "bar"), (r"°\s?C\b", "°C"), (r"EPNdB\b", "EPNdB"), (r"dB\b", "dB"),
    (r"p\.e\.|population equivalents?\b", "p.e."),
    (r"(?:-|\s)?years?\b", "year"), (r"(?:-|\s)?months?\b", "month"), (r"(?:-|\s)?(?<!working )days?\b", "day"),
    (r"hours?\b", "hour"), (r"times\b", "times"), (r"employees\b", "employee"), (r"inhabitants\b", "inhabitant"),
    (r"million inhabitants\b", "million inhabitant"),
)  # fmt: skip
_COMPILED = tuple((re.compile(rf"\s?(?:{source})"), name) for source, name in _UNITS)


def plain(text: str) -> str:
    """Text of the same length with sub- and superscript digits as digits and special blanks as blanks."""
    return text.translate(_LOW).replace("\u00a0", " ").replace("\u2009", " ").replace("\u202f", " ")


def unit_at(text: str, start: int) -> tuple[str, int] | None:
    """The unit that begins at ``start`` of `plain` text, and where it ends; None where no known unit stands."""
    for pattern, name in _COMPILED:
        found = pattern.match(text, start)
        if found:
            parts = found.groupdict()
            return (name.format(e="e" if parts["e"] else "") if "e" in parts else name), found.end()
    return None
