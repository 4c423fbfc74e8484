import type { EnvironmentDecision } from './environment.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

/** Saves updated environments, and emits the states of the features in them. */
export const saveEnvironments = async (
  { environments, features }: Pick<Transaction, 'environments' | 'features'>,
  decisions: readonly EnvironmentDecision[],
): Promise<void> => {
  const changed = decisions.filter((decision) => decision.events.length > 0).map(({ environment }) => environment);
  if (changed.length === 0) return;
  await environments.save(
    changed,
    decisions.flatMap((decision) => decision.events),
  );
  await features.emitStates(await environments.featureNames(changed.map(({ name }) => name)));
};
