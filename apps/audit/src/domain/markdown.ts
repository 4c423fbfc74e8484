const longestText = 200;
const mostListed = 20;

/** What Markdown takes for markup inside a line; `://` and `www.` because addresses alone become links. */
const markup = /[\\`*_[\]<>~|&]|:(?=\/\/)|(?<=www)\./gi;
/** What would begin a new line, or turn the direction of all that follows. */
const lineBreaks = /[\p{Cc}\u2028\u2029]+/gu;
const directionChanges = /[\u202a-\u202e\u2066-\u2069]/g;

/** Whatever of all this a text may hold, and what of it is half a letter. Nearly every text holds none. */
const needsCare = /[\\`*_[\]<>~|&\p{Cc}\u2028-\u202e\u2066-\u2069\ud800-\udfff]|:\/\/|[wW]{3}\./u;

/** The first letters of a line that is long. */
const cut = (line: string): string => {
  if (line.length <= longestText) return line;
  let end = 0;
  let letters = 0;
  for (const letter of line) {
    if (letters++ === longestText) return `${line.slice(0, end)}…`;
    end += letter.length;
  }
  return line;
};

/** Text that people chose, as Markdown shows it letter by letter; what is long is cut. */
export const plain = (text: string): string => {
  if (!needsCare.test(text)) return cut(text.trim());
  const line = text.toWellFormed().replace(directionChanges, '').replace(lineBreaks, ' ').trim();
  return cut(line).replace(markup, '\\$&');
};

/** Text that people chose, in bold. */
export const bold = (text: string): string => {
  const shown = plain(text);
  return shown === '' ? '**unknown**' : `**${shown}**`;
};

/** Nearly every id and name stands in an address as it is. */
const inAddress = (text: string): string =>
  /^[\w.-]*$/.test(text)
    ? text
    : encodeURIComponent(text.toWellFormed()).replace(/[()*'!~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

/** Text that people chose, in bold, leading to a page that the steps name. */
export const boldLink = (text: string, base: string, ...steps: readonly string[]): string =>
  `**[${plain(text) || 'unknown'}](${base}/${steps.map(inAddress).join('/')})**`;

/** The first of many, and how many more there are. */
export const listed = (items: readonly string[], between: string): string =>
  items.length <= mostListed
    ? items.join(between)
    : `${items.slice(0, mostListed).join(between)}${between}… ${items.length - mostListed} more`;
