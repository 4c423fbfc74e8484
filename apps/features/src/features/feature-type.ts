import type { FeatureTypeDescription } from '@bunting/contracts';
import type { DomainEvent } from './feature.ts';

/** A type of features after a change, and its events. An unchanged type is returned as is, without events. */
export interface FeatureTypeDecision {
  readonly type: FeatureTypeDescription;
  readonly events: readonly DomainEvent[];
}

/** Sets the number of days after which features of a type are potentially stale; 0 and null mean never. */
export const setLifetime = (before: FeatureTypeDescription, days: number | null): FeatureTypeDecision => {
  const lifetimeDays = days || null;
  if (lifetimeDays === before.lifetimeDays) return { type: before, events: [] };
  const type = { ...before, lifetimeDays };
  return { type, events: [{ type: 'feature-type-updated', data: type, preData: before }] };
};
