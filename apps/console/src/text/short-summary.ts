const markdownLink = /\[((?:\\.|[^\]\\])*)\]\([^)]*\)/g;

/** What a page is about, which its events need not repeat. */
interface SummaryContext {
  readonly feature?: string | null | undefined;
  readonly environment?: string | null | undefined;
  /** the name of the project of the event, on a page about several */
  readonly projectName?: string | undefined;
}

function literally(text: string): string {
  // A summary escapes what Markdown would read.
  return [...text].map((character) => `\\\\?${character.replace(/[^\w]/g, '\\$&')}`).join('');
}

/** A text as it stands in Markdown. An asterisk, even one that is escaped, would end the emphasis. */
function withoutMarkdown(text: string): string {
  return text.replaceAll('*', '').replace(/[\\`_{}[\]()#+\-.!<>|~]/g, '\\$&');
}

/** The Markdown summary of an event without the project, unless the page is about several, and without what the page says already. */
export function shortSummary(summary: string, { feature, environment, projectName }: SummaryContext): string {
  const inProject = projectName === undefined ? '' : ` in project **${withoutMarkdown(projectName)}**`;
  let short = summary.replace(markdownLink, '$1').replace(/ in project \*+[^*]+\*+/, () => inProject);
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
