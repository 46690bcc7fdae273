//! Which pages of a collection are folded, as JSON lines for another program to judge.
//!
//! `cargo run --release -p crivello-jobs --example folds -- FOLDER [COUNT]` prints each page of the collection in
//! FOLDER with its representative. COUNT of the folded pages, always the same, also have the `titles` and `texts` of
//! both, and their `similarity`. `bench/docweb/folds` reads this.

use std::error::Error;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use collection::{Clusters, Collection, PageTable};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut flags = std::env::args().skip(1);
    let folder = flags.next().ok_or("which collection?")?;
    let count = flags.next().map_or(Ok(0), |count| count.parse())?;
    let collection = Collection::open(Path::new(&folder))?;
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    let folding = Clusters::open(&collection, directory)?.ok_or("run `crivello dedup` first")?;
    let heads = (0..directory.entries().len())
        .map(|place| (place, folding.representative(place).unwrap_or(place)));
    let mut pages: Vec<(usize, usize)> = heads.collect();
    let draw = |place: usize| (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    pages.sort_unstable_by_key(|&(place, head)| (place == head, draw(place)));
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (number, (place, head)) in pages.into_iter().enumerate() {
        let [page, other] = [place, head].map(|place| &directory.entries()[place]);
        let mut line = json!({ "url": page.url, "head": other.url });
        if place != head && number < count {
            let rows = [table.page(page.pointer)?, table.page(other.pointer)?];
            let rows = rows.map(|row| row.map(|(_, row)| row));
            let [Some(page), Some(other)] = rows else { return Err("a page is gone".into()) };
            line["titles"] = json!([page.title, other.title]);
            line["texts"] = json!([page.text, other.text]);
            line["similarity"] = json!(jobs::similarity(&table, place, head)?);
        }
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}
