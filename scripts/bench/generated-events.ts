import type { OutboxEvent, SearchEventsBody } from '@bunting/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type BenchFlag, benchFlag } from './generated-flags.ts';
import { progressOf } from './run.ts';

/*
 * Events generated for the bench, as 200 people cause them who work on 10,000 flags in 40 projects. A few flags and people are busy: half
 * of the events are of 32 flags, and half are caused by 16 people. So there are flags, people and projects with more than a page of events
 * both in a log of ten thousand events and in one of a million, and pages of both logs can be compared.
 */

const flags = 10_000;
const busyFlags = 32;
const projects = 40;
const people = 200;
const busyPeople = 16;

/** What is drawn for each event, with a seed that makes the draws independent of each other. */
const drawSeeds = { type: 1, isBusyFlag: 2, flag: 3, isBusyPerson: 4, person: 5, rollout: 6, rolloutBefore: 7 };

/** A pseudorandom number below `below`, determined by the event and the draw. */
function drawNumber(nth: number, draw: keyof typeof drawSeeds, below: number): number {
  let mixed = Math.imul(nth + 1, 0x9e3779b1) ^ Math.imul(drawSeeds[draw], 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
}

/** A type that the deprecated search knows. */
type EventType = NonNullable<SearchEventsBody['type']>;

/** The types of events by frequency: each of these twenty entries stands for a twentieth of the events. */
const eventTypes: readonly EventType[] = [
  ...Array.from({ length: 9 }, () => 'feature-strategy-update' as const),
  'feature-strategy-add',
  'feature-strategy-remove',
  'feature-environment-enabled',
  'feature-environment-enabled',
  'feature-environment-disabled',
  'feature-environment-disabled',
  'feature-metadata-updated',
  'feature-tagged',
  'feature-created',
  'feature-archived',
  'segment-updated',
];

function uuidOf(nth: number): string {
  const digits = (BigInt(nth) * 0x9e3779b97f4a7c15n).toString(16).padStart(32, '7').slice(-32);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
}

interface Flag extends BenchFlag {
  readonly strategyId: string;
}

const cachedFlags = new Map<number, Flag>();
/** A cached flag: generating events must not dominate the measurement. */
function flagAt(nth: number): Flag {
  const cached = cachedFlags.get(nth);
  if (cached !== undefined) return cached;
  const flag = { ...benchFlag(nth), strategyId: uuidOf(nth) };
  cachedFlags.set(nth, flag);
  return flag;
}

function personOf(nth: number): string {
  return `person-${String(nth % people).padStart(3, '0')}@example.com`;
}
export function busyPersonOf(nth: number): string {
  return personOf(nth % busyPeople);
}
/** the user id of the nth busy person */
export function busyCreatorOf(nth: number): number {
  return 1 + (nth % busyPeople);
}
export function projectOf(nth: number): string {
  return `project-${String(nth % projects).padStart(2, '0')}`;
}
export function flagOf(nth: number): string {
  return benchFlag(nth % flags).name;
}
/** a flag with more than a page of events in any log */
export function busyFlagOf(nth: number): string {
  return flagOf(nth % busyFlags);
}
/** a flag with at most about one event in a log of ten thousand, and some fifty in a log of a million */
export function quietFlagOf(nth: number): string {
  return flagOf(busyFlags + ((nth * 37) % (flags - busyFlags)));
}
/** a project with a busy flag */
export function busyProjectOf(nth: number): string {
  return projectOf(nth % busyFlags);
}

function strategyOf({ strategies, strategyId }: Flag, flag: number, rollout: number) {
  return {
    id: strategyId,
    ...strategies[0],
    parameters: { ...strategies[0]?.parameters, rollout: String(rollout) },
    segments: [flag % 50],
  };
}

function dataOf(type: EventType, flag: number, nth: number): Pick<OutboxEvent, 'data' | 'preData'> {
  const strategy = (draw: 'rollout' | 'rolloutBefore') => strategyOf(flagAt(flag), flag, drawNumber(nth, draw, 101));
  switch (type) {
    case 'feature-strategy-update':
      return { data: strategy('rollout'), preData: strategy('rolloutBefore') };
    case 'feature-strategy-add':
      return { data: strategy('rollout'), preData: null };
    case 'feature-strategy-remove':
      return { data: null, preData: strategy('rollout') };
    case 'feature-tagged':
      return { data: flagAt(flag).tags[nth % 2], preData: null };
    case 'feature-created':
    case 'feature-metadata-updated': {
      const { name, type: kind, description } = flagAt(flag);
      const feature = { name, type: kind, description, project: projectOf(flag), stale: false, impressionData: false };
      return type === 'feature-created'
        ? { data: { ...feature, createdAt: timeOf(nth) }, preData: null }
        : { data: feature, preData: { ...feature, description: `${description} Or did.` } };
    }
    case 'segment-updated':
      return { data: { id: flag % 50, name: `segment-${flag % 50}`, constraints: [] }, preData: null };
    default:
      return { data: null, preData: null };
  }
}

function timeOf(nth: number): string {
  return new Date(Date.UTC(2025, 0, 1) + nth * 25_000).toISOString();
}
/** the day of an event */
export function dayOf(nth: number): string {
  return timeOf(nth).slice(0, 10);
}
export function typeOf(nth: number): EventType {
  return eventTypes[drawNumber(nth, 'type', eventTypes.length)] as EventType;
}

/** The nth event. */
function benchEvent(nth: number): OutboxEvent {
  const type = typeOf(nth);
  const flag = drawNumber(nth, 'flag', drawNumber(nth, 'isBusyFlag', 2) === 0 ? busyFlags : flags);
  const person = drawNumber(nth, 'person', drawNumber(nth, 'isBusyPerson', 2) === 0 ? busyPeople : people);
  const isOfFlag = type.startsWith('feature');
  const isInEnvironment = type.includes('strategy') || type.includes('environment');
  return {
    type,
    createdAt: timeOf(nth),
    createdBy: personOf(person),
    createdByUserId: 1 + person,
    project: isOfFlag ? projectOf(flag) : null,
    environment: isInEnvironment ? (nth % 3 === 0 ? 'production' : 'development') : null,
    featureName: isOfFlag ? flagAt(flag).name : null,
    ...dataOf(type, flag, nth),
    tags: isOfFlag ? flagAt(flag).tags.slice(0, 1) : [],
  };
}

const insertBatchSize = 2_500;
/** Lag of the log behind the outbox, in events, from which on the next batch waits. */
const maxAhead = 10_000;
/** With positions from the beginning, as edits of features store them. */
const insertEvents = `
  with head as materialized (select event from outbox_reserve(array[json_array_length($1::json), 0, 0]))
  insert into outbox (topic, position, type, payload)
  select 'event', head.event + nth, row->>'type', row
  from head cross join json_array_elements($1::json) with ordinality as published (row, nth) order by nth`;

/**
 * Publishes generated events through the outbox of features, until the event log of a running platform has `events` of them. Nothing wakes
 * audit, so it needs a short AUDIT_POLL_INTERVAL_MS.
 * @returns how many events arrived, and how many a second; undefined if the log had them already
 */
export async function fillEventLog(
  events: number,
  outbox: pg.Client,
  log: pg.Client,
): Promise<{ readonly arrived: number; readonly perSecond: number } | undefined> {
  const countStored = async (): Promise<number> =>
    Number((await log.query<{ id: string }>('select id from event_log_head')).rows[0]?.id ?? 0);
  const from = await countStored();
  if (from >= events) return undefined;
  const startedAt = performance.now();
  let published = from;
  const progress = progressOf(events, 'events');
  for (let stored = from; stored < events; stored = await countStored()) {
    progress.to(stored);
    if (published >= events || published - stored > maxAhead) {
      await sleep(50);
      continue;
    }
    const length = Math.min(insertBatchSize, events - published);
    const batch = Array.from({ length }, (_, nth) => benchEvent(published + nth));
    await outbox.query(insertEvents, [JSON.stringify(batch)]);
    published += length;
  }
  progress.end();
  const arrived = events - from;
  return { arrived, perSecond: Math.round(arrived / ((performance.now() - startedAt) / 1_000)) };
}

/** Deletes the events of the outbox but the last one, as housekeeping does with those that are a day old and confirmed by all consumers. */
export async function pruneOutbox(outbox: pg.Client): Promise<void> {
  await outbox.query(
    `delete from outbox where topic = 'event' and position < (select max(position) from outbox where topic = 'event')`,
  );
}
