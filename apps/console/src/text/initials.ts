/** The first letters of the first and the last word of a name, in capitals. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._@-]+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const first = words.at(0);
  const last = words.length > 1 && !name.includes('@') ? words.at(-1) : undefined;
  return [first, last]
    .map((word) => [...(word ?? '')].find((sign) => /[\p{L}\p{N}]/u.test(sign)) ?? '')
    .join('')
    .toUpperCase();
}
