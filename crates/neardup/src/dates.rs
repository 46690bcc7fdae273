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

/// Whether a name begins with the same three bytes, or with some that look alike: hardly a word does.
fn may_be_name(word: &[u8]) -> bool {
    word.first_chunk().is_some_and(|start| {
        let bit = start_bit(*start);
        STARTS[bit / 64] >> (bit % 64) & 1 == 1
    })
}

/// The number of a start: five bits of each byte, which tell small letters apart.
const fn start_bit([a, b, c]: [u8; 3]) -> usize {
    ((a & 31) as usize) << 10 | ((b & 31) as usize) << 5 | (c & 31) as usize
}

/// The starts of all names, a bit for each.
static STARTS: [u64; 512] = {
    let mut starts = [0; 512];
    let mut at = 0;
    while at < NAMES.len() {
        let start = NAMES[at].as_bytes().first_chunk();
        let bit = start_bit(*start.expect("a name has three bytes at least"));
        starts[bit / 64] |= 1 << (bit % 64);
        at += 1;
    }
    starts
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
