// The tables of the leaderboard sort by a click on a heading: first the largest number, or the first name, on top.
const number = text => parseFloat(text.replaceAll(",", ""));

function sortBy(heading) {
  const table = heading.closest("table"), column = heading.cellIndex;
  const text = row => row.cells[column].textContent.trim();
  const rows = [...table.tBodies[0].rows];
  const areNumbers = rows.every(row => text(row) === "" || !isNaN(number(text(row))));
  const first = areNumbers ? "descending" : "ascending";
  const second = areNumbers ? "ascending" : "descending";
  const order = heading.ariaSort === first ? second : first;
  for (const other of heading.parentElement.cells) other.ariaSort = null;
  heading.ariaSort = order;
  const sign = order === "ascending" ? 1 : -1;
  rows.sort((a, b) => {
    const [p, q] = [text(a), text(b)];
    if (p === "" || q === "") return (p === "") - (q === "");
    return sign * (areNumbers ? number(p) - number(q) : p.localeCompare(q));
  });
  table.tBodies[0].append(...rows);
}

document.addEventListener("DOMContentLoaded", () => {
  for (const heading of document.querySelectorAll("#leaderboard th")) {
    heading.tabIndex = 0;
    heading.addEventListener("click", () => sortBy(heading));
    heading.addEventListener("keydown", event => event.key === "Enter" && sortBy(heading));
  }
});
