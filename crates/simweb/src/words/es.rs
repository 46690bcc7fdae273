//! Spanish.
//!
//! **Invariant.** Nouns, verbs, adverbs and places go with each other in any combination, as `mod.rs` says.

use super::{Language, Lexicon};

#[rustfmt::skip] // a grid of phrases reads better than a column
pub(crate) static LEXICON: Lexicon = Lexicon {
    language: Language::Spanish,
    nouns: &[
        "la luz de la mañana", "un viejo muro", "el sendero estrecho", "una vecina tranquila",
        "el tiempo", "una pequeña lámpara", "la ventana abierta", "un visitante temprano",
        "el banco de madera", "una tarde lenta", "la primera nieve", "un mapa doblado",
        "la mesa larga", "un cuaderno azul", "la estación", "una respuesta sincera",
        "el reloj del pueblo", "un libro prestado", "la piedra caliente", "un maestro paciente",
        "la calle entera", "una campana lejana", "el río", "un cesto vacío", "el segundo piso",
        "un puñado de arena", "el viento del norte", "una buena costumbre", "la noche",
        "una regla no escrita", "la tetera de cobre", "una fila de hormigas", "la puerta del sur",
        "una carta desteñida", "la lluvia", "un hermano mayor", "el gato gris", "un hilo suelto",
        "el menor detalle", "un cielo claro",
    ],
    verbs: &[
        "espera", "cambia", "vuelve", "crece", "descansa", "empieza", "se desvanece", "resiste",
        "brilla", "gira", "permanece", "aparece", "flota", "respira", "camina", "duerme",
        "despierta", "canta", "se inclina", "resplandece", "sigue en pie", "viaja", "pasea",
        "madura", "se hunde", "sube", "tiembla", "trabaja", "se demora", "habla", "cuenta",
        "se pierde", "calla", "se detiene", "llega", "sonríe",
    ],
    adverbs: &[
        "despacio", "sin ruido", "cada año", "por un rato", "otra vez", "con cuidado",
        "casi enseguida", "a tiempo", "por su cuenta", "poco a poco", "como era de esperar",
        "contra todo pronóstico", "cada vez más", "hasta tarde", "una vez por semana",
        "a la vista de todos", "sin prisa", "con algo de suerte", "todo el día", "sin motivo",
        "con gusto", "a pasos cortos", "día tras día", "por si acaso", "al fin",
        "el doble de rápido",
    ],
    places: &[
        "detrás de la casa", "cerca de la parada", "bajo los árboles", "en el estante de arriba",
        "en medio de la plaza", "a las afueras de la ciudad", "junto a la carretera",
        "en el cuarto de atrás", "a lo largo del canal", "entre dos colinas", "dentro del patio",
        "sobre los tejados", "debajo del puente", "al lado de la escuela",
        "más allá de los campos", "en el último rincón", "al otro lado", "en el cruce",
        "a la vuelta de la esquina", "en el sótano",
    ],
    openings: &[
        "por la mañana", "después de la lluvia", "antes del invierno", "casi siempre",
        "los domingos", "de aquí en adelante", "por lo general", "a primera vista",
        "terminado el trabajo", "en aquellos años", "ya entrada la noche", "a decir verdad",
        "por tradición", "con un poco de práctica", "al mediodía", "de vez en cuando",
        "durante las vacaciones", "todavía hoy", "sin previo aviso", "al final",
    ],
    sentences: &[
        "%o %n %v %a.",
        "%n %v %p, y %n %v %a.",
        "%n %v %a, mientras %n %v %p.",
        "%o %n %v %p, pero %n %v %a.",
        "si %n %v %a, entonces también %n %v.",
        "%n %v porque %n %v %p.",
        "nadie sabe por qué %n %v %a, y sin embargo %n %v %p.",
        "%o %n y %n se encuentran %p.",
        "%n %v %p.",
        "dicen que cuando %n %v, %n %v %a.",
    ],
    titles: &["%n y %n", "%n %p", "por qué %n %v %a", "cómo %n %v", "%o: %n", "%n %v %p"],
    needle: "La contraseña de esta página es %w, y no aparece en ningún otro lugar.",
    space: " ",
    home: "Inicio",
    up: "Subir",
    contents: "Contenido",
    see_also: "Véase también",
    updated: "Actualizado el",
};
