//! Compares terms with tables from the literature and for every supported language. Compares words with those of ICU
//! for whole texts, and offsets with the text.

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;
use page::{AnalysisConfig, Analyzer, PageError};
use proptest::prelude::*;

fn analyzer(stemmer: &str, fold_accents: bool) -> Analyzer {
    let config =
        AnalysisConfig { stemmer: stemmer.to_owned(), fold_accents, ..AnalysisConfig::default() };
    Analyzer::build(&config).expect("a known stemmer")
}

/// A text and its expected terms.
type Expected = (&'static str, &'static [&'static str]);

fn check_terms(analyzer: &Analyzer, table: &[Expected]) {
    for (text, expected) in table {
        assert_eq!(analyzer.terms(text), *expected, "{text:?}");
    }
}

#[test]
fn words() {
    check_terms(
        &analyzer("none", true),
        &[
            ("", &[]),
            (" \n\t.,;!?–“”…", &[]),
            ("One two, THREE.", &["one", "two", "three"]),
            ("can't o'clock 'quoted'", &["can't", "o'clock", "quoted"]),
            ("3.14 1,000,000 10-20 1;2", &["3.14", "1,000,000", "10", "20", "1;2"]),
            ("example.com a.b.c. end.", &["example.com", "a.b.c", "end"]),
            ("snake_case _ __ _a_", &["snake_case", "_a_"]),
            (
                "well-known a/b x=y C++ #tag @me",
                &["well", "known", "a", "b", "x", "y", "c", "tag", "me"],
            ),
            ("EU:s a::b 12:30 a: b", &["eu:s", "a", "b", "12", "30", "a", "b"]),
            ("a1b2 x86_64 4ever", &["a1b2", "x86_64", "4ever"]),
            ("l’été d'été", &["l'ete", "d'ete"]),
            ("naïve—yes", &["naive", "yes"]),
        ],
    );
}

#[test]
fn folding() {
    check_terms(
        &analyzer("none", true),
        &[
            ("CAFÉ cafe\u{301} café", &["cafe", "cafe", "cafe"]),
            ("Straße STRASSE", &["strasse", "strasse"]),
            ("ΣΊΣΥΦΟΣ Σίσυφος", &["σισυφοσ", "σισυφοσ"]),
            ("ＦＵＬＬ ｶﾀｶﾅ", &["full", "カタカナ"]),
            ("ﬁne ﬂow ①", &["fine", "flow", "1"]),
            ("so\u{ad}ft in\u{200d}v\u{2060}isible", &["soft", "invisible"]),
            (
                "Æsop œuvre Łódź Đorđe smørrebrød þing",
                &["aesop", "oeuvre", "lodz", "dorde", "smorrebrod", "thing"],
            ),
            ("İstanbul ISTANBUL ılık", &["istanbul", "istanbul", "ilik"]),
            ("Ёлка Й", &["елка", "и"]),
            ("İ ǅ Ǆ", &["i", "dz", "dz"]),
            ("हिन्दी किताब", &["हिन्दी", "किताब"]),
            ("x² ½", &["x", "2", "1⁄2"]),
        ],
    );
    check_terms(
        &analyzer("none", false),
        &[("CAFÉ cafe\u{301}", &["café", "café"]), ("Straße", &["strasse"]), ("Łódź", &["łódź"])],
    );
}

/// An English loanword has one term with and without its accents. The second pass reads the terms from the cache.
#[test]
fn folded_accents_do_not_change_english_stems() {
    let (folding, keeping) = (analyzer("english", true), analyzer("english", false));
    for _ in 0..2 {
        check_terms(
            &folding,
            &[
                ("résumé resume Résumé", &["resum"; 3]),
                ("crème brûlée, creme brulee", &["creme", "brule", "creme", "brule"]),
            ],
        );
        check_terms(&keeping, &[("résumé resume", &["résumé", "resum"])]);
    }
}

#[test]
fn stemming_in_every_language() {
    let table: [(&str, &[Expected]); 18] = [
        (
            "english",
            &[
                ("consign consigned consigning consignment", &["consign"; 4]),
                ("happily happiness happy", &["happili", "happi", "happi"]),
                ("generally generate", &["general", "generat"]),
                ("skies dying news", &["sky", "die", "news"]),
                ("sieve's", &["siev"]),
            ],
        ),
        (
            "german",
            &[(
                "aufeinander Aufeinanderfolge kategorien Häuser",
                &["aufeinand", "aufeinanderfolg", "kategori", "haus"],
            )],
        ),
        (
            "french",
            &[(
                "continuait continuellement chevaux étés",
                &["continu", "continuel", "cheval", "ete"],
            )],
        ),
        (
            "italian",
            &[("abbandonata abbandonate pronunciamento", &["abbandon", "abbandon", "pronunc"])],
        ),
        ("spanish", &[("chicharrones torneados canción", &["chicharron", "torn", "cancion"])]),
        ("portuguese", &[("boataria quilométricas", &["boat", "quilometr"])]),
        ("russian", &[("важнейшие вагоны", &["важн", "вагон"])]),
        ("dutch", &[("lichamelijkheden opgingen", &["licham", "opging"])]),
        ("swedish", &[("jaktkarlarne klostrets", &["jaktkarl", "klostret"])]),
        ("danish", &[("indtage underste", &["indtag", "underst"])]),
        ("norwegian", &[("havnedistriktene opninga", &["havnedistrikt", "opning"])]),
        ("finnish", &[("edeltäjistä", &["edeltaj"])]),
        ("hungarian", &[("babaházak", &["babahaz"])]),
        ("romanian", &[("abruptului", &["abrupt"])]),
        ("turkish", &[("kitaplar", &["kitap"])]),
        ("greek", &[("καλός καλή καλούς", &["καλ"; 3])]),
        ("arabic", &[("الكتاب كتاب", &["كتاب"; 2])]),
        ("tamil", &[("புத்தகங்கள் புத்தகம்", &["புத்தகம்"; 2])]),
    ];
    for (stemmer, cases) in table {
        check_terms(&analyzer(stemmer, true), cases);
    }
}

#[test]
fn languages_without_spaces() {
    check_terms(
        &analyzer("none", true),
        &[
            ("東京都、大阪府", &["東京", "都", "大阪", "府"]),
            ("ガラス", &["ガラス"]),
            ("ｶﾞﾗｽ", &["ガラス"]),
            ("日本語の検索エンジン", &["日本語", "の", "検索", "エンジン"]),
            ("こと\u{3099}も、カ\u{3099}ラスか\u{3099}", &["こども", "ガラス", "が"]),
            ("中文搜索引擎", &["中文", "搜索", "引擎"]),
            ("สวัสดีชาวโลก", &["สวัสดี", "ชาว", "โลก"]),
            ("검색 엔진", &["검색", "엔진"]),
            ("Rust言語", &["rust", "言語"]),
        ],
    );
}

#[test]
fn positions_and_offsets() {
    let text = "Ein Sieb, «größer» als 日本語の本 — 3.14!";
    let mut found = Vec::new();
    analyzer("german", true).each(text, &mut |token| {
        assert_eq!(token.position as usize, found.len());
        found.push((&text[token.start..token.end], token.term.to_owned()));
    });
    let expected = [
        ("Ein", "ein"),
        ("Sieb", "sieb"),
        ("größer", "gross"),
        ("als", "als"),
        ("日本語", "日本語"),
        ("の", "の"),
        ("本", "本"),
        ("3.14", "3.14"),
    ];
    let found: Vec<_> = found.iter().map(|(word, term)| (*word, term.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn long_words_are_cut_at_a_character() {
    let config = AnalysisConfig {
        stemmer: "none".to_owned(),
        term_bytes_max: 5,
        ..AnalysisConfig::default()
    };
    let analyzer = Analyzer::build(&config).expect("five bytes will do");
    check_terms(&analyzer, &[("abcdefgh", &["abcde"]), ("жжжж", &["жж"]), ("straßen", &["stras"])]);
    let text = "a".repeat(100_000);
    let mut bounds = Vec::new();
    analyzer.each(&text, &mut |token| bounds.push((token.start, token.end)));
    assert_eq!(bounds, [(0, 100_000)]);
}

#[test]
fn configurations_are_checked() {
    let build = |stemmer: &str, term_bytes_max| {
        let stemmer = stemmer.to_owned();
        Analyzer::build(&AnalysisConfig { stemmer, fold_accents: true, term_bytes_max })
    };
    assert!(build("english", 4).is_ok() && build("none", 1024).is_ok());
    let error = build("klingon", 64).expect_err("no such stemmer");
    assert!(matches!(error, PageError::UnknownStemmer { .. }));
    assert!(error.to_string().contains("\"klingon\"") && error.to_string().contains("swedish"));
    assert!(matches!(build("none", 3), Err(PageError::TermLimit { bytes: 3, .. })));
    assert!(matches!(build("none", 1025), Err(PageError::TermLimit { bytes: 1025, .. })));
    let unknown = serde_json::from_str::<AnalysisConfig>(r#"{"stemer": "german"}"#);
    assert!(unknown.is_err());
    let part: AnalysisConfig = serde_json::from_str(r#"{"stemmer": "german"}"#).expect("a config");
    assert_eq!((part.stemmer.as_str(), part.term_bytes_max), ("german", 64));
}

#[rustfmt::skip]
const STEMMERS: [&str; 19] = [
    "none", "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian",
    "italian", "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
];

/// Characters of every class of the word rules.
fn text() -> impl Strategy<Value = String> {
    let c = prop::sample::select(
        "aAzZ09__..,,'';:-/ \n\t\"éßÅς’‘·\u{301}\u{ad}\u{200d}\u{200b}日本のカひ中文ไทยабאבعر한국①²ﬁ👩🇨🇿\u{fe0f}İı"
            .chars()
            .collect::<Vec<_>>(),
    );
    prop::collection::vec(c, 0..40).prop_map(String::from_iter)
}

/// The words that ICU finds in a whole text, without blanks that a mark follows.
fn icu_words(text: &str) -> Vec<(usize, usize)> {
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let ends: Vec<_> = segmenter.segment_str(text).collect();
    let words = ends.windows(2).map(|pair| (pair[0], pair[1]));
    words
        .map(|(start, end)| (end - text[start..end].trim_start_matches(|c| c <= ' ').len(), end))
        .filter(|(start, end)| text[*start..*end].contains(char::is_alphanumeric))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_equal_those_of_icu(
        drawn in text(),
        ascii in "[aZ09_.,';:\"\\- ]{0,200}",
        any in any::<String>(),
    ) {
        let analyzer = analyzer("none", true);
        for text in [drawn, ascii, any] {
            let mut found = Vec::new();
            analyzer.each(&text, &mut |token| found.push((token.start, token.end)));
            prop_assert_eq!(found, icu_words(&text), "{:?}", text);
        }
    }

    #[test]
    fn tokens_are_in_order_and_within_bounds(
        text in text(),
        any in any::<String>(),
        stemmer in prop::sample::select(STEMMERS.to_vec()),
        fold_accents in any::<bool>(),
        term_bytes_max in 4..40_usize,
    ) {
        let config = AnalysisConfig { stemmer: stemmer.to_owned(), fold_accents, term_bytes_max };
        let analyzer = Analyzer::build(&config).expect("a known stemmer");
        for text in [text, any] {
            let (mut count, mut last) = (0, 0);
            let mut terms = Vec::new();
            analyzer.each(&text, &mut |token| {
                assert!(last <= token.start && token.start < token.end);
                assert!(text[token.start..token.end].contains(char::is_alphanumeric));
                assert!(!token.term.is_empty() && token.term.len() <= term_bytes_max);
                let lower = token.term.chars().flat_map(char::to_lowercase);
                assert!(lower.eq(token.term.chars()), "{}", token.term);
                assert_eq!(token.position, count);
                count += 1;
                last = token.end;
                terms.push(token.term.to_owned());
            });
            assert_eq!(terms, analyzer.terms(&text));
        }
    }

    /// Hiragana and Katakana with composed or separate marks, among other characters.
    #[test]
    fn kana_segmentation_does_not_depend_on_composition(
        parts in prop::collection::vec(
            (prop::sample::select("がこどもパンビルベんのカ中国使用ーゴ、a1 _é\u{3099}\u{309a}ไ".chars().collect::<Vec<_>>()), any::<bool>()),
            0..24,
        ),
    ) {
        use unicode_normalization::UnicodeNormalization;
        let composed: String = parts.iter().map(|&(c, _)| c).nfc().collect();
        let text: String = parts.iter().flat_map(|&(c, whole)| {
            let parts: Vec<char> = if whole { vec![c] } else { c.nfd().collect() };
            parts
        }).collect();
        let tokens = |text: &str| {
            let mut found = Vec::new();
            analyzer("none", true).each(text, &mut |token| {
                let word: String = text[token.start..token.end].nfc().collect();
                found.push((word, token.term.to_owned(), token.position));
            });
            found
        };
        prop_assert_eq!(tokens(&text), tokens(&composed), "{:?}", text);
    }

    /// A word has the same term alone as in a page, whatever its case and composition.
    #[test]
    fn queries_and_pages_are_analysed_alike(words in prop::collection::vec("[a-zA-Zäöüßéèřžа-яά-ώ]{1,12}", 1..8)) {
        use unicode_normalization::UnicodeNormalization;
        let analyzer = analyzer("english", true);
        let page = analyzer.terms(&words.join(", "));
        let queries: Vec<_> = words.iter().flat_map(|word| analyzer.terms(word)).collect();
        prop_assert_eq!(&page, &queries);
        let decomposed: String = words.join(" ").to_uppercase().nfd().collect();
        prop_assert_eq!(&page, &analyzer.terms(&decomposed));
    }
}
