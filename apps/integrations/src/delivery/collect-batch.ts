import type { Target } from '../addons/addon.ts';
import { type Batch, type Batching, endOfWindow, lineOf } from '../messages/batch.ts';
import { isOtherLog, type LogPage, type LogPosition } from './log-position.ts';
import { eventsTold, type RightsOf } from './told-events.ts';

/** Events that are sent together, with the uid of the last one. */
export type PlannedBatch = Batch & { readonly uid: string };

type LogEntry = LogPage['events'][number];

/** How long a batch waits whose time goes on until it is looked at again: it may be full before. */
export const maxRestMs = 300_000;

/**
 * What follows a position and is sent together; else the milliseconds to wait while its time goes on, the page that says that nothing follows, or
 * that the log is another one, or that the turn has ended.
 * @param plannedEnd the id of its last event where that was decided before
 */
export async function collectBatch(
  target: Target,
  batching: Batching,
  start: LogPosition,
  plannedEnd: number | null,
  {
    readPage,
    rightsOf,
    mayGoOn,
    now,
  }: {
    readonly readPage: (after: number) => Promise<LogPage>;
    readonly rightsOf: RightsOf;
    readonly mayGoOn: () => boolean;
    readonly now: () => number;
  },
): Promise<
  | { readonly batch: PlannedBatch }
  | { readonly atEnd: LogPage }
  | { readonly waitMs: number }
  | 'other log'
  | 'turn is over'
> {
  const lines: string[] = [];
  let bytes = 0;
  const complete = (first: LogEntry, last: LogEntry) => ({
    batch: {
      uid: last.uid,
      from: start.position + 1,
      to: last.event.id,
      hash: last.hash,
      startedAt: first.event.createdAt,
      endedAt: last.event.createdAt,
      lines,
    },
  });
  let first: LogEntry | undefined;
  let last: LogEntry | undefined;
  for (;;) {
    if (!mayGoOn()) return 'turn is over';
    const at = last === undefined ? start : { position: last.event.id, hash: last.hash };
    const page = await readPage(at.position);
    if (isOtherLog(page, at)) return 'other log';
    const told = await eventsTold(target, page.events, rightsOf);
    for (const [index, entry] of page.events.entries()) {
      const { event } = entry;
      const toldEvent = told[index];
      const line = toldEvent === undefined ? undefined : lineOf(target, { ...entry, event: toldEvent });
      const size = line === undefined ? 0 : Buffer.byteLength(line) + 1;
      if (first !== undefined && last !== undefined) {
        const isFull = lines.length > 0 && bytes + size > batching.maxBytes;
        const isLater = Date.parse(event.createdAt) >= endOfWindow(first.event.createdAt, batching);
        if (plannedEnd === null ? isFull || isLater : event.id > plannedEnd) return complete(first, last);
      }
      first ??= entry;
      last = entry;
      if (line !== undefined) lines.push(line);
      bytes += size;
    }
    if (first === undefined || last === undefined) return { atEnd: page };
    // What is not selected is not read again with the rest of its time.
    if (plannedEnd === null && lines.length === 0) return complete(first, last);
    if (plannedEnd !== null && last.event.id >= plannedEnd) return complete(first, last);
    if (last.event.id < page.head) continue;
    const openMs = endOfWindow(first.event.createdAt, batching) - now();
    return openMs <= 0 ? complete(first, last) : { waitMs: Math.min(openMs, maxRestMs) };
  }
}
