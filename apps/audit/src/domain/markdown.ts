const maxTextLength = 200;
const maxListed = 20;

/** What Markdown takes for markup inside a line; `://` and `www.` because addresses alone become links. */
const markup = /[\\`*_[\]<>~|&]|:(?=\/\/)|(?<=www)\./gi;
/** Characters that begin a new line or reverse the direction of the text after them. */
const lineBreaks = /[\p{Cc}\u2028\u2029]+/gu;
const directionChanges = /[\u202a-\u202e\u2066-\u2069]/g;

/** Matches text with any of these, or a lone surrogate. Nearly no text does, so that escaping is skipped. */
const needsEscaping = /[\\`*_[\]<>~|&\p{Cc}\u2028-\u202e\u2066-\u2069\ud800-\udfff]|:\/\/|[wW]{3}\./u;

/** Truncates a long line after whole characters. */
const truncate = (line: string): string => {
  if (line.length <= maxTextLength) return line;
  let end = 0;
  let letters = 0;
  for (const letter of line) {
    if (letters++ === maxTextLength) return `${line.slice(0, end)}…`;
    end += letter.length;
  }
  return line;
};

/** Escapes user text so that Markdown shows it literally. Long text is truncated. */
export const escapeMarkdown = (text: string): string => {
  if (!needsEscaping.test(text)) return truncate(text.trim());
  const line = text.toWellFormed().replace(directionChanges, '').replace(lineBreaks, ' ').trim();
  return truncate(line).replace(markup, '\\$&');
};

/** Escaped user text in bold. */
export const bold = (text: string): string => {
  const shown = escapeMarkdown(text);
  return shown === '' ? '**unknown**' : `**${shown}**`;
};

/** Encodes a path segment. Nearly all ids and names need no encoding. */
const encodePathSegment = (text: string): string =>
  /^[\w.-]*$/.test(text)
    ? text
    : encodeURIComponent(text.toWellFormed()).replace(/[()*'!~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

/** Escaped user text in bold as a link. @param steps the path segments of the page */
export const boldLink = (text: string, base: string, ...steps: readonly string[]): string =>
  `**[${escapeMarkdown(text) || 'unknown'}](${base}/${steps.map(encodePathSegment).join('/')})**`;

/** Joins items. Of many, the first ones and the number of the others. */
export const joinTruncated = (items: readonly string[], between: string): string =>
  items.length <= maxListed
    ? items.join(between)
    : `${items.slice(0, maxListed).join(between)}${between}… ${items.length - maxListed} more`;
