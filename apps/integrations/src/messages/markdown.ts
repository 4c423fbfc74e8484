import type { Event } from '@bunting/contracts';

/** A part of a sentence of the event log: `[text](address)`, `**text**`, or plain text. */
interface Part {
  readonly text: string;
  readonly isBold?: true;
  readonly address?: string;
}

const pattern =
  /\*\*\[((?:\\.|[^\]\\])*)\]\(([^)\s]*)\)\*\*|\[((?:\\.|[^\]\\])*)\]\(([^)\s]*)\)|\*\*((?:\\.|[^*\\])*)\*\*/g;

function unescape(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1');
}

/** Splits the Markdown of the event log into its parts. */
function markdownParts(markdown: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of markdown.matchAll(pattern)) {
    if (match.index > end) parts.push({ text: unescape(markdown.slice(end, match.index)) });
    const [whole, boldLinked, boldAddress, linked, address, bold] = match;
    if (boldLinked !== undefined) parts.push({ text: unescape(boldLinked), isBold: true, address: boldAddress ?? '' });
    else if (linked !== undefined) parts.push({ text: unescape(linked), address: address ?? '' });
    else parts.push({ text: unescape(bold ?? ''), isBold: true });
    end = match.index + whole.length;
  }
  if (end < markdown.length) parts.push({ text: unescape(markdown.slice(end)) });
  return parts;
}

function isAbsolute(address: string | undefined): address is string {
  return address !== undefined && /^https?:\/\//.test(address);
}

function bold(text: string): string {
  return `**${text.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`)}**`;
}

/** The name of what an event is about that is about no flag. */
function subjectOf({ data, preData }: Event): string | undefined {
  const name = (data ?? preData)?.['name'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/**
 * What people are told of an event, in Markdown: its sentence in the event log. Where that only names the type, as Unleash's does of many, whoever
 * reads a message cannot look at the event beside it: flag or name, environment and project follow.
 */
export function sentenceOf(event: Event): string {
  const { createdBy, type, label, summary, featureName, environment, project } = event;
  const sentence = summary || `${createdBy}: ${type}`;
  if (label !== type) return sentence;
  const subject = featureName ?? (project == null ? subjectOf(event) : undefined);
  return [
    sentence,
    subject === undefined ? '' : ` of ${bold(subject)}`,
    environment == null ? '' : ` in the ${bold(environment)} environment`,
    project == null ? '' : ` in project ${bold(project)}`,
  ].join('');
}

/** The text alone. */
export function plainText(markdown: string): string {
  return markdownParts(markdown)
    .map(({ text }) => text)
    .join('');
}

/** The Markdown without links that have no host, as where the log does not know the address of the console. */
export function withoutRelativeLinks(markdown: string): string {
  return markdown.replaceAll(/\[((?:\\.|[^\]\\])*)\]\((?!https?:\/\/)[^)\s]*\)/g, '$1');
}

export function escapeForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The text in Slack's own syntax, which Mattermost reads as well. */
export function slackText(markdown: string): string {
  return markdownParts(markdown)
    .map(({ text, isBold, address }) => {
      const escaped = escapeForSlack(text);
      const linked = isAbsolute(address) ? `<${address}|${escaped.replaceAll('|', '¦')}>` : escaped;
      return isBold === true && escaped.trim() !== '' ? `*${linked}*` : linked;
    })
    .join('');
}

export function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}

/** Text of others on one line: without the characters that end a line of a header or of the mail, or that turn its direction. */
export function onOneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
}
