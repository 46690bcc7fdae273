//! French.
//!
//! **Invariant.** Nouns, verbs, adverbs and places go with each other in any combination, as `mod.rs` says.

use super::{Language, Lexicon};

#[rustfmt::skip] // a grid of phrases reads better than a column
pub(crate) static LEXICON: Lexicon = Lexicon {
    language: Language::French,
    nouns: &[
        "la lumière du matin", "un vieux mur", "le sentier étroit", "une voisine tranquille",
        "le temps", "une petite lampe", "la fenêtre ouverte", "un visiteur matinal",
        "le banc de bois", "un lent après-midi", "la première neige", "une carte pliée",
        "la longue table", "un cahier bleu", "la saison", "une réponse honnête",
        "l'horloge du village", "un livre prêté", "la pierre chaude", "un maître patient",
        "la rue entière", "une cloche lointaine", "la rivière", "un panier vide",
        "le deuxième étage", "une poignée de sable", "le vent du nord", "une bonne habitude",
        "le soir", "une règle tacite", "la bouilloire en cuivre", "une file de fourmis",
        "la porte du sud", "une lettre fanée", "la pluie", "un frère aîné", "le chat gris",
        "un fil perdu", "le moindre détail", "un ciel clair",
    ],
    verbs: &[
        "attend", "change", "revient", "grandit", "repose", "recommence", "pâlit", "résiste",
        "brille", "tourne", "reste", "apparaît", "flotte", "respire", "marche", "dort",
        "se réveille", "chante", "penche", "resplendit", "tient debout", "voyage", "se promène",
        "mûrit", "s'enfonce", "monte", "tremble", "travaille", "ralentit", "parle", "compte",
        "se perd", "se tait", "s'arrête", "arrive", "sourit",
    ],
    adverbs: &[
        "lentement", "sans bruit", "chaque année", "pour un moment", "de nouveau", "avec soin",
        "presque aussitôt", "à temps", "sans aide", "peu à peu", "comme prévu",
        "contre toute attente", "de plus en plus", "jusque tard", "une fois par semaine",
        "aux yeux de tous", "sans hâte", "avec un peu de chance", "toute la journée",
        "sans raison", "volontiers", "à petits pas", "jour après jour", "par précaution", "enfin",
        "deux fois plus vite",
    ],
    places: &[
        "derrière la maison", "près de la gare", "sous les arbres", "sur la plus haute étagère",
        "au milieu de la place", "au bord de la ville", "à côté de la route",
        "dans la pièce du fond", "le long du canal", "entre deux collines", "dans la cour",
        "par-dessus les toits", "sous le pont", "tout près de l'école", "au-delà des champs",
        "dans le dernier coin", "de l'autre côté", "au carrefour", "au coin de la rue",
        "à la cave",
    ],
    openings: &[
        "le matin", "après la pluie", "avant l'hiver", "la plupart du temps", "le dimanche",
        "à partir d'ici", "en règle générale", "à première vue", "une fois le travail fini",
        "dans ces années-là", "tard dans la soirée", "à vrai dire", "par tradition",
        "avec un peu de pratique", "à midi", "de temps en temps", "pendant les vacances",
        "aujourd'hui encore", "sans prévenir", "à la fin",
    ],
    sentences: &[
        "%o, %n %v %a.",
        "%n %v %p, et %n %v %a.",
        "%n %v %a, tandis que %n %v %p.",
        "%o, %n %v %p, mais %n %v %a.",
        "quand %n %v %a, alors %n %v aussi.",
        "%n %v parce que %n %v %p.",
        "personne ne sait pourquoi %n %v %a, et pourtant %n %v %p.",
        "%o, %n et %n se retrouvent %p.",
        "%n %v %p.",
        "on dit que %n %v %a dès que %n %v.",
    ],
    titles: &["%n et %n", "%n %p", "pourquoi %n %v %a", "comment %n %v", "%o : %n", "%n %v %p"],
    needle: "Le mot de passe de cette page est %w, et il ne se trouve nulle part ailleurs.",
    space: " ",
    home: "Accueil",
    up: "Plus haut",
    contents: "Sommaire",
    see_also: "Voir aussi",
    updated: "Mis à jour le",
};
