import type { Caller } from '@bunting/contracts';
import { withCollaborator } from './collaborators.ts';
import type { Decision, DomainEvent, Feature } from '../features/feature.ts';
import type { Transaction } from './unit-of-work.ts';
import { authorOf } from './author.ts';

/** Saves a decided feature, with the caller among its collaborators if it changes. Returns the saved feature. */
export const saveDecision = async (
  { features }: Pick<Transaction, 'features'>,
  decision: Decision,
  caller: Caller,
): Promise<Feature> => {
  const feature =
    decision.events.length === 0 ? decision.feature : withCollaborator(decision.feature, authorOf(caller));
  await features.save([feature], decision.events);
  return feature;
};

/**
 * Saves changed features, with the caller among their collaborators.
 * @param events those of the features, and of segments and other objects that change with them
 */
export const saveChangedFeatures = async (
  { features }: Pick<Transaction, 'features'>,
  changed: readonly Feature[],
  events: readonly DomainEvent[],
  caller: Caller,
): Promise<void> => {
  const author = authorOf(caller);
  await features.save(
    changed.map((feature) => withCollaborator(feature, author)),
    events,
  );
};

/** Saves several decided features, with as many statements as for one. */
export const saveDecisions = async (
  tx: Pick<Transaction, 'features'>,
  decisions: readonly Decision[],
  caller: Caller,
): Promise<void> => {
  const changed = decisions.filter((decision) => decision.events.length > 0);
  const features = changed.map(({ feature }) => feature);
  const events = changed.flatMap((decision) => decision.events);
  await saveChangedFeatures(tx, features, events, caller);
};
