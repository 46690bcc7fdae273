//! Names of months and days of the week in English, Italian, German, French and Spanish.
//!
//! Names that are also other words (*may*, *march*, *mars*, *set*) are here as well: leaving out
//! such a word from every text only makes the fingerprints a little coarser, while leaving it in
//! would make a new page every month.
//!
//! **Invariant.** [`NAMES`] is sorted and in lower case; changing it changes stored fingerprints.

/// Whether `word`, in lower case, is the name of a month or of a day of the week.
#[inline]
pub(crate) fn is_name(word: &[u8]) -> bool {
    may_be_name(word) && is_among_names(word)
}

#[inline(never)]
fn is_among_names(word: &[u8]) -> bool {
    NAMES.binary_search_by(|name| name.as_bytes().cmp(word)).is_ok()
}

/// Whether a name is as long and begins with the same three bytes, or with some that look alike: hardly a word does.
#[inline]
fn may_be_name(word: &[u8]) -> bool {
    word.first_chunk().is_some_and(|start| {
        let bit = shape_bit(*start, word.len());
        SHAPES[bit / 64] >> (bit % 64) & 1 == 1
    })
}

/// A number for a start and a length: the highest bits of their product with 2³² divided by the golden ratio.
#[expect(clippy::cast_possible_truncation, reason = "the last eight bits of a length tell enough")]
const fn shape_bit([a, b, c]: [u8; 3], length: usize) -> usize {
    let shape = u32::from_le_bytes([a, b, c, length as u8]);
    (shape.wrapping_mul(0x9e37_79b9) >> (u32::BITS - SHAPE_BITS)) as usize
}

const SHAPE_BITS: u32 = 13;

/// The starts and lengths of all names, a bit for each.
static SHAPES: [u64; 1 << (SHAPE_BITS - 6)] = {
    let mut shapes = [0; 1 << (SHAPE_BITS - 6)];
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].as_bytes();
        let start = name.first_chunk();
        let bit = shape_bit(*start.expect("a name has three bytes at least"), name.len());
        shapes[bit / 64] |= 1 << (bit % 64);
        at += 1;
    }
    shapes
};

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "abr", "abril", "ago", "agosto", "aout", "août", "apr", "april", "aprile", "aug", "august",
    "avr", "avril", "dec", "december", "decembre", "dez", "dezember", "dic", "dicembre",
    "diciembre", "dienstag", "dim", "dimanche", "dom", "domenica", "domingo", "donnerstag", "déc",
    "décembre", "ene", "enero", "feb", "febbraio", "febrero", "februar", "february", "fevrier",
    "freitag", "fri", "friday", "févr", "février", "gen", "gennaio", "gio", "giovedi", "giovedì",
    "giu", "giugno", "jan", "januar", "january", "janv", "janvier", "jeu", "jeudi", "jue",
    "jueves", "juil", "juillet", "juin", "jul", "juli", "julio", "july", "jun", "june", "juni",
    "junio", "jän", "jänner", "lug", "luglio", "lun", "lundi", "lunedi", "lunedì", "lunes", "mag",
    "maggio", "mai", "mar", "march", "mardi", "mars", "martedi", "martedì", "martes", "marzo",
    "may", "mayo", "mer", "mercoledi", "mercoledì", "mercredi", "miercoles", "mittwoch", "mié",
    "miércoles", "mon", "monday", "montag", "mrz", "mär", "märz", "nov", "november", "novembre",
    "noviembre", "oct", "october", "octobre", "octubre", "okt", "oktober", "ott", "ottobre",
    "sab", "sabado", "sabato", "sam", "samedi", "samstag", "sat", "saturday", "sep", "sept",
    "september", "septembre", "septiembre", "set", "setiembre", "settembre", "sonnabend",
    "sonntag", "sun", "sunday", "sáb", "sábado", "thu", "thur", "thurs", "thursday", "tue",
    "tues", "tuesday", "ven", "vendredi", "venerdi", "venerdì", "vie", "viernes", "wed",
    "wednesday",
];

#[cfg(test)]
mod tests {
    //! The list against its own invariant.

    use super::{NAMES, is_name};

    #[test]
    fn names_are_sorted_and_in_lower_case() {
        assert!(NAMES.is_sorted_by(|a, b| a < b));
        assert!(NAMES.iter().all(|name| name.to_lowercase() == *name));
    }

    #[test]
    fn names_and_nothing_but_names_are_names() {
        assert!(NAMES.iter().all(|name| is_name(name.as_bytes())));
        for word in ["", "a", "ma", "the", "mare", "octet", "mayor", "ag", "août2", "日曜日"] {
            assert!(!is_name(word.as_bytes()), "{word}");
        }
    }
}
