import { type Caller, type UserReference } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import type { Decision, DomainEvent, Feature } from '../features/feature.ts';
import type { Transaction } from './unit-of-work.ts';

/** The caller as creator or collaborator of a feature: with the name for display, and the picture of the e-mail address if there is one. */
export function authorOf({ id, name, displayName }: Caller): UserReference {
  return {
    id,
    name: displayName ?? name,
    imageUrl: gravatarUrlOf(name),
  };
}

/** The feature with a user as the first of its collaborators. */
export function withCollaborator(feature: Feature, author: UserReference): Feature {
  const latest = feature.collaborators[0];
  if (latest?.id === author.id && latest.name === author.name && latest.imageUrl === author.imageUrl) return feature;
  return { ...feature, collaborators: [author, ...feature.collaborators.filter(({ id }) => id !== author.id)] };
}

/** Saves a decided feature, with the caller among its collaborators if it changes. Returns the saved feature. */
export async function saveDecision(
  { features }: Pick<Transaction, 'features'>,
  decision: Decision,
  caller: Caller,
): Promise<Feature> {
  const feature =
    decision.events.length === 0 ? decision.feature : withCollaborator(decision.feature, authorOf(caller));
  await features.save([feature], decision.events);
  return feature;
}

/**
 * Saves changed features, with the caller among their collaborators.
 * @param events those of the features, and of segments and other objects that change with them
 */
export async function saveChangedFeatures(
  { features }: Pick<Transaction, 'features'>,
  changed: readonly Feature[],
  events: readonly DomainEvent[],
  caller: Caller,
): Promise<void> {
  const author = authorOf(caller);
  await features.save(
    changed.map((feature) => withCollaborator(feature, author)),
    events,
  );
}

/** Saves several decided features, with as many statements as for one. */
export async function saveDecisions(
  tx: Pick<Transaction, 'features'>,
  decisions: readonly Decision[],
  caller: Caller,
): Promise<void> {
  const changed = decisions.filter((decision) => decision.events.length > 0);
  const features = changed.map(({ feature }) => feature);
  const events = changed.flatMap((decision) => decision.events);
  await saveChangedFeatures(tx, features, events, caller);
}
