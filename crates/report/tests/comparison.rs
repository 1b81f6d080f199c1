//! The page of a comparison as text.

mod compared;

#[test]
fn a_large_comparison_stays_light() {
    let page = report::comparison_html(&compared::large(1000));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}
