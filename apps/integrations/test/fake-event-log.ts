import { type Bus, implement, serve } from '@bunting/bus';
import { type Event, FindEventLogPosition, ReadEventLog } from '@bunting/contracts';
import { createHash, randomUUID } from 'node:crypto';
import { switchedOn } from './payloads.ts';

/** An event with what identifies it. */
export interface LoggedEntry {
  readonly uid: string;
  readonly hash: string;
  readonly event: Event;
  readonly limited?: { projects: string[]; event: Event };
}

function withoutDescription({
  event: { label: _label, summary: _summary, ...event },
  limited: _limited,
  ...entry
}: LoggedEntry): LoggedEntry {
  return { ...entry, event };
}

/** As audit does it: the event without the project that a flag was moved out of. */
function limitedOf(event: Event): Pick<LoggedEntry, 'limited'> {
  const oldProject = event.type === 'feature-project-change' ? event.data?.['oldProject'] : undefined;
  if (typeof oldProject !== 'string') return {};
  const limited = { ...event, data: { ...event.data, oldProject: null }, summary: '**mia@example.com** moved a flag' };
  return { limited: { projects: [oldProject], event: limited } };
}

const noHash = '0'.repeat(64);

/** An event log in memory with a chain of hashes, which implements what integrations call of audit. */
export async function fakeEventLog(bus: Bus) {
  let entries: LoggedEntry[] = [];
  let pagesRead = 0;
  let pagesWaited = 0;
  let committedMeanwhile = 0;
  const startedAt = Date.now();
  const entryOf = (overrides: Partial<Event>): LoggedEntry => {
    const id = entries.length + 1;
    const event: Event = {
      ...switchedOn,
      id,
      createdAt: new Date(startedAt + id * 1_000).toISOString(),
      createdBy: 'mia@example.com',
      label: 'Flag enabled',
      summary: '**mia@example.com** enabled **[banner](https://flags.example.org/projects/shop/features/banner)**',
      ...overrides,
    };
    const hash = createHash('sha256')
      .update(`${entries.at(-1)?.hash ?? noHash}${JSON.stringify(event)}${randomUUID()}`)
      .digest('hex');
    return { uid: randomUUID(), hash, event, ...limitedOf(event) };
  };
  const served = await serve(
    bus,
    [
      implement(ReadEventLog, async ({ body: { after, limit, waitsForCommits, omitsDescriptions } }) => {
        if (waitsForCommits === true && limit > 0) {
          pagesWaited++;
          if (committedMeanwhile-- > 0) entries.push(entryOf({}));
        }
        const events = entries.slice(after, after + limit);
        if (events.length > 0) pagesRead++;
        return {
          head: entries.length,
          headHash: entries.at(-1)?.hash ?? noHash,
          at: entries[after - 1]?.hash ?? null,
          events: omitsDescriptions === true ? events.map(withoutDescription) : events,
        };
      }),
      implement(FindEventLogPosition, async ({ body: { since } }) => ({
        after: entries.filter(({ event }) => Date.parse(event.createdAt) < Date.parse(since)).length,
      })),
    ],
    { checkReplies: true },
  );
  return {
    /** Appends events, by default about the flag `banner` of the project `shop`, and wakes those who follow the log. */
    append: (...events: readonly Partial<Event>[]): LoggedEntry[] => {
      const added = events.map((overrides) => {
        const entry = entryOf(overrides);
        entries.push(entry);
        return entry;
      });
      bus.notify({ producer: 'features', topic: 'event' });
      return added;
    },
    /** Restores the log to what it was up to an event. */
    restoreTo: (head: number): void => void (entries = entries.slice(0, head)),
    /** The hash of the log up to an event. */
    hashAt: (id: number): string => entries[id - 1]?.hash ?? noHash,
    /** how many pages with events were read */
    get pagesRead() {
      return pagesRead;
    },
    /** how many pages were read that waited for what was committed before */
    get pagesWaited() {
      return pagesWaited;
    },
    /** From now on so many waits find that another event was committed meanwhile. */
    commitMeanwhile: (times: number): void => void (committedMeanwhile = times),
    get head() {
      return entries.length;
    },
    stop: () => served.stop(),
  };
}
