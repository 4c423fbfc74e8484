/** Stands between the texts of a feature, so that nothing that is looked for is found in two of them together. */
const textSeparator = '\u001f';

/** Text as it is compared when its case does not matter. What is looked for and what is looked through are folded alike. */
export const fold = (text: string): string =>
  text.toLowerCase().normalize('NFC').replaceAll('ς', 'σ').replaceAll(textSeparator, ' ');

/** What a search for text looks through: the name, and each tag as `type:value`. */
export const searchTextOf = (name: string, tags: readonly string[]): string =>
  [name, ...tags].map(fold).join(textSeparator);
