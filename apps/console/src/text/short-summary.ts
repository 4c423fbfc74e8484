const markdownLink = /\[((?:\\.|[^\]\\])*)\]\([^)]*\)/g;

/** What a page is about, which its events need not repeat. */
interface SummaryContext {
  readonly feature?: string | null | undefined;
  readonly environment?: string | null | undefined;
  /** whether the page is about events of several projects, so that each says its own */
  readonly isOfManyProjects?: boolean | undefined;
}

function literally(text: string): string {
  // A summary escapes what Markdown would read.
  return [...text].map((character) => `\\\\?${character.replace(/[^\w]/g, '\\$&')}`).join('');
}

/** The Markdown summary of an event without the project, unless the page is about several, and without what the page says already. */
export function shortSummary(
  summary: string,
  { feature, environment, isOfManyProjects = false }: SummaryContext,
): string {
  let short = summary.replace(markdownLink, '$1');
  if (!isOfManyProjects) short = short.replace(/ in project \*+[^*]+\*+/, '');
  if (environment != null)
    short = short.replace(new RegExp(` (?:for|in|from) the \\*+${literally(environment)}\\*+ environment`), '');
  if (feature != null) {
    const name = `\\*+${literally(feature)}\\*+`;
    short = short
      .replace(new RegExp(` (?:to|from|for|of|in|on) (?:feature )?${name}`), '')
      .replace(new RegExp(name), 'it');
  }
  return short;
}
