/** Most text is ASCII, for which folding only lowers the case. */
const isPlain = /^[ -~]*$/;

/**
 * Text without the differences that a search ignores: upper and lower case (the final sigma included), and composed and decomposed
 * characters. Control characters become blanks. Stored texts are folded, too: another result needs a migration of theirs.
 */
export const foldCase = (text: string): string =>
  isPlain.test(text)
    ? text.toLowerCase()
    : text
        .toWellFormed()
        .normalize('NFC')
        .toLowerCase()
        // The lower case of a letter may have a composed form where the upper case has none.
        .normalize('NFC')
        .replaceAll('ς', 'σ')
        .replace(/\p{Cc}/gu, ' ');
