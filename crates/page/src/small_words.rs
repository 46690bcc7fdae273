//! Whether a text is in the language that it is declared to be in, told by its small words.
//!
//! Articles, prepositions and their like are a quarter of any prose and more. To count them is much quicker
//! than to compare a text with all languages there are, and a declaration that they confirm, and that the
//! small words of other languages do not come near, needs no further test.
//!
//! What does not live here: finding a language that nobody declares (`language.rs`).
//!
//! Languages that are close to each other share many of them, and what two share tells nothing of which of the two it
//! is: against each other language only the words count that one of both has and the other has not.
//!
//! **Invariant.** The words of a language are in lower case and sorted. A language is confirmed only if those that
//! resemble it and that detection can tell from it are here: Catalan is for the sake of Spanish and Portuguese, and
//! not believed itself; nor is Dutch, which Afrikaans resembles.
//!
//! Reference: G. Grefenstette, "Comparing two language identification schemes", JADT 1995.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Bytes of a word that is looked up; small words are short.
const WORD_BYTES_MAX: usize = 8;
/// Fewer words than this prove nothing.
const WORDS_MIN: usize = 40;
/// More are not looked at.
const WORDS_MAX: usize = 80;
/// Of so many words, one at least is a small one.
const SHARE: usize = 4;
/// Whose small words are counted, but never believed.
const COMPARED_ONLY: [&str; 2] = ["ca", "nl"];
/// Words that another language has not, so many at least and so many for each that only that one has.
const OWN_MIN: usize = 6;
const OWN_FOR_EACH: usize = 3;

#[rustfmt::skip]
const LANGUAGES: [(&str, &[&str]); 8] = [
    ("ca", &["a", "al", "als", "amb", "aquest", "aquesta", "aquests", "cada", "com", "d", "de", "del",
        "dels", "des", "el", "els", "en", "ens", "entre", "era", "es", "està", "fins", "ha", "han", "hi",
        "i", "l", "la", "les", "li", "molt", "més", "no", "o", "on", "pel", "pels", "per", "però", "podeu",
        "quan", "que", "què", "se", "sense", "ser", "seu", "seva", "si", "sobre", "són", "també", "un",
        "una", "us", "va", "van", "vos", "és"]),
    ("de", &["aber", "als", "am", "an", "auch", "auf", "aus", "bei", "das", "dem", "den", "der", "des",
        "die", "ein", "eine", "einem", "einen", "einer", "er", "es", "für", "ich", "im", "in", "ist",
        "mit", "nach", "nicht", "noch", "nur", "oder", "sich", "sie", "sind", "so", "um", "und", "von",
        "vor", "war", "was", "werden", "wie", "wird", "zu", "zum", "zur", "über"]),
    ("en", &["a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "for", "from", "had",
        "has", "have", "he", "his", "if", "in", "is", "it", "its", "may", "not", "of", "on", "or",
        "that", "the", "their", "then", "there", "they", "this", "to", "was", "we", "were", "when",
        "which", "will", "with", "you", "your"]),
    ("es", &["a", "al", "cada", "como", "con", "cuando", "de", "del", "desde", "donde", "e", "el", "en",
        "entre", "es", "esta", "este", "estos", "fue", "ha", "han", "hasta", "la", "las", "le", "les",
        "lo", "los", "me", "mi", "muy", "más", "no", "nos", "o", "para", "pero", "por", "porque", "puede",
        "que", "se", "sea", "ser", "si", "sin", "sobre", "son", "su", "sus", "también", "te", "todo", "tu",
        "u", "un", "una", "uno", "y", "ya"]),
    ("fr", &["au", "aux", "avec", "ce", "ces", "cette", "dans", "de", "des", "du", "elle", "en", "est",
        "et", "il", "la", "le", "les", "leur", "mais", "ne", "nous", "on", "ou", "par", "pas", "plus",
        "pour", "qu", "que", "qui", "sa", "se", "ses", "son", "sont", "sur", "un", "une", "vous", "à"]),
    ("it", &["a", "al", "alla", "anche", "che", "ci", "come", "con", "da", "dal", "dalla", "dei", "del",
        "della", "delle", "di", "e", "gli", "ha", "i", "il", "in", "la", "le", "lo", "ma", "nel",
        "nella", "non", "o", "per", "più", "questo", "se", "si", "sono", "sua", "suo", "un", "una", "è"]),
    ("nl", &["aan", "als", "bij", "dan", "dat", "de", "deze", "die", "dit", "door", "een", "en", "er",
        "had", "heeft", "het", "hij", "ik", "in", "is", "je", "maar", "met", "naar", "niet", "nog",
        "of", "om", "ook", "op", "over", "te", "tot", "uit", "van", "voor", "was", "wordt", "ze",
        "zich", "zijn"]),
    ("pt", &["a", "ao", "aos", "as", "até", "com", "como", "da", "das", "de", "do", "dos", "e", "ela",
        "ele", "em", "entre", "esta", "este", "foi", "for", "isso", "mais", "mas", "muito", "na", "nas",
        "no", "nos", "não", "o", "os", "ou", "para", "pela", "pelo", "pode", "por", "quando", "que", "se",
        "sem", "ser", "seu", "seus", "sua", "suas", "são", "também", "um", "uma", "à", "às", "é"]),
];

