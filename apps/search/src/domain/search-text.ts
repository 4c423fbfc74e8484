import { foldForSearch } from '@bunting/contracts';

/** Separates the texts of a feature, so that a query cannot match across two of them. Folded text does not contain it. */
const textSeparator = '\u001f';

/** The searchable text of a feature: the name, and each tag as `type:value`. */
export const searchTextOf = (name: string, tags: readonly string[]): string =>
  [name, ...tags].map(foldForSearch).join(textSeparator);
