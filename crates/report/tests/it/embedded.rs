//! The trials that a page carries.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The data of all experiments on a page, as its script reads them.
pub(crate) fn embedded(page: &str) -> Vec<serde_json::Value> {
    let pieces = page.split("<script type=\"application/gzip\"").skip(1);
    let read = |piece: &str| {
        let data = piece.split_once('>').and_then(|(_, rest)| rest.split_once("</script>"));
        let packed = BASE64_STANDARD.decode(data.expect("data").0).unwrap();
        serde_json::from_reader(flate2::read::GzDecoder::new(&packed[..])).unwrap()
    };
    pieces.map(read).collect()
}
