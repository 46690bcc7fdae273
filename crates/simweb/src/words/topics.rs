//! The topics of hosts: a name, a language, and the nouns that their pages prefer.
//!
//! **Invariant.** No two topics have a label in common.

use super::Language;

/// The subject of a host.
pub(crate) struct Topic {
    /// First label of the host's name.
    pub(crate) label: &'static str,
    /// The name of the site, as its pages give it.
    pub(crate) name: &'static str,
    pub(crate) language: Language,
    pub(crate) nouns: &'static [&'static str],
}

/// The topics of the ordinary hosts, the first of them mirrored by the mirror host. The special
/// hosts borrow their words.
#[rustfmt::skip] // a grid of phrases reads better than a column
pub(crate) static TOPICS: [Topic; 12] = [
    Topic {
        label: "garden",
        name: "The Quiet Garden",
        language: Language::English,
        nouns: &[
            "the rose", "a tomato plant", "the compost heap", "an apple tree", "the lavender",
            "a wheelbarrow", "the greenhouse", "a row of beans", "the soil", "a bumblebee",
            "the hedge", "a seedling", "the watering can", "a packet of seeds", "the lawn",
            "an earthworm",
        ],
    },
    Topic {
        label: "cucina",
        name: "Cucina di casa",
        language: Language::Italian,
        nouns: &[
            "il basilico", "una pentola", "la pasta fresca", "un pizzico di sale", "il forno",
            "una cipolla", "l'olio nuovo", "il sugo", "una forma di pane", "la farina",
            "un cucchiaio di legno", "il risotto", "una fetta di formaggio", "la ricetta",
            "il limone", "una melanzana",
        ],
    },
    Topic {
        label: "werkstatt",
        name: "Die kleine Werkstatt",
        language: Language::German,
        nouns: &[
            "der Hobel", "eine Schraube", "das Holz", "ein scharfes Messer", "die Werkbank",
            "eine Feile", "der Leim", "ein Nagel", "die Säge", "eine Zange", "der Hammer",
            "ein Brett", "die Schublade", "eine Leiste", "der Lehrling", "ein Schlüssel",
        ],
    },
    Topic {
        label: "harbour",
        name: "Harbour Notes",
        language: Language::English,
        nouns: &[
            "the lighthouse", "a fishing boat", "the tide", "an anchor", "the harbour master",
            "a coil of rope", "the ferry", "a seagull", "the crane", "a cargo ship", "the quay",
            "a storm lantern", "the compass", "a net full of herring", "the sail",
            "an island pilot",
        ],
    },
    Topic {
        label: "librairie",
        name: "La librairie du coin",
        language: Language::French,
        nouns: &[
            "le roman", "une étagère", "la préface", "un lecteur", "le marque-page",
            "une reliure", "l'encre", "un chapitre", "la libraire", "une couverture rouge",
            "le dictionnaire", "un poème", "la bibliothèque", "une page blanche", "l'auteur",
            "un manuscrit",
        ],
    },
    Topic {
        label: "mercado",
        name: "Mercado de barrio",
        language: Language::Spanish,
        nouns: &[
            "la naranja", "un puesto de fruta", "el pescado", "una balanza", "la vendedora",
            "un kilo de arroz", "el queso", "una bolsa de papel", "la aceituna", "un melón",
            "el precio", "una caja de uvas", "la clienta", "un ramo de flores", "el panadero",
            "una cebolla",
        ],
    },
    Topic {
        label: "zvezdy",
        name: "Звёзды над крышей",
        language: Language::Russian,
        nouns: &[
            "звезда", "телескоп", "комета", "лунный кратер", "созвездие", "обсерватория",
            "планета", "затмение", "туманность", "орбита", "спутник", "метеор", "линза",
            "галактика", "астроном", "полярная ночь",
        ],
    },
    Topic {
        label: "railway",
        name: "Branch Line Railway",
        language: Language::English,
        nouns: &[
            "the locomotive", "a signal box", "the timetable", "a platform ticket", "the guard",
            "a goods wagon", "the level crossing", "a steel rail", "the tunnel", "a dining car",
            "the whistle", "a siding", "the engine driver", "a lost suitcase", "the viaduct",
            "a night train",
        ],
    },
    Topic {
        label: "ocha",
        name: "お茶の時間",
        language: Language::Japanese,
        nouns: &[
            "緑茶", "急須", "茶畑", "抹茶", "湯飲み", "茶室", "和菓子", "茶葉", "お湯", "茶筅",
            "番茶", "茶道の先生", "玄米茶", "茶碗", "新茶", "湯気",
        ],
    },
    Topic {
        label: "teatro",
        name: "Teatro piccolo",
        language: Language::Italian,
        nouns: &[
            "il sipario", "una maschera", "la prova generale", "un attore", "il copione",
            "una battuta", "la platea", "un costume", "il regista", "una commedia",
            "il suggeritore", "un applauso", "la scena", "una luce di scena", "il camerino",
            "una tragedia",
        ],
    },
    Topic {
        label: "wald",
        name: "Waldwege",
        language: Language::German,
        nouns: &[
            "die Eiche", "ein Specht", "der Fuchs", "eine Lichtung", "das Moos", "ein Pilz",
            "der Förster", "eine Quelle", "das Reh", "ein Tannenzapfen", "die Buche",
            "eine Eule", "der Hochsitz", "ein Dachsbau", "das Laub", "eine Fichte",
        ],
    },
    Topic {
        label: "orquesta",
        name: "La orquesta",
        language: Language::Spanish,
        nouns: &[
            "el violín", "una partitura", "la directora", "un ensayo", "el oboe",
            "una cuerda rota", "la flauta", "un compás", "el tambor", "una sinfonía",
            "la trompeta", "un silencio", "el coro", "una melodía", "la batuta",
            "un violonchelo",
        ],
    },
];
