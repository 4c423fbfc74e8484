const maxTextLength = 200;
const maxListed = 20;

/** What Markdown interprets as markup within a line; `://` and `www.` because bare URLs become links. */
const markup = /[\\`*_[\]<>~|&]|:(?=\/\/)|(?<=www)\./gi;
/** Line breaks and other control characters. */
const controlCharacters = /[\p{Cc}\u2028\u2029]+/gu;
/** Characters that change the direction of the text after them. */
const directionChanges = /[\u202a-\u202e\u2066-\u2069]/g;

/** Matches text with any of the above, or with a lone surrogate. Hardly any text has one, so for most texts escaping is skipped. */
const needsEscaping = /[\\`*_[\]<>~|&\p{Cc}\u2028-\u202e\u2066-\u2069\ud800-\udfff]|:\/\/|[wW]{3}\./u;

/** Truncates a long line, without cutting a surrogate pair. */
function truncate(line: string): string {
  if (line.length <= maxTextLength) return line;
  let end = 0;
  let characters = 0;
  for (const character of line) {
    if (characters++ === maxTextLength) return `${line.slice(0, end)}…`;
    end += character.length;
  }
  return line;
}

/** Escapes user text so that Markdown shows it literally. Long text is truncated. */
export function escapeMarkdown(text: string): string {
  if (!needsEscaping.test(text)) return truncate(text.trim());
  const line = text.toWellFormed().replace(directionChanges, '').replace(controlCharacters, ' ').trim();
  return truncate(line).replace(markup, '\\$&');
}

/** Escaped user text in bold. */
export function bold(text: string): string {
  const escaped = escapeMarkdown(text);
  return escaped === '' ? '**unknown**' : `**${escaped}**`;
}

/** Encodes a path segment. Nearly all ids and names need no encoding. */
function encodePathSegment(text: string): string {
  return /^[\w.-]*$/.test(text)
    ? text
    : encodeURIComponent(text.toWellFormed()).replace(
        /[()*'!~]/g,
        (character) => `%${character.charCodeAt(0).toString(16)}`,
      );
}

/** Escaped user text in bold as a link. @param steps the path segments of the page */
export function boldLink(text: string, base: string, ...steps: readonly string[]): string {
  return `**[${escapeMarkdown(text) || 'unknown'}](${base}/${steps.map(encodePathSegment).join('/')})**`;
}

/** Joins items: all, or of more than 20 the first 20 and the number of the others. */
export function joinTruncated(items: readonly string[], between: string): string {
  return items.length <= maxListed
    ? items.join(between)
    : `${items.slice(0, maxListed).join(between)}${between}… ${items.length - maxListed} more`;
}
