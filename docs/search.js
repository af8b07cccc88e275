// How the search orders pages: guides, then what was measured, then classes and methods. A class whose whole name was
// typed is among the guides. The other scores are Sphinx's. `var`, because the search itself declares it so.
var Scorer = {
  score: ([docname, , anchor, , score]) => {
    const isTheClass = !anchor && score > 15;
    if (docname.startsWith("api/") && !isTheClass) return score - 200;
    if (["promises", "changelog", "results", "leaderboard"].includes(docname)) return score - 100;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
