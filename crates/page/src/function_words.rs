//! The language of a text by its small words: articles, prepositions and pronouns.
//!
//! They are a fifth of any prose and more. Counting them takes a tenth of the time of a comparison with all
//! languages, so it is tried first, and decides where it is clear.
//!
//! `language.rs` detects the language of short texts, and all other languages.
//!
//! Related languages share many small words. Two languages are therefore compared by the words that one of them has
//! and the other has not.
//!
//! **Invariant.** The words of a language are in lower case and sorted. A language is found only if its close relatives
//! are listed too. Catalan and Romanian are listed for Spanish and are never found themselves, and Dutch neither,
//! because Afrikaans resembles it.
//!
//! Reference: G. Grefenstette, "Comparing two language identification schemes", JADT 1995.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Bytes of the longest word that is looked up; small words are short.
const WORD_BYTES_MAX: usize = 8;
/// Fewer words than this do not decide.
const WORDS_MIN: usize = 20;
/// The counts are looked at each time that this number of words is read.
const STEP: usize = 40;
/// At least one word of this number is a small one.
const SHARE: usize = 5;
/// Small words of the language, at least.
const SMALL_MIN: usize = 10;
/// Different small words of the language, at least. Texts of Maori and Sotho have many small words that Spanish has
/// too, but few different ones.
const DIFFERENT_MIN: usize = 8;
/// Languages that are compared with, but never found.
const COMPARED_ONLY: [&str; 3] = ["ca", "nl", "ro"];
/// Words that another language does not have: at least this number, and this number for each word that only the other
/// language has.
const OWN_MIN: usize = 6;
const OWN_FOR_EACH: usize = 3;

#[rustfmt::skip]
const LANGUAGES: [(&str, &[&str]); 9] = [
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
    ("ro", &["a", "al", "ale", "am", "ar", "au", "ca", "care", "ce", "cea", "cel", "cu", "cum", "dar", "de",
        "din", "doar", "după", "ei", "este", "fi", "fost", "in", "la", "le", "lui", "mai", "nu", "o", "pe",
        "pentru", "prin", "sa", "sau", "se", "si", "sunt", "să", "un", "unei", "unor", "unui", "va", "în",
        "şi", "și"]),
];

/// A small word of a text, and a bit for each of [`LANGUAGES`] that has it.
type SmallWord = (u64, u16);

/// The code of the language of `text` where its small words are clear. Stops reading as soon as they are.
pub(crate) fn find(text: &str) -> Option<&'static str> {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let (mut count, mut small) = (0, Vec::new());
    for word in words {
        count += 1;
        let found = number(word).map(|word| (word, languages_with(word)));
        small.extend(found.filter(|(_, languages)| *languages != 0));
        if count % STEP == 0
            && let Some(language) = clear(count, &small)
        {
            return Some(language);
        }
    }
    clear(count, &small)
}

/// The language of a text of `count` words with these small words, if it is clear.
fn clear(count: usize, small: &[SmallWord]) -> Option<&'static str> {
    let has = |languages: u16, place: usize| languages >> place & 1 == 1;
    let words_of = |place| small.iter().filter(move |(_, languages)| has(*languages, place));
    let (place, own) = (0..LANGUAGES.len())
        .map(|place| (place, words_of(place).count()))
        .max_by_key(|&(_, own)| own)?;
    let language = LANGUAGES[place].0;
    let is_candidate = count >= WORDS_MIN
        && own >= SMALL_MIN
        && own * SHARE >= count
        && !COMPARED_ONLY.contains(&language);
    let different = || words_of(place).map(|(word, _)| word).collect::<BTreeSet<_>>().len();
    let beats = |other: usize| {
        let own = words_of(place).filter(|(_, languages)| !has(*languages, other)).count();
        let against = words_of(other).filter(|(_, languages)| !has(*languages, place)).count();
        own >= OWN_MIN.max(against * OWN_FOR_EACH)
    };
    let is_clear = is_candidate
        && different() >= DIFFERENT_MIN
        && (0..LANGUAGES.len()).all(|other| other == place || beats(other));
    is_clear.then_some(language)
}

/// The languages that have the small word of this number, a bit for each place in [`LANGUAGES`].
fn languages_with(word: u64) -> u16 {
    static SMALL_WORDS: LazyLock<Vec<(u64, u16)>> = LazyLock::new(|| {
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
    fn function_words_are_sorted_and_short() {
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
    fn texts_are_never_assigned_a_wrong_language() {
        for (language, text) in TEXTS {
            let found = find(text);
            assert!(found.is_none_or(|found| found == language), "{language} as {found:?}");
        }
    }

    #[test]
    fn long_texts_have_a_language() {
        for (language, text) in TEXTS {
            let is_listed = LANGUAGES.iter().any(|(listed, _)| *listed == language);
            let expected = (is_listed && !COMPARED_ONLY.contains(&language)).then_some(language);
            assert_eq!(find(&format!("{text} {text}")), expected, "{language}");
        }
    }
}
