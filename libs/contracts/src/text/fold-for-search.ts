/** Printable ASCII, as most texts are. Folding only lowers its case. */
const printableAscii = /^[ -~]*$/;

/**
 * Text without the differences that a search ignores: upper and lower case (the final sigma included), and composed and decomposed
 * characters. Control characters become spaces. Databases store folded texts, so a change of the result needs a migration that folds them
 * again.
 */
export const foldForSearch = (text: string): string =>
  printableAscii.test(text)
    ? text.toLowerCase()
    : text
        .toWellFormed()
        .normalize('NFC')
        .toLowerCase()
        // A lower-case letter may have a composed form where its upper-case letter has none.
        .normalize('NFC')
        .replaceAll('ς', 'σ')
        .replace(/\p{Cc}/gu, ' ');
