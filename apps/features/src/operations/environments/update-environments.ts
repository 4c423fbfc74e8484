import { type UpdateEnvironmentBody } from '@bunting/contracts';
import { type StoredEnvironment, updateEnvironment } from '../../domain/environments/environment.ts';
import { environmentNotFound } from '../../domain/refusals.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Updates environments by name and emits the states of the features in them. Refuses a name that does not exist. */
export const updateEnvironments = async (
  { environments, features, events }: Transaction,
  changes: ReadonlyMap<string, UpdateEnvironmentBody>,
): Promise<StoredEnvironment[]> => {
  const found = new Map((await environments.findForUpdate([...changes.keys()])).map((one) => [one.name, one]));
  const decisions = [...changes].map(([name, change]) => {
    const environment = found.get(name);
    if (environment === undefined) throw environmentNotFound(name);
    return updateEnvironment(environment, change);
  });
  const changed = decisions.filter((decision) => decision.events.length > 0).map(({ environment }) => environment);
  if (changed.length > 0) {
    await environments.save(changed);
    features.emitStates(await environments.featureNames(changed.map(({ name }) => name)));
    events.emit(decisions.flatMap((decision) => decision.events));
  }
  return decisions.map(({ environment }) => environment);
};
