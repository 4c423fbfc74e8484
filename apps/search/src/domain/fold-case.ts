/** Separates the texts of a feature, so that a query cannot match across two of them. */
const textSeparator = '\u001f';

/** Text as it is compared when its case does not matter. What is looked for and what is looked through are folded alike. */
export const foldCase = (text: string): string =>
  text.toLowerCase().normalize('NFC').replaceAll('ς', 'σ').replaceAll(textSeparator, ' ');

/** The searchable text of a feature: the name, and each tag as `type:value`. */
export const searchTextOf = (name: string, tags: readonly string[]): string =>
  [name, ...tags].map(foldCase).join(textSeparator);
