/** Marks of the reader's browser, digits of the console's language: a text has one kind of digits. */
const numbers = new Intl.NumberFormat(undefined, { numberingSystem: 'latn' });

/** A number with the marks that the reader's browser writes: `12,500`. */
export function formatNumber(n: number): string {
  return numbers.format(n);
}

/** A number with the noun that it counts: `1 flag`, `12,500 flags`. */
export function formatCount(n: number, one: string, many = `${one}s`): string {
  return `${formatNumber(n)} ${n === 1 ? one : many}`;
}
