// The tables, sorted by the column that is pressed.
function sortable(table) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead button").forEach((button) => {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("thead th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const at = head.cellIndex;
      const key = (row) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim();
      const numeric = head.dataset.kind === "number";
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");       // what has no number stays below
        return (numeric ? x - y : x.localeCompare(y)) * (up ? 1 : -1);
      };
      [...body.rows].sort(order).forEach((row) => body.append(row));
    });
  });
}

document.querySelectorAll("table.sortable").forEach(sortable);
