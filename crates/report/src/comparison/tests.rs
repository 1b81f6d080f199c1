use crate::words::letter;

#[test]
fn sides_have_letters_like_the_columns_of_a_sheet() {
    let letters: Vec<String> = [0, 1, 25, 26, 27, 701, 702].map(letter).to_vec();
    assert_eq!(letters, ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"]);
}
