import Mustache from 'mustache';

/** How many tokens a template may render, with those of repeated sections, and how many characters its result may have. */
const maxTokens = 50_000;
const maxCharacters = 1_000_000;

/** A template that renders too much, or is none. */
export class TemplateError extends Error {}

/** Values of own members alone, so that a template reaches nothing but the data. */
class DataContext extends Mustache.Context {
  override lookup(name: string): unknown {
    if (name === '.') return this.view;
    const [first = '', ...rest] = name.split('.');
    if (!hasMember(this.view, first)) return this.parent?.lookup(name);
    let value: unknown = this.view[first];
    for (const member of rest) value = hasMember(value, member) ? value[member] : undefined;
    return value;
  }
  override push(view: unknown): Mustache.Context {
    return new DataContext(view, this);
  }
}

function hasMember(value: unknown, name: string): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

/** Sections within sections of long lists would render for hours, and values could be repeated without an end. */
class BoundedWriter extends Mustache.Writer {
  private tokens = 0;
  private characters = 0;

  override renderTokens(...[tokens, ...others]: Parameters<Mustache.Writer['renderTokens']>): string {
    this.tokens += tokens.length;
    if (this.tokens > maxTokens) throw new TemplateError('the body template renders too many parts');
    return super.renderTokens(tokens, ...others);
  }
  override escapedValue(...values: Parameters<Mustache.Writer['escapedValue']>): string {
    return this.count(super.escapedValue(...values));
  }
  override unescapedValue(...values: Parameters<Mustache.Writer['unescapedValue']>): string {
    return this.count(super.unescapedValue(...values));
  }
  override rawValue(...values: Parameters<Mustache.Writer['rawValue']>): string {
    return this.count(super.rawValue(...values));
  }
  private count(text: unknown): string {
    const added = text === undefined || text === null ? '' : String(text);
    this.characters += added.length;
    if (this.characters > maxCharacters) throw new TemplateError('the body template renders too many characters');
    return added;
  }
}

/** @throws TemplateError if the text is no template of Mustache */
export function requireTemplate(text: string): void {
  try {
    // With a writer of its own, since the common one would remember every text.
    new Mustache.Writer().parse(text);
  } catch (error) {
    throw new TemplateError((error as Error).message);
  }
}

/** Stands for `eventMarkdown` until the place is known where it belongs. No text of an event has a null character. */
const markdownPlaceholder = '\0';

/** Inserts the Markdown: with the escapes of JSON within a text in double quotes, and as it is elsewhere. */
function insertMarkdown(rendered: string, markdown: string): string {
  const escaped = JSON.stringify(markdown).slice(1, -1);
  const [first = '', ...rest] = rendered.split(markdownPlaceholder);
  let isQuoted = false;
  const read = (part: string): string => {
    for (const [token] of part.matchAll(/\\.|"/gs)) if (token === '"') isQuoted = !isQuoted;
    return part;
  };
  let result = read(first);
  for (const part of rest) {
    result += isQuoted ? escaped : markdown;
    if (result.length > maxCharacters) throw new TemplateError('the body template renders too many characters');
    result += read(part);
  }
  return result;
}

/**
 * Renders a template of Unleash's webhooks with an event: `{{event.…}}` escapes like Mustache, `{{{eventJson}}}` is the event as JSON in a
 * text of JSON, and `{{eventMarkdown}}` the sentence about it.
 * @throws TemplateError if it renders too much
 */
export function renderTemplate(template: string, event: object, markdown: string): string {
  const view = { event, eventJson: JSON.stringify(JSON.stringify(event)), eventMarkdown: markdownPlaceholder };
  try {
    return insertMarkdown(new BoundedWriter().render(template, new DataContext(view)), markdown);
  } catch (error) {
    throw error instanceof TemplateError ? error : new TemplateError((error as Error).message);
  }
}