/// Whether the small words of `text` say that it is in `language`, a code of two letters: they are a
/// quarter of its words, and against each other language hardly any speaks for that one.
pub(crate) fn confirm(language: &str, text: &str) -> bool {
    let declared = LANGUAGES.iter().position(|(code, _)| *code == language);
    let Some(declared) = declared.filter(|_| !COMPARED_ONLY.contains(&language)) else {
        return false;
    };
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let (mut all, mut own) = (0, 0);
    // Of each language: how many words it has not but the declared one has, and the other way round.
    let mut against = [(0, 0); LANGUAGES.len()];
    for word in words.take(WORDS_MAX) {
        all += 1;
        let languages = number(word).map_or(0, languages_with);
        let is_own = languages >> declared & 1;
        own += usize::from(is_own);
        for (place, (own, other)) in against.iter_mut().enumerate() {
            let is_other = languages >> place & 1;
            *own += usize::from(is_own & !is_other);
            *other += usize::from(is_other & !is_own);
        }
    }
    against[declared] = (OWN_MIN, 0);
    let is_told = |&(own, other): &(usize, usize)| own >= OWN_MIN.max(other * OWN_FOR_EACH);
    all >= WORDS_MIN && own * SHARE >= all && against.iter().all(is_told)
}

/// The languages that have the small word of this number, a bit for each place in [`LANGUAGES`].
fn languages_with(word: u64) -> u8 {
    static SMALL_WORDS: LazyLock<Vec<(u64, u8)>> = LazyLock::new(|| {
        let mut languages = BTreeMap::new();
        for (place, (_, small)) in LANGUAGES.iter().enumerate() {
            for number in small.iter().copied().filter_map(number) {
                *languages.entry(number).or_default() |= 1 << place;
            }
        }
        languages.into_iter().collect()
    });
    let found = SMALL_WORDS.binary_search_by_key(&word, |(small, _)| *small);
    found.map_or(0, |place| SMALL_WORDS[place].1)
}

/// The bytes of a word as a number, capital letters of ASCII as small ones; `None` if there are too many.
fn number(word: &str) -> Option<u64> {
    let mut bytes = [0; WORD_BYTES_MAX];
    bytes.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
    bytes.make_ascii_lowercase();
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_are_sorted_and_short() {
        for (language, small) in LANGUAGES {
            assert!(small.is_sorted_by(|a, b| a < b), "{language}");
            assert!(small.iter().all(|word| word.len() <= WORD_BYTES_MAX), "{language}");
            assert!(small.iter().all(|word| word.to_lowercase() == *word), "{language}");
        }
    }

    /// The beginning of a text that is translated into every language, as it is in some of them.
    const TEXTS: [(&str, &str); 8] = [
        (
            "en",
            "The harbour was quiet in the morning and only a few of the boats that had been out at \
            night were back. It is said that the wind had changed, and that those who had gone to the \
            north would not be able to return to the town before the end of the week.",
        ),
        (
            "de",
            "Am Morgen war der Hafen still, und nur einige der Boote, die in der Nacht draußen waren, \
            lagen wieder an der Mauer. Es heißt, dass der Wind sich gedreht hat und dass die, die nach \
            Norden gefahren sind, nicht vor dem Ende der Woche in die Stadt kommen werden.",
        ),
        (
            "fr",
            "Le port était calme ce matin et seuls quelques-uns des bateaux qui étaient sortis dans la \
            nuit étaient de retour. On dit que le vent a tourné et que ceux qui sont partis vers le nord \
            ne pourront pas rentrer dans la ville avant la fin de la semaine.",
        ),
        (
            "es",
            "El puerto estaba tranquilo por la mañana y solo algunos de los barcos que habían salido en \
            la noche estaban de vuelta. Se dice que el viento ha cambiado y que los que se fueron hacia el \
            norte no podrán volver a la ciudad antes del fin de la semana, y por eso los esperan con las \
            luces de las casas encendidas.",
        ),
        (
            "it",
            "Il porto era tranquillo la mattina e solo alcune delle barche che erano uscite nella notte \
            erano tornate. Si dice che il vento è cambiato e che quelli che sono andati verso il nord non \
            potranno tornare in città prima della fine della settimana.",
        ),
        (
            "pt",
            "O porto estava calmo de manhã e só alguns dos barcos que tinham saído na noite estavam de \
            volta. Diz-se que o vento mudou e que os que foram para o norte não poderão voltar para a \
            cidade antes do fim da semana, e que não há notícias deles.",
        ),
        (
            "ca",
            "El port estava tranquil al matí i només alguns dels vaixells que havien sortit a la nit \
            eren de tornada. Es diu que el vent ha canviat i que els que van anar cap al nord no podran \
            tornar a la ciutat abans de la fi de la setmana, i que no se sap res d'ells.",
        ),
        (
            "af",
            "Die hawe was stil in die oggend en net 'n paar van die bote wat in die nag uit was, was \
            weer terug. Dit word gesê dat die wind gedraai het en dat die wat na die noorde gegaan het, \
            nie voor die einde van die week na die dorp kan terugkeer nie.",
        ),
    ];

    #[test]
    fn no_text_confirms_another_language() {
        for (language, text) in TEXTS {
            for (declared, _) in LANGUAGES {
                let is_own = declared == language;
                assert!(is_own || !confirm(declared, text), "{language} passes for {declared}");
            }
        }
    }

    #[test]
    fn texts_confirm_their_own_language() {
        let confirmed = TEXTS.iter().filter(|(language, text)| confirm(language, text));
        let confirmed: Vec<&str> = confirmed.map(|(language, _)| *language).collect();
        assert_eq!(confirmed, ["en", "de", "fr", "es", "it", "pt"]);
    }
}
