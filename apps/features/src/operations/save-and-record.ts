import type { Caller } from '@bunting/contracts';
import { collaborated } from '../domain/feature-rules.ts';
import type { Decision, Feature } from '../domain/feature.ts';
import type { Transaction } from '../persistence/unit-of-work.ts';

/** Saves what was decided and tells it; who had it done counts among the feature's collaborators. Gives the feature as it is now. */
export const carryOut = async (
  { features, events }: Transaction,
  { feature, events: told }: Decision,
  caller: Caller,
): Promise<Feature> => {
  const after = told.length === 0 ? feature : collaborated(feature, caller);
  await features.save([after]);
  events.record(told);
  return after;
};
