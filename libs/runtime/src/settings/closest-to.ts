/** The Levenshtein distance of two texts: how many single characters are inserted, deleted or replaced between them. */
const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + (character === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
};

/** The candidate with the smallest edit distance to a name; undefined when even that differs in a third of the name or more. */
export const closestTo = (name: string, candidates: readonly string[]): string | undefined => {
  let closest: string | undefined;
  let smallest = name.length / 3;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance >= smallest) continue;
    smallest = distance;
    closest = candidate;
  }
  return closest;
};
