//! Italian.
//!
//! **Invariant.** Nouns, verbs, adverbs and places go with each other in any combination, as `mod.rs` says.

use super::{Language, Lexicon};

#[rustfmt::skip] // a grid of phrases reads better than a column
pub(crate) static LEXICON: Lexicon = Lexicon {
    language: Language::Italian,
    nouns: &[
        "la luce del mattino", "un vecchio muro", "il sentiero stretto", "una vicina gentile",
        "il tempo", "una piccola lampada", "la finestra aperta", "un ospite curioso",
        "la panca di legno", "un pomeriggio lento", "la prima neve", "una mappa piegata",
        "il tavolo lungo", "un quaderno azzurro", "la stagione", "una risposta sincera",
        "l'orologio del paese", "un libro prestato", "la pietra calda", "un maestro paziente",
        "la strada intera", "una campana lontana", "il fiume", "un cesto vuoto",
        "il secondo piano", "una manciata di sabbia", "il vento del nord", "una buona abitudine",
        "la sera", "una regola non scritta", "la caffettiera", "una fila di formiche",
        "la porta a sud", "una lettera sbiadita", "la pioggia", "un fratello maggiore",
        "il gatto grigio", "un filo sciolto", "il minimo dettaglio", "un cielo sereno",
    ],
    verbs: &[
        "aspetta", "cambia", "ritorna", "cresce", "riposa", "ricomincia", "svanisce", "resiste",
        "brilla", "gira", "rimane", "appare", "galleggia", "respira", "cammina", "dorme",
        "si sveglia", "canta", "pende", "risplende", "sta in piedi", "viaggia", "passeggia",
        "matura", "affonda", "sale", "trema", "lavora", "rallenta", "parla", "conta",
        "si perde", "tace", "si ferma", "arriva", "sorride",
    ],
    adverbs: &[
        "lentamente", "senza rumore", "ogni anno", "per un po'", "di nuovo", "con cura",
        "quasi subito", "per tempo", "da solo", "a poco a poco", "come previsto",
        "contro ogni attesa", "sempre di più", "fino a tardi", "una volta la settimana",
        "sotto gli occhi di tutti", "senza fretta", "con un po' di fortuna", "tutto il giorno",
        "senza motivo", "volentieri", "a piccoli passi", "giorno dopo giorno", "per sicurezza",
        "finalmente", "due volte più in fretta",
    ],
    places: &[
        "dietro casa", "vicino alla stazione", "sotto gli alberi", "sullo scaffale alto",
        "in mezzo alla piazza", "ai margini della città", "accanto alla strada",
        "nella stanza sul retro", "lungo il canale", "fra due colline", "dentro il cortile",
        "sopra i tetti", "sotto il ponte", "di fianco alla scuola", "oltre i campi",
        "nell'angolo più lontano", "dall'altra parte", "all'incrocio", "dietro l'angolo",
        "in cantina",
    ],
    openings: &[
        "al mattino", "dopo la pioggia", "prima dell'inverno", "quasi sempre", "la domenica",
        "da qui in avanti", "di regola", "a prima vista", "a lavoro finito", "in quegli anni",
        "la sera tardi", "a dire il vero", "per tradizione", "con un po' di pratica",
        "a mezzogiorno", "ogni tanto", "durante le vacanze", "ancora oggi", "senza preavviso",
        "alla fine",
    ],
    sentences: &[
        "%o %n %v %a.",
        "%n %v %p, e %n %v %a.",
        "%n %v %a, mentre %n %v %p.",
        "%o %n %v %p, ma %n %v %a.",
        "se %n %v %a, allora anche %n %v.",
        "%n %v perché %n %v %p.",
        "nessuno sa perché %n %v %a, eppure %n %v %p.",
        "%o %n e %n si incontrano %p.",
        "%n %v %p.",
        "si dice che quando %n %v, %n %v %a.",
    ],
    titles: &["%n e %n", "%n %p", "perché %n %v %a", "come %n %v", "%o: %n", "%n %v %p"],
    needle: "La parola d'ordine di questa pagina è %w, e non si trova altrove.",
    space: " ",
    home: "Inizio",
    up: "Su",
    contents: "Indice",
    see_also: "Vedi anche",
    updated: "Aggiornato il",
};
