/** A line of the difference of two texts: in both, only in the first (removed) or only in the second (added). */
interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** The maximum number of lines for which common lines are looked for; in longer texts, all lines are removed or added. */
const maxComparedLines = 2_000;

function lines(kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ kind, text }));
}

/** For each pair of indexes, the length of the longest common subsequence of the lines from these indexes on. */
function commonLengths(first: readonly string[], second: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: first.length + 1 }, () => new Uint16Array(second.length + 1));
  for (let i = first.length - 1; i >= 0; i--) {
    for (let j = second.length - 1; j >= 0; j--) {
      const [row, below] = [lengths[i] as Uint16Array, lengths[i + 1] as Uint16Array];
      row[j] = first[i] === second[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

/** The lines of two texts with the fewest removed and added lines; removed ones come first. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [first, second] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(first.length, second.length) && first[start] === second[start]) start++;
  let end = 0;
  const maxEnd = Math.min(first.length, second.length) - start;
  while (end < maxEnd && first[first.length - 1 - end] === second[second.length - 1 - end]) end++;
  const [removed, added] = [first.slice(start, first.length - end), second.slice(start, second.length - end)];
  const middle: DiffLine[] = [];
  if (removed.length > maxComparedLines || added.length > maxComparedLines) {
    middle.push(...lines('removed', removed), ...lines('added', added));
  } else {
    const common = commonLengths(removed, added);
    let [i, j] = [0, 0];
    while (i < removed.length || j < added.length) {
      const isSame = i < removed.length && removed[i] === added[j];
      const isRemoved =
        i < removed.length && (j >= added.length || (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0));
      if (isSame) {
        middle.push({ kind: 'same', text: removed[i++] ?? '' });
        j++;
      } else if (isRemoved) middle.push({ kind: 'removed', text: removed[i++] ?? '' });
      else middle.push({ kind: 'added', text: added[j++] ?? '' });
    }
  }
  return [...lines('same', first.slice(0, start)), ...middle, ...lines('same', first.slice(first.length - end))];
}
