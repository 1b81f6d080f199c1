// Shows the parts of the book that hold every word of the search, those with a word in the heading first.
const field = document.getElementById("search");
const list = document.getElementById("found");

field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
    const hits = [];
    for (const [page, at, heading, text] of words.length ? parts : []) {
        const head = `${page} ${heading}`.toLowerCase();
        const all = `${head} ${text.toLowerCase()}`;
        if (at && words.every((word) => all.includes(word))) {
            hits.push([words.filter((word) => head.includes(word)).length, page, at, heading]);
        }
    }
    hits.sort((a, b) => b[0] - a[0]);
    list.replaceChildren(...hits.slice(0, 20).map(([, page, at, heading]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = root + at;
        link.textContent = page === heading ? page : `${page}: ${heading}`;
        item.append(link);
        return item;
    }));
    list.hidden = hits.length === 0;
});
