import type { FeatureState, StateOf } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { benchFlag } from '../generated-flags.ts';

/** States of features as in a large installation. Deterministic: the same for the same number. */

export const projects = 40;
export const people = 200;
export const segments = 200;
/** how many features have a ticket in common, however many there are */
const perTicket = 5;

/** A spread-out but repeatable choice below `below`. */
export const spread = (nth: number, below: number): number =>
  Number(((BigInt(nth) + 1n) * 2654435761n) % 4294967296n) % below;

const two = (nth: number): string => String(nth).padStart(2, '0');

export const projectOf = (nth: number): string => `project-${two(nth % projects)}`;
export const personOf = (nth: number): string => `person-${nth % people}@example.com`;
export const segmentOf = (nth: number): string => `segment ${nth % segments}`;
export const ticketOf = (nth: number): string => `BUN-${10_000 + Math.floor(nth / perTicket)}`;

const secondsOfThreeYears = 3 * 365 * 86_400;
const timeOf = (nth: number): string =>
  new Date(Date.UTC(2023, 0, 1) + 1_000 * spread(nth * 7 + 3, secondsOfThreeYears)).toISOString();

const environments = ['development', 'staging', 'production'] as const;

/** The state of the feature of this number. */
const benchState = (nth: number): FeatureState => {
  const { name, type, description, tags } = benchFlag(nth);
  const person = spread(nth * 11, people);
  const held = spread(nth * 13, 10);
  return {
    name,
    project: projectOf(spread(nth, projects)),
    type,
    description,
    stale: spread(nth * 3, 10) === 0,
    impressionData: nth % 4 === 0,
    createdAt: timeOf(nth),
    archivedAt: spread(nth * 5, 20) === 0 ? timeOf(nth + 1) : null,
    lastSeenAt: spread(nth * 17, 10) < 7 ? timeOf(nth + 2) : null,
    createdBy: { id: 1 + person, name: personOf(person), imageUrl: gravatarUrlOf(personOf(person)) },
    dependencyType: null,
    tags: [...tags, { type: 'ticket', value: ticketOf(nth) }],
    segments: held < 6 ? [] : held < 9 ? [1 + spread(nth * 19, segments)] : [1, 2 + spread(nth * 23, segments - 1)],
    favoritedBy: spread(nth * 29, 500) === 0 ? [1] : [],
    lifecycle: { stage: 'live', enteredStageAt: timeOf(nth) },
    environments: environments.map((environment, index) => ({
      name: environment,
      type: environment,
      enabled: spread(nth * 31 + index, 10) < 8 - 2 * index,
      sortOrder: index,
      variantCount: 0,
      lastSeenAt: null,
      hasStrategies: true,
      hasEnabledStrategies: true,
      yes: nth % 1_000,
      no: nth % 77,
    })),
  };
};

/** The state of the feature of this number after it was switched so many times. */
export const benchFeatureState = (nth: number, times = 0): StateOf<'feature'> => {
  const state = benchState(nth);
  const [first, ...others] = state.environments;
  const switched =
    first === undefined ? [] : [{ ...first, enabled: times % 2 === 0 ? first.enabled : !first.enabled }, ...others];
  return {
    entity: 'feature',
    id: state.name,
    version: 1 + times,
    state: { ...state, environments: switched },
  };
};

export const benchSegmentStates = (): StateOf<'segment'>[] =>
  Array.from({ length: segments }, (_, nth) => ({
    entity: 'segment',
    id: String(nth + 1),
    version: 1,
    state: { id: nth + 1, name: segmentOf(nth), project: null },
  }));
