import { named, wrong } from '../refusals.ts';
import type { Surroundings } from '../surroundings.ts';

/** Refuses to plan with a type of strategy that is on its way out. A strategy that has the type already keeps it. */
export const requireCurrentType = (
  name: string,
  before: string | undefined,
  around: Surroundings,
  at: string,
): void => {
  if (name === before || around.strategyTypes.get(name)?.deprecated !== true) return;
  throw wrong(`Strategy type ${named(name)} is deprecated`, `${at}/payload/name`);
};
