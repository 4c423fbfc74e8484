import type { Event } from '@bunting/contracts';
import type { Target } from '../addons/addon.ts';
import { onOneLine, plainText, sentenceOf, shortened } from './markdown.ts';
import type { Message } from './request.ts';

/** How a destination gets events that wants them together: those of a time, and no more bytes than it takes. */
export interface Batching {
  /** milliseconds: the length of a time, and how long after midnight of UTC one begins */
  readonly windowMs: number;
  readonly offsetMs: number;
  readonly maxBytes: number;
}

/** Events of the log that are sent together. */
export interface Batch {
  /** the ids of the first and the last event of the log that it covers, also of those that are not selected */
  readonly from: number;
  readonly to: number;
  /** the hash of the log up to its end; empty for what is not of the log */
  readonly hash: string;
  readonly startedAt: string;
  readonly endedAt: string;
  /** one of each event that is selected */
  readonly lines: readonly string[];
}

const hourMs = 3_600_000;
/** A storage whose clock is ahead by less has a time as future that is so much later. */
const lockMarginMs = 900_000;
const dayMs = 24 * hourMs;
const maxBytes = 16 * 1024 * 1024;

/** How a target gets events together; undefined where it gets each alone. @param mailHour of mails of a day, in UTC */
export function batchingOf({ provider, parameters }: Pick<Target, 'provider' | 'parameters'>, mailHour: number) {
  if (provider === 's3') return { windowMs: hourMs, offsetMs: 0, maxBytes } satisfies Batching;
  if (provider === 'email' && parameters['digest'] === 'daily')
    return { windowMs: dayMs, offsetMs: mailHour * hourMs, maxBytes } satisfies Batching;
  return undefined;
}

/** The end of the time in which an event happened, in milliseconds since 1970. */
export function endOfWindow(createdAt: string, { windowMs, offsetMs }: Batching): number {
  return (Math.floor((Date.parse(createdAt) - offsetMs) / windowMs) + 1) * windowMs + offsetMs;
}

/** An event in a batch: as the log has it for an archive, as its sentence for people. */
export function lineOf(
  { provider }: Pick<Target, 'provider'>,
  { uid, hash, event }: { readonly uid: string; readonly hash: string; readonly event: Event },
): string {
  return provider === 'email'
    ? onOneLine(shortened(plainText(sentenceOf(event)), 1_000))
    : JSON.stringify({ uid, hash, event });
}

const maxListed = 200;

/** The request that sends a batch, without the signature that it gets when it is sent. */
export function batchMessage(
  { provider, parameters }: Pick<Target, 'provider' | 'parameters'>,
  batch: Batch,
  publicUrl: string,
  now: Date,
): Message {
  return provider === 'email' ? digestMail(parameters, batch, publicUrl) : archiveObject(parameters, batch, now);
}

/** The recipients of a mail, as the parameter has them. */
export function recipientsOf({ to = '' }: Target['parameters']): string[] {
  return to.split(',').flatMap((address) => address.trim() || []);
}

export function mailMessage(parameters: Target['parameters'], subject: string, text: string, link: string): Message {
  const footer = link === '' ? '' : `\n${link}\n`;
  return {
    url: `mailto:${recipientsOf(parameters).join(',')}`,
    headers: { subject: onOneLine(subject) },
    body: `${text}\n${footer}`,
  };
}

function digestMail(parameters: Target['parameters'], { lines, endedAt }: Batch, publicUrl: string): Message {
  const listed = lines.slice(0, maxListed).map((line) => `- ${line}`);
  const more = lines.length - listed.length;
  const text = [...listed, ...(more === 0 ? [] : [`… and ${more} more`])].join('\n');
  const subject = `Flags: ${lines.length} ${lines.length === 1 ? 'event' : 'events'} up to ${endedAt.slice(0, 10)}`;
  return mailMessage(parameters, subject, text, publicUrl === '' ? '' : `${publicUrl}/events`);
}

function padded(id: number): string {
  return String(id).padStart(12, '0');
}

/**
 * An object of lines, whose key is made of the ids that it covers: what is sent again is the same object. Its metadata has the head of the log's
 * chain of hashes. It is not locked where its retention is over, which storages refuse.
 */
function archiveObject(
  parameters: Target['parameters'],
  { from, to, hash, startedAt, endedAt, lines }: Batch,
  now: Date,
): Message {
  const { url = '', bucket = '', prefix = '', addressing, retentionDays, retentionMode = 'GOVERNANCE' } = parameters;
  const hour = startedAt.slice(0, 13).replaceAll(/[-T]/g, '/');
  const folder = prefix.replace(/^\/+|\/+$/g, '');
  const key = [...(folder === '' ? [] : [folder]), hour, `events-${padded(from)}-${padded(to)}.ndjson`].join('/');
  const base = new URL(url);
  const path = base.pathname.replace(/\/+$/, '');
  const address =
    addressing === 'virtual-host'
      ? `${base.protocol}//${bucket}.${base.host}${path}/${key}`
      : `${base.protocol}//${base.host}${path}/${bucket}/${key}`;
  const retainUntilMs = Date.parse(endedAt) + Number(retentionDays ?? 0) * dayMs;
  const isLocked = retentionDays !== undefined && retainUntilMs > now.getTime() + lockMarginMs;
  return {
    method: 'PUT',
    url: address,
    headers: {
      'content-type': 'application/x-ndjson',
      'x-amz-meta-bunting-from': String(from),
      'x-amz-meta-bunting-to': String(to),
      ...(hash === '' ? {} : { 'x-amz-meta-bunting-hash': hash }),
      ...(isLocked
        ? {
            'x-amz-object-lock-mode': retentionMode,
            'x-amz-object-lock-retain-until-date': new Date(retainUntilMs).toISOString(),
          }
        : {}),
    },
    body: lines.map((line) => `${line}\n`).join(''),
  };
}
