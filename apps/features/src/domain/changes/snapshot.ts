import type { PublicStrategy, Strategy } from '../feature.ts';
import { publicStrategy } from '../strategy.ts';

/** A strategy as a change remembers it. The order of segments says nothing, so it must not look like an edit later. */
export const snapshotOf = (strategy: Strategy): PublicStrategy => ({
  ...publicStrategy(strategy),
  segments: strategy.segments.toSorted((one, other) => one - other),
});
