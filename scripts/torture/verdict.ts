import type { Event, EventLogVerification, Events, Feature, SearchFeaturesResponse } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { withClient } from '../../libs/testing/src/postgres-server.ts';
import type { Follower } from './follower.ts';
import { type Entry, hasHappened } from './ledger.ts';
import { observe, reader, readProject } from './observed.ts';
import { asFlag, isOfRequests, spelled, type Subject } from './subject.ts';
import { databaseOf, type World } from './world.ts';

/** What a run has shown. It is passed when there are no violations. */
export interface Verdict {
  readonly acknowledged: number;
  readonly unknown: number;
  /** of what was unknown: what has happened */
  readonly happened: number;
  readonly events: number;
  /** what the follower of the feed has read, and how often it was cut off */
  readonly followed: { readonly events: number; readonly cutOff: number };
  readonly violations: readonly string[];
  /** from the end of the last fault until all that was told was in every projection */
  readonly calmAfterMs: number;
}

const producers = ['features', 'change-requests', 'gateway'] as const;
const consumers = ['audit', 'search', 'change-requests'] as const;
const calmMs = 60_000;
const atOnce = 8;

const rowsOf = <Row>({ postgres }: World, service: string, text: string): Promise<Row[]> =>
  withClient(postgres.urlOf(databaseOf(service)), async (client) => (await client.query(text)).rows as Row[]);

const readMs = 10_000;
/** Reads through one gateway. */
const reading = (world: World) => reader(world, ([url]) => url ?? '', readMs);

