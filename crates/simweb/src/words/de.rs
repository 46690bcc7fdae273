//! German. After an opening the verb comes second.
//!
//! **Invariant.** Nouns, verbs, adverbs and places go with each other in any combination, as `mod.rs` says.

use super::{Language, Lexicon};

#[rustfmt::skip] // a grid of phrases reads better than a column
pub(crate) static LEXICON: Lexicon = Lexicon {
    language: Language::German,
    nouns: &[
        "das Morgenlicht", "eine alte Mauer", "der schmale Weg", "ein stiller Nachbar",
        "das Wetter", "eine kleine Lampe", "das offene Fenster", "ein früher Gast",
        "die Holzbank", "ein langer Nachmittag", "der erste Schnee", "eine gefaltete Karte",
        "der lange Tisch", "ein blaues Heft", "die Jahreszeit", "eine ehrliche Antwort",
        "die Turmuhr", "ein geliehenes Buch", "der warme Stein", "eine geduldige Lehrerin",
        "die ganze Straße", "eine ferne Glocke", "der Fluss", "ein leerer Korb",
        "der zweite Stock", "eine Handvoll Sand", "der Nordwind", "eine gute Gewohnheit",
        "der Abend", "ein ungeschriebenes Gesetz", "der Kupferkessel", "eine Ameisenstraße",
        "das Südtor", "ein verblichener Brief", "der Regen", "ein älterer Bruder",
        "die graue Katze", "ein loser Faden", "die kleinste Einzelheit", "ein klarer Himmel",
    ],
    verbs: &[
        "wartet", "verändert sich", "wächst", "ruht", "beginnt", "verblasst", "leuchtet", "hält",
        "dreht sich", "bleibt", "erscheint", "treibt", "öffnet sich", "schließt sich", "schläft",
        "erwacht", "summt", "lehnt", "glüht", "steht", "reist", "wandert", "reift", "sinkt",
        "steigt", "zittert", "arbeitet", "atmet", "zögert", "spricht", "zählt", "verschwindet",
        "schweigt", "lächelt", "kommt", "gelingt",
    ],
    adverbs: &[
        "langsam", "ohne ein Geräusch", "jedes Jahr", "eine Weile", "wieder", "mit Sorgfalt",
        "fast sofort", "beizeiten", "von selbst", "nach und nach", "wie erwartet",
        "gegen jede Erwartung", "mehr als zuvor", "bis spät", "einmal in der Woche",
        "vor aller Augen", "ohne Eile", "mit etwas Glück", "den ganzen Tag", "ohne Grund", "gern",
        "in kleinen Schritten", "Tag für Tag", "für alle Fälle", "endlich", "doppelt so schnell",
    ],
    places: &[
        "hinter dem Haus", "beim Bahnhof", "unter den Bäumen", "auf dem oberen Brett",
        "mitten auf dem Platz", "am Stadtrand", "neben der Straße", "im Hinterzimmer",
        "entlang dem Kanal", "zwischen zwei Hügeln", "im Innenhof", "über den Dächern",
        "unter der Brücke", "gleich neben der Schule", "jenseits der Felder",
        "in der letzten Ecke", "auf der anderen Seite", "an der Kreuzung", "um die Ecke",
        "im Keller",
    ],
    openings: &[
        "am Morgen", "nach dem Regen", "vor dem Winter", "meistens", "am Sonntag",
        "von hier an", "in der Regel", "auf den ersten Blick", "nach getaner Arbeit",
        "in jenen Jahren", "spät am Abend", "genau genommen", "nach altem Brauch",
        "mit etwas Übung", "am Mittag", "ab und zu", "in den Ferien", "noch heute",
        "ohne Vorwarnung", "am Ende",
    ],
    sentences: &[
        "%o %v %n %a.",
        "%n %v %p, und %n %v %a.",
        "%n %v %a, doch %n %v %p.",
        "%o %v %n %p, aber %n %v %a.",
        "%n %v %a, also %v auch %n.",
        "%n %v, denn %n %v %p.",
        "niemand fragt danach: %n %v %a, und %n %v %p.",
        "%o treffen sich %n und %n %p.",
        "%n %v %p.",
        "man sagt, %n %v %a, und %n %v.",
    ],
    titles: &["%n und %n", "%n %p", "%n %v %a", "wie gut, %n %v", "%o: %n", "%n %v %p"],
    needle: "Das Kennwort dieser Seite ist %w, und es steht sonst nirgends.",
    space: " ",
    home: "Anfang",
    up: "Hinauf",
    contents: "Inhalt",
    see_also: "Siehe auch",
    updated: "Stand",
};
