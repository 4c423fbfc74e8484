import type { FeatureState, StateOf } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { benchFlag } from './generated-flags.ts';

/* States of features as in a large installation. They are generated from the number of the feature, so they are the same in each run. */

export const projectCount = 40;
export const personCount = 200;
export const segmentCount = 200;
/** how many features have the same ticket, regardless of the total number of features */
const perTicket = 5;

/** A number below `below`, determined by `nth`. The numbers of consecutive values of `nth` are spread over the range. */
export function spreadOver(nth: number, below: number): number {
  return Number(((BigInt(nth) + 1n) * 2654435761n) % 4294967296n) % below;
}

function twoDigits(nth: number): string {
  return String(nth).padStart(2, '0');
}

export function projectOf(nth: number): string {
  return `project-${twoDigits(nth % projectCount)}`;
}
export function personOf(nth: number): string {
  return `person-${nth % personCount}@example.com`;
}
export function segmentOf(nth: number): string {
  return `segment ${nth % segmentCount}`;
}
export function ticketOf(nth: number): string {
  return `BUN-${10_000 + Math.floor(nth / perTicket)}`;
}

const secondsOfThreeYears = 3 * 365 * 86_400;
function timeOf(nth: number): string {
  return new Date(Date.UTC(2023, 0, 1) + 1_000 * spreadOver(nth * 7 + 3, secondsOfThreeYears)).toISOString();
}

const environments = ['development', 'staging', 'production'] as const;

/** The state of the nth feature, as it was created. */
function benchState(nth: number): FeatureState {
  const { name, type, description, tags } = benchFlag(nth);
  const person = spreadOver(nth * 11, personCount);
  const segmentShare = spreadOver(nth * 13, 10);
  return {
    name,
    project: projectOf(spreadOver(nth, projectCount)),
    type,
    description,
    stale: spreadOver(nth * 3, 10) === 0,
    impressionData: nth % 4 === 0,
    createdAt: timeOf(nth),
    archivedAt: spreadOver(nth * 5, 20) === 0 ? timeOf(nth + 1) : null,
    lastSeenAt: spreadOver(nth * 17, 10) < 7 ? timeOf(nth + 2) : null,
    createdBy: { id: 1 + person, name: personOf(person), imageUrl: gravatarUrlOf(personOf(person)) },
    dependencyType: null,
    tags: [...tags, { type: 'ticket', value: ticketOf(nth) }],
    segments:
      segmentShare < 6
        ? []
        : segmentShare < 9
          ? [1 + spreadOver(nth * 19, segmentCount)]
          : [1, 2 + spreadOver(nth * 23, segmentCount - 1)],
    favoritedBy: spreadOver(nth * 29, 500) === 0 ? [1] : [],
    lifecycle: { stage: 'live', enteredStageAt: timeOf(nth) },
    environments: environments.map((environment, index) => ({
      name: environment,
      type: environment,
      enabled: spreadOver(nth * 31 + index, 10) < 8 - 2 * index,
      sortOrder: index,
      variantCount: 0,
      lastSeenAt: null,
      hasStrategies: true,
      hasEnabledStrategies: true,
      yes: nth % 1_000,
      no: nth % 77,
      rules: [{ name: 'flexibleRollout', share: String(25 * spreadOver(nth * 37 + index, 5)) }],
    })),
  };
}

/** The state of the nth feature. */
export function benchFeatureState(nth: number): StateOf<'feature'> {
  const state = benchState(nth);
  return { entity: 'feature', id: state.name, version: 1, state };
}

export function benchSegmentStates(): StateOf<'segment'>[] {
  return Array.from({ length: segmentCount }, (_, nth) => ({
    entity: 'segment',
    id: String(nth + 1),
    version: 1,
    state: { id: nth + 1, name: segmentOf(nth), project: null },
  }));
}
