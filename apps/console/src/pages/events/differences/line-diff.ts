/** A line of two texts: of both, of the first alone or of the second alone. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Maximum lines for the longest common subsequence; longer texts are shown one after the other. */
const maxComparedLines = 2_000;

const lines = (kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] => texts.map((text) => ({ kind, text }));

/** For each pair of positions, how many lines the rests of both lists have in common. */
const commonLengths = (one: readonly string[], other: readonly string[]): readonly Uint16Array[] => {
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const [row, below] = [lengths[i] as Uint16Array, lengths[i + 1] as Uint16Array];
      row[j] = one[i] === other[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
};

/** The lines of two texts with the fewest removed and added lines; removed ones come first. */
export const lineDiff = (before: string, after: string): DiffLine[] => {
  const [one, other] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(one.length, other.length) && one[start] === other[start]) start++;
  let end = 0;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  const [removed, added] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
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
  return [...lines('same', one.slice(0, start)), ...middle, ...lines('same', one.slice(one.length - end))];
};
