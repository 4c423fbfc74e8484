/** The trimmed entries of a comma-separated list, as settings have them; none are empty. */
export const splitCommaSeparated = (list: string): string[] =>
  list.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()]));
