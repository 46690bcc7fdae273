//! Tests the detected language of sentences in known languages.

use page::language_of;

use crate::shared::html;

const SENTENCES: [(&str, &str); 12] = [
    (
        "en",
        "The harbour was quiet that morning, and only a few fishermen had put out before dawn \
            to see what the night had left in their nets.",
    ),
    (
        "de",
        "Der Hafen lag an diesem Morgen still, und nur wenige Fischer waren vor der Dämmerung \
            hinausgefahren, um nach ihren Netzen zu sehen.",
    ),
    (
        "fr",
        "Le port était calme ce matin-là, et seuls quelques pêcheurs étaient sortis avant \
            l'aube pour voir ce que la nuit avait laissé dans leurs filets.",
    ),
    (
        "it",
        "Quella mattina il porto era tranquillo e soltanto pochi pescatori erano usciti prima \
            dell'alba per vedere che cosa la notte avesse lasciato nelle reti.",
    ),
    (
        "es",
        "Aquella mañana el puerto estaba tranquilo y solo unos pocos pescadores habían salido \
            antes del amanecer para ver qué había dejado la noche en sus redes.",
    ),
    (
        "cs",
        "Přístav byl toho rána tichý a jen několik rybářů vyplulo před svítáním, aby se \
            podívali, co jim noc nechala v sítích.",
    ),
    (
        "ru",
        "В то утро гавань была тихой, и лишь немногие рыбаки вышли до рассвета посмотреть, что \
            ночь оставила в их сетях.",
    ),
    (
        "ja",
        "その朝、港は静かで、夜が網に何を残したかを見るために夜明け前に出た漁師はわずかだった。",
    ),
    ("zh", "那天早晨港口很安静，只有几个渔夫在黎明前出海，去看看夜里网中留下了什么。"),
    (
        "ko",
        "그날 아침 항구는 조용했고, 밤새 그물에 무엇이 남았는지 보려고 동트기 전에 나간 어부는 몇 명뿐이었다.",
    ),
    ("el", "Εκείνο το πρωί το λιμάνι ήταν ήσυχο και λίγοι ψαράδες είχαν βγει πριν από την αυγή."),
    (
        "pl",
        "Tego ranka port był cichy i tylko kilku rybaków wypłynęło przed świtem, żeby zobaczyć, \
            co noc zostawiła w ich sieciach.",
    ),
];

#[test]
fn a_sentence_is_enough_to_detect_its_language() {
    for (code, sentence) in SENTENCES {
        assert_eq!(language_of(sentence), code, "{sentence}");
        assert_eq!(html(&format!("<p>{sentence}")).language, code, "in a page: {sentence}");
    }
}

#[test]
fn uncertain_languages_are_empty() {
    for text in
        ["", " ", "\n", "42", "Sieve", "OK, next", "1 2 3 4 5 6 7 8 9 0", "?!…—", "はい", "Да"]
    {
        assert_eq!(language_of(text), "", "{text:?}");
    }
    let digits = "31415926535 ".repeat(1000);
    assert_eq!(language_of(&digits), "");
}

#[test]
fn the_detected_language_overrides_the_declared_one() {
    let (_, german) = SENTENCES[1];
    assert_eq!(html(&format!("<html lang=en><p>{german}")).language, "de");
    assert_eq!(html("<html lang=en><p>Kurz").language, "en");
}

/// A wrong declaration does not change the language of a text that is long enough.
#[test]
fn no_declaration_changes_a_clear_language() {
    for (code, sentence) in SENTENCES {
        let text = format!("{sentence} ").repeat(12);
        // The declaration wins where detection is unsure of a repetitive text.
        if language_of(&text).is_empty() {
            continue;
        }
        for declared in ["de", "en", "es", "fr", "it", "nl", "pt"] {
            let page = html(&format!("<html lang={declared}><p>{text}"));
            assert_eq!(page.language, code, "declared as {declared}: {sentence}");
        }
    }
}

#[test]
fn declarations() {
    let table = [
        ("<html lang=de>", "de"),
        ("<html lang=DE-ch>", "de"),
        ("<html lang='zh-Hant-TW'>", "zh"),
        ("<html lang=deu>", "de"),
        ("<html lang=haw>", "haw"),
        ("<html xml:lang=fr>", "fr"),
        ("<html><body lang=it>", "it"),
        ("<meta http-equiv=Content-Language content='es, en'>", "es"),
        ("<html lang=''>", ""),
        ("<html lang=x-klingon>", ""),
        ("<html lang='<script>'>", ""),
        ("<html lang=1234>", ""),
        ("<p lang=de>", ""),
    ];
    for (markup, expected) in table {
        assert_eq!(html(markup).language, expected, "{markup}");
    }
}

/// Menus in another language do not outvote the prose of a page.
#[test]
fn prose_outweighs_menus_in_language_detection() {
    let menu = "<li>Home<li>About us<li>Contact<li>Log in<li>Privacy policy".repeat(20);
    let (_, czech) = SENTENCES[5];
    let page = html(&format!("<ul>{menu}</ul><p>{}", [czech; 9].join(" ")));
    assert_eq!(page.language, "cs");
}
