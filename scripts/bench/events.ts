import type { EventType, RecordedEvent } from '@bunting/contracts';
import { benchFlag } from './flags.ts';

/** Events made up for the bench: what 10,000 flags in 40 projects see when 200 people work on them. */

const flags = 10_000;
const projects = 40;
const people = 200;

/** A spread-out but repeatable choice below `below`. */
const spread = (nth: number, below: number): number => Number((BigInt(nth) * 2654435761n) % BigInt(below));

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

export const personOf = (nth: number): string => `person-${String(nth % people).padStart(3, '0')}@example.com`;
export const projectOf = (nth: number): string => `project-${String(nth % projects).padStart(2, '0')}`;
export const flagOf = (nth: number): string => benchFlag(nth % flags).name;

const strategyOf = (flag: number, rollout: number) => ({
  id: uuidOf(flag),
  ...benchFlag(flag).strategies[0],
  parameters: { ...benchFlag(flag).strategies[0]?.parameters, rollout: String(rollout) },
  segments: [flag % 50],
});

const dataOf = (type: EventType, flag: number, nth: number): Pick<RecordedEvent, 'data' | 'preData'> => {
  switch (type) {
    case 'feature-strategy-update':
      return { data: strategyOf(flag, nth % 101), preData: strategyOf(flag, (nth * 7) % 101) };
    case 'feature-strategy-add':
      return { data: strategyOf(flag, nth % 101), preData: null };
    case 'feature-strategy-remove':
      return { data: null, preData: strategyOf(flag, nth % 101) };
    case 'feature-tagged':
      return { data: benchFlag(flag).tags[nth % 2], preData: null };
    case 'feature-created':
    case 'feature-metadata-updated': {
      const { name, type: kind, description } = benchFlag(flag);
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

export const benchEvent = (nth: number): RecordedEvent => {
  const type = kinds[spread(nth, kinds.length)] as EventType;
  const flag = spread(nth * 31 + 5, flags);
  const isOfFlag = type.startsWith('feature');
  const isInEnvironment = type.includes('strategy') || type.includes('environment');
  return {
    type,
    createdAt: timeOf(nth),
    createdBy: personOf(spread(nth * 17, people)),
    createdByUserId: 1 + spread(nth * 17, people),
    project: isOfFlag ? projectOf(flag) : null,
    environment: isInEnvironment ? (nth % 3 === 0 ? 'production' : 'development') : null,
    featureName: isOfFlag ? flagOf(flag) : null,
    ...dataOf(type, flag, nth),
    tags: isOfFlag ? benchFlag(flag).tags.slice(0, 1) : [],
  };
};