const inParallel = async <T>(items: readonly T[], job: (item: T) => Promise<void>): Promise<void> => {
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await job(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
};

/** Waits until whatever was interrupted is finished, and everything that was told has been applied by whoever follows. */
const untilCalm = async (world: World): Promise<number> => {
  const startedAt = performance.now();
  await eventually(
    async () => {
      const unfinished = await rowsOf(
        world,
        'change-requests',
        'select id from change_request where applying is not null',
      );
      if (unfinished.length > 0) throw new Error(`${unfinished.length} change requests are still being applied.`);
      for (const producer of producers) {
        const told = await rowsOf<{ topic: string; told: string; untold: string }>(
          world,
          producer,
          'select topic, count(*) as told, count(*) filter (where position is null) as untold from outbox group by topic',
        );
        for (const consumer of consumers) {
          const applied = await rowsOf<{ topic: string; position: string }>(
            world,
            consumer,
            `select topic, position from inbox where producer = '${producer}'`,
          );
          for (const { topic, position } of applied) {
            const head = told.find((one) => one.topic === topic);
            if (head !== undefined && (head.untold !== '0' || head.told !== position)) {
              throw new Error(`${consumer} has applied ${position} of ${head.told} ${topic}s of ${producer}.`);
            }
          }
        }
      }
    },
    { timeoutMs: calmMs },
  );
  return performance.now() - startedAt;
};

/** The whole log as a reader gets it, page by page, oldest first. */
const wholeLog = async (world: World): Promise<Event[]> => {
  const read = reading(world);
  const events: Event[] = [];
  for (let offset = 0; ; offset = (events.at(-1)?.id ?? 1) - 1) {
    const page = await read<Events>('/api/admin/events/search', { limit: 100, offset });
    events.push(...(page?.events ?? []));
    if ((events.at(-1)?.id ?? 1) <= 1 || page?.events.length === 0) return events.toReversed();
  }
};

/** What several subjects of a project share, read once. */
const projectsOf = (world: World) => {
  const known = new Map<string, ReturnType<typeof readProject>>();
  return (project: string) => {
    const parts = known.get(project) ?? readProject(reading(world), project);
    known.set(project, parts);
    return parts;
  };
};
type Projects = ReturnType<typeof projectsOf>;

/** What is there, as whoever searches for it sees it. */
const searched = async (world: World, project: string, name: string): Promise<Subject['flag']> => {
  const found = async (archived: boolean) => {
    const query = new URLSearchParams({ project: `IS:${project}`, query: name, archived: String(archived) });
    const page = await reading(world)<SearchFeaturesResponse>(`/api/admin/search/features?${query}`);
    return page?.features.find((feature) => feature.name === name);
  };
  const active = await found(false);
  if (active === undefined) return (await found(true)) === undefined ? undefined : 'archived';
  return asFlag(active as unknown as Feature);
};

const shown = (value: unknown): string => JSON.stringify(value);

/** Whether what became of a change request was forgotten, as its database was put back to an older copy afterwards. */
const isForgotten = ({ restores }: World, entries: readonly Entry[]): boolean =>
  restores.some(
    ({ service, copiedAt, restoredAt }) =>
      service === 'change-requests' &&
      entries.some(
        ({ at, ms, then }) =>
          then.request !== undefined && new Date(at) <= restoredAt && new Date(Date.parse(at) + ms) >= copiedAt,
      ),
  );

const withoutRequest = ({ request: _, ...subject }: Subject): Subject => subject;

/** Judges one sequence of writes: by what is there now, by its events, and by what a search finds. */
const judgeSubject = async (
  world: World,
  projects: Projects,
  subject: string,
  entries: readonly Entry[],
  events: readonly Event[],
  accuse: (violation: string) => void,
): Promise<boolean> => {
  const last = entries.at(-1) as Entry;
  const { project } = last;
  const forgotten = isForgotten(world, entries);
  const judged = (one: Subject): Subject => (forgotten ? withoutRequest(one) : one);
  const certain = entries.filter(({ outcome }) => hasHappened(outcome));
  const before = judged(certain.at(-1)?.then ?? { exists: subject !== project });
  const after = last.outcome === 'unknown' ? judged(last.then) : before;
  const now = judged((await observe(reading(world), await projects(project), project, subject)).subject);
  const did = last.outcome === 'unknown' && isDeepStrictEqual(now, after);
  if (!did && !isDeepStrictEqual(now, before)) {
    const expected = last.outcome === 'unknown' ? `${shown(before)} or ${shown(after)}` : shown(before);
    accuse(`${subject}: after "${last.what}" (${last.outcome}) there is ${shown(now)} instead of ${expected}`);
    return false;
  }
  const expected = [...certain, ...(did ? [last] : [])].flatMap(({ tells }) => tells);
  const told = events.map(spelled);
  for (const isOne of [isOfRequests, (spelling: string) => !isOfRequests(spelling)]) {
    if (forgotten && isOne === isOfRequests) continue;
    const [should, are] = [expected.filter(isOne), told.filter(isOne)];
    if (!isDeepStrictEqual(should, are)) accuse(`${subject}: the log says ${shown(are)} instead of ${shown(should)}`);
  }
  const { flag } = now;
  const isFound = subject === project ? undefined : await searched(world, project, subject);
  const should = typeof flag === 'object' ? { ...flag, titles: [] } : flag;
  if (!isDeepStrictEqual(isFound, should)) accuse(`${subject}: found is ${shown(isFound)} instead of ${shown(should)}`);
  return did;
};

/** Every event of every outbox is in the log once, in the order of its position, and positions have no gap. */
const judgeOutboxes = async (world: World, accuse: (violation: string) => void): Promise<void> => {
  const log = await rowsOf<{ uid: string }>(world, 'audit', 'select uid from event order by id');
  const placeOf = new Map(log.map(({ uid }, place) => [uid, place]));
  if (placeOf.size !== log.length) accuse(`The log has ${log.length - placeOf.size} events twice.`);
  let told = 0;
  for (const producer of producers) {
    const rows = await rowsOf<{ topic: string; uid: string; position: string | null }>(
      world,
      producer,
      'select topic, uid, position from outbox order by topic, position',
    );
    for (const topic of ['event', 'state']) {
      const positions = rows.filter((row) => row.topic === topic).map(({ position }) => Number(position));
      const gap = positions.findIndex((position, nth) => position !== nth + 1);
      if (gap >= 0) accuse(`The ${topic}s of ${producer} have a gap at position ${gap + 1}.`);
    }
    let lastPlace = -1;
    for (const { uid, position } of rows.filter(({ topic }) => topic === 'event')) {
      told++;
      const place = placeOf.get(uid);
      if (place === undefined) accuse(`Event ${position} of ${producer} is not in the log.`);
      else if (place < lastPlace)
        accuse(`Event ${position} of ${producer} is in the log before one that was told earlier.`);
      else lastPlace = place;
    }
  }
  // What a database had before it was put back to an older copy stays in the log.
  if (log.length > told && world.restores.every(({ service }) => service === 'search'))
    accuse(`The log has ${log.length - told} events that nobody has told.`);
};

/** Whether every event of the log is what it was when it was appended: a long log is checked in several calls. */
const judgeChain = async (world: World, accuse: (violation: string) => void): Promise<void> => {
  let range = '';
  for (;;) {
    const found = await reading(world)<EventLogVerification>(`/api/admin/events/verify${range}`);
    if (found?.intact !== true) return accuse(`The chain of the log is broken: ${found?.fault?.message}`);
    if (found.complete) return;
    range = `?from=${found.checkedTo}`;
  }
};

/** Who followed the feed has read every event of the log exactly once, in order, and as the log shows it. */
const judgeFollower = async (
  follower: Follower,
  log: readonly Event[],
  accuse: (violation: string) => void,
): Promise<void> => {
  await follower.upTo(log.at(-1)?.id ?? 0).catch((error: Error) => accuse(error.message));
  await follower.stop();
  const { events, complaints } = follower.read;
  for (const complaint of complaints) accuse(complaint);
  const read = new Map(events.map(({ hash: _, ...event }) => [event.id, event]));
  if (read.size < events.length) accuse(`The follower of the feed has read ${events.length - read.size} events twice.`);
  for (const [nth, { id }] of events.entries()) {
    const before = events[nth - 1]?.id ?? 0;
    if (id <= before) accuse(`The follower of the feed has read event ${id} after event ${before}.`);
  }
  for (const event of log) {
    const seen = read.get(event.id);
    if (seen === undefined) accuse(`The follower of the feed has never read event ${event.id}.`);
    else if (!isDeepStrictEqual(seen, event)) {
      accuse(`The follower of the feed has read event ${event.id} as ${shown(seen)} instead of ${shown(event)}`);
    }
    read.delete(event.id);
  }
  for (const id of read.keys()) accuse(`The follower of the feed has read event ${id}, which is not in the log.`);
};

/** A process that is started while a server is away says why it cannot, and is started again. */
const isAboutServers =
  /^(No (NATS server|PostgreSQL) answers at |The (database|message bus) (is away|is read-only|cannot be reached|did not accept a connection))/;

/** A database that was made read-only is an operator's business, and reported as one. */
const isAboutReadOnly = /"msg":"The database \S+ reports [^}]*\(25006\)/;

/** What processes have printed that they should not: they log in JSON, and what heals itself as no error. */
export const complaintsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((file) =>
      readFileSync(path.join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !isAboutServers.test(line))
        .filter(
          (line) => !line.startsWith('{') || (/"level":"(error|fatal)"/.test(line) && !isAboutReadOnly.test(line)),
        )
        .map((line) => `${file}: ${line}`),
    );

/** Judges a world that is left in peace by what its writers remember, and what the follower of its events has read. */
export const judge = async (
  world: World,
  ledgers: readonly (readonly Entry[])[],
  follower: Follower,
): Promise<Verdict> => {
  const violations: string[] = [];
  const accuse = (violation: string): void => void violations.push(violation);
  const entries = ledgers.flat();
  const ofOutcome = (outcome: string): Entry[] => entries.filter((entry) => entry.outcome === outcome);
  const calmAfterMs = await untilCalm(world).catch((error: Error) => {
    accuse(`It did not become calm within ${calmMs / 1000} s: ${error.message}`);
    return calmMs;
  });

  for (const { subject, what, status, said } of entries.filter(
    ({ outcome, status, said }) => outcome === 'refused' || status === 500 || said?.includes('is neither as before'),
  )) {
    accuse(`${subject}: "${what}" was answered ${status}: ${said}`);
  }
  const log = await wholeLog(world);
  for (const [nth, { id }] of log.entries()) {
    if (nth > 0 && id <= (log[nth - 1]?.id ?? 0)) accuse(`Event ${id} follows event ${log[nth - 1]?.id}.`);
  }
  await judgeFollower(follower, log, accuse);
  await judgeChain(world, accuse);
  await judgeOutboxes(world, accuse);
  for (const consumer of consumers) {
    const letters = await rowsOf<{ reason: string }>(world, consumer, 'select reason from dead_letter');
    for (const { reason } of letters) accuse(`${consumer} has a dead letter: ${reason}`);
    const missed = await rowsOf<object>(world, consumer, 'select producer, topic, first, last from missed_message');
    for (const range of missed) accuse(`${consumer} has never been given ${shown(range)}`);
    const anew = await rowsOf<{ producer: string }>(
      world,
      consumer,
      'select producer, topic from inbox where epoch > 0',
    );
    const restored = new Set(world.restores.map(({ service }) => service));
    for (const one of anew.filter(({ producer }) => !restored.has(producer)))
      accuse(`${consumer} has taken the outbox for a restored one: ${shown(one)}`);
  }
  const idOf = ({ data }: Event): unknown => (data as { changeRequestId?: unknown } | null)?.changeRequestId;
  // Newest first: a change request is made before its first change, and after a restore its id may be given again.
  const flagOf = new Map<unknown, string>();
  const ofFlag = new Map<Event, string>();
  for (const event of log.toReversed()) {
    if (event.type === 'change-added' && event.featureName) flagOf.set(idOf(event), event.featureName);
    if (event.type === 'change-request-created') ofFlag.set(event, flagOf.get(idOf(event)) ?? '');
  }
  const flagNow = new Map<unknown, string>();
  for (const event of log) {
    if (event.type === 'change-added' && event.featureName) flagNow.set(idOf(event), event.featureName);
    if (!ofFlag.has(event)) ofFlag.set(event, flagNow.get(idOf(event)) ?? '');
  }
  const eventsOf = Map.groupBy(log, (event) => event.featureName || ofFlag.get(event) || event.project);
  const projects = projectsOf(world);
  let happened = 0;
  await inParallel([...Map.groupBy(entries, ({ subject }) => subject)], async ([subject, own]) => {
    if (await judgeSubject(world, projects, subject, own, eventsOf.get(subject) ?? [], accuse)) happened++;
  });
  return {
    acknowledged: ofOutcome('acknowledged').length,
    unknown: entries.filter(({ outcome }) => !['acknowledged', 'refused'].includes(outcome)).length,
    happened: happened + ofOutcome('found').length,
    events: log.length,
    followed: { events: follower.read.events.length, cutOff: follower.read.cutOff },
    violations,
    calmAfterMs,
  };
};
