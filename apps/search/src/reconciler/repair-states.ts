import { type ReadableStateEntity, Refusal } from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';
import {
  type SourceState,
  isUpToDate,
  type ReconciliationRepository,
} from '../persistence/reconciliation-repository.ts';
import type { StateSource } from './state-source.ts';

/** The states of the features service, the states that search stores, and the projection that applies the former to the latter. */
export interface StateStores {
  readonly source: StateSource;
  readonly stored: ReconciliationRepository;
  readonly states: Pick<Projection, 'catchUp'>;
}

const catchUpTimeoutMs = 5_000;

/** The projection was too stale for a comparison. */
export class StaleProjectionError extends Refusal {
  constructor() {
    super('ServiceUnavailable', `search has not applied the latest changes of features within ${catchUpTimeoutMs} ms`);
  }
}

/** @throws StaleProjectionError if the projection does not catch up with the features service in time */
export const requireCaughtUp = async ({ states }: Pick<StateStores, 'states'>): Promise<void> => {
  if ((await states.catchUp(catchUpTimeoutMs)) > 0) throw new StaleProjectionError();
};

const byId = <T extends { readonly id: string }>(list: readonly T[]): Map<string, T> =>
  new Map(list.map((item) => [item.id, item]));

/**
 * Compares stored states with those of the source, repairs those that differ, and resolves with their ids. The source is read first, and
 * then the stored states, after the projection has applied all changes up to that read. So an older stored state means that a change was
 * lost, and a newer one that the source has changed since: then the source is read a second time.
 * @param force whether to rewrite states that do not differ, too
 */
export const repairStates = async (
  { source, stored, states }: StateStores,
  entity: ReadableStateEntity,
  ids: readonly string[],
  { force }: { readonly force: boolean },
): Promise<string[]> => {
  const sourceStates = await source.states(entity, ids);
  await requireCaughtUp({ states });
  const storedStates = byId(await stored.read(entity, ids));
  const isStoredNewer = ({ id, version }: SourceState) => (storedStates.get(id)?.version ?? -1) > (version ?? -1);
  const changedIds = sourceStates.filter(isStoredNewer).map(({ id }) => id);
  const rereadStates =
    changedIds.length === 0 ? new Map<string, SourceState>() : byId(await source.states(entity, changedIds));
  const repaired: string[] = [];
  for (const sourceState of sourceStates.map((state) => rereadStates.get(state.id) ?? state)) {
    const { id, version, state } = sourceState;
    const storedState = storedStates.get(id);
    const isSameVersion = storedState?.version === version || (storedState?.isLive !== true && state === null);
    // The source has changed again since the stored state was read: the projection will apply it.
    if (rereadStates.has(id) && (version ?? -1) > (storedState?.version ?? -1)) continue;
    const isCorrect = isSameVersion && isUpToDate(entity, storedState, sourceState);
    if (isCorrect && !(force && state !== null)) continue;
    await stored.replace(entity, sourceState, storedState);
    if (!isCorrect) repaired.push(id);
  }
  return repaired;
};
