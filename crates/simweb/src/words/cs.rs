//! Czech, for the pages in ISO-8859-2; no ordinary host speaks it.
//!
//! **Invariant.** Nouns, verbs, adverbs and places go with each other in any combination, as `mod.rs` says.

use super::{Language, Lexicon};

#[rustfmt::skip] // a grid of phrases reads better than a column
pub(crate) static LEXICON: Lexicon = Lexicon {
    language: Language::Czech,
    nouns: &[
        "ranní světlo", "stará zeď", "úzká pěšina", "tichý soused", "počasí", "malá lampa",
        "otevřené okno", "časný host", "dřevěná lavice", "dlouhé odpoledne", "první sníh",
        "složená mapa", "dlouhý stůl", "modrý sešit", "roční období", "poctivá odpověď",
        "půjčená kniha", "teplý kámen", "trpělivý učitel", "celá ulice", "vzdálený zvon", "řeka",
        "prázdný koš", "druhé patro", "hrst písku", "severní vítr", "dobrý zvyk", "večer",
        "měděný kotlík", "jižní brána", "vybledlý dopis", "déšť", "starší bratr", "šedá kočka",
    ],
    verbs: &[
        "čeká", "roste", "odpočívá", "začíná", "bledne", "svítí", "vydrží", "zůstává",
        "přichází", "pluje", "dýchá", "kráčí", "spí", "zpívá", "září", "stojí", "cestuje", "zraje",
        "klesá", "stoupá", "pracuje", "váhá", "mluví", "mlčí", "mizí", "šumí",
    ],
    adverbs: &[
        "pomalu", "beze zvuku", "každý rok", "chvíli", "znovu", "pečlivě", "téměř hned", "včas",
        "krok za krokem", "podle očekávání", "navzdory všemu", "dlouho do noci",
        "jednou za týden", "beze spěchu", "s trochou štěstí", "celý den", "bez důvodu", "rád",
        "den za dnem", "pro jistotu", "konečně", "dvakrát rychleji",
    ],
    places: &[
        "za domem", "u nádraží", "pod stromy", "na horní polici", "uprostřed náměstí",
        "na kraji města", "vedle cesty", "v zadním pokoji", "podél kanálu", "mezi dvěma kopci",
        "na dvoře", "nad střechami", "pod mostem", "vedle školy", "za poli", "v posledním koutě",
    ],
    openings: &[
        "ráno", "po dešti", "před zimou", "většinou", "v neděli", "zpravidla",
        "na první pohled", "po práci", "v oněch letech", "pozdě večer", "podle tradice",
        "v poledne", "občas", "o prázdninách", "ještě dnes", "bez varování",
    ],
    sentences: &[
        "%o %v %n %a.",
        "%n %v %p a %n %v %a.",
        "%n %v %a, zatímco %n %v %p.",
        "%o %v %n %p, ale %n %v %a.",
        "když %n %v %a, pak i %n %v.",
        "%n %v, protože %n %v %p.",
        "nikdo neví, proč %n %v %a, a přece %n %v %p.",
        "%n %v %p.",
    ],
    titles: &["%n a %n", "%n %p", "proč %n %v %a", "jak %n %v", "%o: %n"],
    needle: "Heslo této stránky zní %w a jinde se nevyskytuje.",
    space: " ",
    home: "Úvod",
    up: "Nahoru",
    contents: "Obsah",
    see_also: "Viz též",
    updated: "Aktualizováno",
};
