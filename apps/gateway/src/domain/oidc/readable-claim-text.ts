/** Whether PostgreSQL stores a text of a provider unchanged, and people can read it: it has no control character and no lone surrogate. */
export const isReadableClaimText = (text: string): boolean =>
  text.isWellFormed() && [...text].every((character) => character >= ' ' && character !== '\u007f');
