import { type ReadableStateEntity, Refusal } from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';
import {
  type SourceState,
  isUpToDate,
  type ReconciliationRepository,
} from '../persistence/reconciliation-repository.ts';
import type { StateSource } from './state-source.ts';

/** The states of the features service, those that search stores, and the projection from the ones to the others. */
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
  new Map(list.map((each) => [each.id, each]));

/**
 * Compares states by id, repairs those that differ, and resolves with the ids repaired. The projection applies everything
 * up to the first read before stored states are read: an older stored state was lost; for a newer one the source is read a second time.
 * @param force whether to rewrite the states that are the same, too
 */
export const repairStates = async (
  { source, stored, states }: StateStores,
  entity: ReadableStateEntity,
  ids: readonly string[],
  { force }: { readonly force: boolean },
): Promise<string[]> => {
  const first = await source.states(entity, ids);
  await requireCaughtUp({ states });
  const seen = byId(await stored.read(entity, ids));
  const isNewer = ({ id, version }: SourceState) => (seen.get(id)?.version ?? -1) > (version ?? -1);
  const again = first.filter(isNewer).map(({ id }) => id);
  const later = again.length === 0 ? new Map<string, SourceState>() : byId(await source.states(entity, again));
  const repaired: string[] = [];
  for (const current of first.map((each) => later.get(each.id) ?? each)) {
    const has = seen.get(current.id);
    const isSame = has?.version === current.version || (has?.isLive !== true && current.state === null);
    // The source has moved on since: the projection will deliver it.
    if (later.has(current.id) && (current.version ?? -1) > (has?.version ?? -1)) continue;
    const isRight = isSame && isUpToDate(entity, has, current);
    if (isRight && !(force && current.state !== null)) continue;
    await stored.replace(entity, current, has);
    if (!isRight) repaired.push(current.id);
  }
  return repaired;
};
