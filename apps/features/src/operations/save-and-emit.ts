import type { Caller } from '@bunting/contracts';
import { withCollaborator } from '../domain/features/parts/collaborators.ts';
import type { Decision, DomainEvent, Feature } from '../domain/features/feature.ts';
import type { Transaction } from '../persistence/unit-of-work.ts';
import { authorOf } from './author.ts';

/** Saves a decided feature, with the caller among its collaborators if it changes, and emits the events. Returns the saved feature. */
export const saveAndEmit = async (
  { features, events }: Pick<Transaction, 'features' | 'events'>,
  decision: Decision,
  caller: Caller,
): Promise<Feature> => {
  const feature =
    decision.events.length === 0 ? decision.feature : withCollaborator(decision.feature, authorOf(caller));
  await features.save([feature]);
  events.emit(decision.events);
  return feature;
};

/**
 * Saves changed features, with the caller among their collaborators, and emits the events, also those of segments and other objects that
 * changed with them.
 */
export const saveChangedAndEmit = async (
  { features, events }: Pick<Transaction, 'features' | 'events'>,
  changed: readonly Feature[],
  changes: readonly DomainEvent[],
  caller: Caller,
): Promise<void> => {
  const author = authorOf(caller);
  await features.save(changed.map((feature) => withCollaborator(feature, author)));
  events.emit(changes);
};

/** Saves several decided features and emits their events, with as many statements as for one. */
export const saveAllAndEmit = async (
  tx: Pick<Transaction, 'features' | 'events'>,
  decisions: readonly Decision[],
  caller: Caller,
): Promise<void> => {
  const changed = decisions.filter((decision) => decision.events.length > 0);
  const features = changed.map(({ feature }) => feature);
  await saveChangedAndEmit(
    tx,
    features,
    changed.flatMap((decision) => decision.events),
    caller,
  );
};
