//! The numbers of a figure as a table, for those who do not see it.

use super::body::{Body, Cell, Field, Figure};
use super::{distributions, numbers, slopes};
use crate::words;
use maud::{Markup, html};
use model::Response;

/// The table behind a figure.
pub(super) fn table(figure: &Figure<'_>) -> Markup {
    html! {
        details.behind {
            summary { "The numbers behind this chart" }
            div.scroll {
                table {
                    @match &figure.body {
                        Body::Slopes { response, ends, panels } => { (slopes::table(response, ends, panels)) }
                        Body::Distributions { response, curves } => { (distributions::table(response, curves)) }
                        _ => { (head(figure.response())) tbody { (cells(figure)) } }
                    }
                }
            }
        }
    }
}

/// A response that is the same in all rows is said once, over its numbers.
fn head(same: Option<&Response>) -> Markup {
    html! {
        thead {
            tr {
                th scope="col" { "treatment" }
                @if same.is_none() { th scope="col" { "response" } }
                th.number scope="col" { (same.map_or("estimate".into(), words::label)) }
                th.number scope="col" { "95 % interval" }
                th.number scope="col" { "trials" }
            }
        }
    }
}

fn cells(figure: &Figure<'_>) -> Markup {
    let several = figure.response().is_none();
    let row = |cell: &Cell, response: &Response| row(cell, response, several);
    html! {
        @match &figure.body {
            Body::Lines { groups, .. } => {
                @for panel in groups.iter().flat_map(|group| &group.panels) {
                    @for (_, cell) in panel.lines.iter().flat_map(|line| &line.points) {
                        (row(cell, panel.response))
                    }
                }
            }
            Body::Rows { response, .. } => {
                @for cell in figure.cells() { (row(cell, response)) }
            }
            Body::Heat { response, grids, .. } => {
                @for (_, fields) in grids.iter().flat_map(|grid| &grid.rows) {
                    @for field in fields {
                        @match field {
                            Field::Measured(cell) => { (row(cell, response)) }
                            Field::Absent(name, why) => {
                                tr {
                                    th scope="row" { (name) }
                                    td { (why) }
                                    td { "–" }
                                    td { "0" }
                                }
                            }
                            Field::None => {}
                        }
                    }
                }
            }
            Body::Slopes { .. } | Body::Distributions { .. } => {}
        }
    }
}

fn row(cell: &Cell, response: &Response, named: bool) -> Markup {
    let parts = numbers(cell, &response.unit);
    html! {
        tr {
            th scope="row" { (cell.label) }
            @if named { td.what { (words::label(response)) } }
            td { (parts.point) }
            td { (parts.interval) }
            td { (cell.trials) }
        }
    }
}
