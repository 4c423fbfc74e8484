import type { Caller } from '@bunting/contracts';
import { collaborated } from '../domain/feature-rules.ts';
import type { Decision } from '../domain/feature.ts';
import type { Transaction } from '../persistence/unit-of-work.ts';

/** Saves what was decided of several features, in few statements, and tells it; who had it done counts among their collaborators. */
export const carryOutAll = async (
  { features, events }: Pick<Transaction, 'features' | 'events'>,
  decisions: readonly Decision[],
  caller: Caller,
): Promise<void> => {
  const changed = decisions.filter((decision) => decision.events.length > 0);
  await features.save(changed.map(({ feature }) => collaborated(feature, caller)));
  events.record(changed.flatMap((decision) => decision.events));
};
