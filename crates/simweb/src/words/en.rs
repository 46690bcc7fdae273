//! English.
//!
//! **Invariant.** Nouns, verbs, adverbs and places go with each other in any combination, as `mod.rs` says.

use super::{Language, Lexicon};

#[rustfmt::skip] // a grid of phrases reads better than a column
pub(crate) static LEXICON: Lexicon = Lexicon {
    language: Language::English,
    nouns: &[
        "the morning light", "an old wall", "the narrow path", "a quiet neighbour", "the weather",
        "a small lamp", "the open window", "an early visitor", "the wooden bench", "a slow afternoon",
        "the first snow", "a folded map", "the long table", "a blue notebook", "the season",
        "an honest answer", "the village clock", "a borrowed book", "the warm stone", "a patient teacher",
        "the whole street", "a distant bell", "the river", "an empty basket", "the second floor",
        "a handful of sand", "the north wind", "a good habit", "the evening", "an unwritten rule",
        "the copper kettle", "a line of ants", "the south gate", "a faded letter", "the rain",
        "an older brother", "the grey cat", "a loose thread", "the smallest detail", "a clear sky",
    ],
    verbs: &[
        "waits", "changes", "returns", "grows", "settles", "begins again", "fades", "rests",
        "shines", "holds firm", "turns", "remains", "appears", "drifts", "opens", "closes",
        "moves on", "sleeps", "wakes up", "hums", "leans over", "glows", "stands still", "travels",
        "wanders", "ripens", "sinks", "rises", "trembles", "works", "breathes", "slows down",
        "speaks up", "matters", "goes missing", "falls silent",
    ],
    adverbs: &[
        "slowly", "without a sound", "every year", "for a while", "again", "with care",
        "almost at once", "in good time", "by itself", "little by little", "as expected",
        "against all odds", "more than before", "until late", "once a week", "in plain sight",
        "without hurry", "with some luck", "all day long", "for no reason", "gladly",
        "in small steps", "day after day", "just in case", "at last", "twice as fast",
    ],
    places: &[
        "behind the house", "near the station", "under the trees", "on the upper shelf",
        "across the square", "at the edge of town", "beside the road", "in the back room",
        "along the canal", "between two hills", "inside the courtyard", "over the roofs",
        "below the bridge", "next to the school", "beyond the fields", "in the far corner",
        "on the other side", "at the crossroads", "around the corner", "in the cellar",
    ],
    openings: &[
        "in the morning", "after the rain", "before winter", "most of the time", "on Sundays",
        "from here on", "as a rule", "at first sight", "when the work is done", "in those years",
        "late in the evening", "to be fair", "by tradition", "with a little practice", "at noon",
        "once in a while", "during the holidays", "even today", "without warning", "in the end",
    ],
    sentences: &[
        "%o, %n %v %a.",
        "%n %v %p, and %n %v %a.",
        "%n %v %a, while %n %v %p.",
        "%o, %n %v %p, but %n %v %a.",
        "if %n %v %a, then %n %v too.",
        "%n %v because %n %v %p.",
        "nobody knows why %n %v %a, yet %n %v %p.",
        "%o, %n and %n meet %p.",
        "%n %v %p.",
        "they say that %n %v %a whenever %n %v.",
    ],
    titles: &["%n and %n", "%n %p", "why %n %v %a", "how %n %v", "%o: %n", "%n %v %p"],
    needle: "The password of this page is %w, and it stands nowhere else.",
    space: " ",
    home: "Home",
    up: "Up",
    contents: "Contents",
    see_also: "See also",
    updated: "Updated",
};
