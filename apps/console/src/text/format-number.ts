const numbers = new Intl.NumberFormat('en');

/** A number as people read it: `12,500`. */
export const formatNumber = (n: number): string => numbers.format(n);

/** A number with the noun that it counts: `1 flag`, `12,500 flags`. */
export const formatCount = (n: number, one: string, many = `${one}s`): string =>
  `${formatNumber(n)} ${n === 1 ? one : many}`;
