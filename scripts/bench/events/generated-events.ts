import type { EventType, OutboxEvent } from '@bunting/contracts';
import { type BenchFlag, benchFlag } from '../generated-flags.ts';

/**
 * Events made up for the bench: what 10,000 flags in 40 projects see when 200 people work on them. As it goes, a few of both
 * are busy: half of the events are of 32 flags, and half are caused by 16 people. So there are flags, people and projects with
 * more than a page of events in a log of ten thousand as well as in one of a million, and pages of both can be compared.
 */

const flags = 10_000;
const busyFlags = 32;
const projects = 40;
const people = 200;
const busyPeople = 16;

/** What is drawn for an event, each by itself. */
const draws = { type: 1, isBusyFlag: 2, flag: 3, isBusyPerson: 4, person: 5, rollout: 6, rolloutBefore: 7 };

/** A pseudorandom number below `below`, determined by the event and the draw. */
const drawn = (nth: number, draw: keyof typeof draws, below: number): number => {
  let mixed = Math.imul(nth + 1, 0x9e3779b1) ^ Math.imul(draws[draw], 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
};

/** What happens how often, in twentieths. */
const kinds: readonly EventType[] = [
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

const uuidOf = (nth: number): string => {
  const digits = (BigInt(nth) * 0x9e3779b97f4a7c15n).toString(16).padStart(32, '7').slice(-32);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
};

interface Flag extends BenchFlag {
  readonly strategyId: string;
}

const madeFlags = new Map<number, Flag>();
/** A cached flag: generating events must not dominate the measurement. */
const flagAt = (nth: number): Flag => {
  const known = madeFlags.get(nth);
  if (known !== undefined) return known;
  const made = { ...benchFlag(nth), strategyId: uuidOf(nth) };
  madeFlags.set(nth, made);
  return made;
};

export const personOf = (nth: number): string => `person-${String(nth % people).padStart(3, '0')}@example.com`;
export const busyPersonOf = (nth: number): string => personOf(nth % busyPeople);
/** the id of a person, among those who are busy */
export const busyCreatorOf = (nth: number): number => 1 + (nth % busyPeople);
export const projectOf = (nth: number): string => `project-${String(nth % projects).padStart(2, '0')}`;
export const flagOf = (nth: number): string => benchFlag(nth % flags).name;
/** a flag of which there is more than a page of events in any log */
export const busyFlagOf = (nth: number): string => flagOf(nth % busyFlags);
/** a flag of which there is one event among ten thousand, if any, and some fifty among a million */
export const quietFlagOf = (nth: number): string => flagOf(busyFlags + ((nth * 37) % (flags - busyFlags)));
/** a project with a busy flag */
export const busyProjectOf = (nth: number): string => projectOf(nth % busyFlags);

const strategyOf = ({ strategies, strategyId }: Flag, flag: number, rollout: number) => ({
  id: strategyId,
  ...strategies[0],
  parameters: { ...strategies[0]?.parameters, rollout: String(rollout) },
  segments: [flag % 50],
});

const dataOf = (type: EventType, flag: number, nth: number): Pick<OutboxEvent, 'data' | 'preData'> => {
  const strategy = (draw: 'rollout' | 'rolloutBefore') => strategyOf(flagAt(flag), flag, drawn(nth, draw, 101));
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
};

const timeOf = (nth: number): string => new Date(Date.UTC(2025, 0, 1) + nth * 25_000).toISOString();
/** the day of an event */
export const dayOf = (nth: number): string => timeOf(nth).slice(0, 10);
export const typeOf = (nth: number): EventType => kinds[drawn(nth, 'type', kinds.length)] as EventType;

export const benchEvent = (nth: number): OutboxEvent => {
  const type = typeOf(nth);
  const flag = drawn(nth, 'flag', drawn(nth, 'isBusyFlag', 2) === 0 ? busyFlags : flags);
  const person = drawn(nth, 'person', drawn(nth, 'isBusyPerson', 2) === 0 ? busyPeople : people);
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
};
