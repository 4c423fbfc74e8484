const longestText = 200;
const mostListed = 20;

/** What Markdown takes for markup inside a line; `://` and `www.` because addresses alone become links. */
const markup = /[\\`*_[\]<>~|&]|:(?=\/\/)|(?<=www)\./gi;
/** What would begin a new line, or turn the direction of all that follows. */
const lineBreaks = /[\p{Cc}\u2028\u2029]+/gu;
const directionChanges = /[\u202a-\u202e\u2066-\u2069]/g;

/** Text that people chose, as Markdown shows it letter by letter; what is long is cut. */
export const plain = (text: string): string => {
  const line = text.toWellFormed().replace(directionChanges, '').replace(lineBreaks, ' ').trim();
  const letters = [...line];
  const shown = letters.length > longestText ? `${letters.slice(0, longestText).join('')}…` : line;
  return shown.replace(markup, '\\$&');
};

/** Text that people chose, in bold. */
export const bold = (text: string): string => {
  const shown = plain(text);
  return shown === '' ? '**unknown**' : `**${shown}**`;
};

const inAddress = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/[()*'!~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

/** Text that people chose, in bold, leading to a page that the steps name. */
export const boldLink = (text: string, base: string, ...steps: readonly string[]): string =>
  `**[${plain(text) || 'unknown'}](${base}/${steps.map(inAddress).join('/')})**`;

/** The first of many, and how many more there are. */
export const listed = (items: readonly string[], between: string): string =>
  items.length <= mostListed
    ? items.join(between)
    : `${items.slice(0, mostListed).join(between)}${between}… ${items.length - mostListed} more`;
