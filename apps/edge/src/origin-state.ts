import type { ClientSegment } from '@bunting/contracts';
import type { OriginFeature } from './origin-feature.ts';

/** What the origin delivers to a token, as an edge keeps it. */
export interface OriginState {
  readonly token: string;
  readonly environment: string;
  /** `['*']` for all */
  readonly projects: readonly string[];
  /** that of the origin; it is lower than that of the state before only where `historyFrom` is higher */
  readonly revision: number;
  /**
   * A client with a revision below it must get everything: its state may be of a history that the origin has lost with a restored backup, or
   * of another scope of the token. 0 where neither has happened.
   */
  readonly historyFrom: number;
  readonly entityTag: string | null;
  readonly features: readonly OriginFeature[];
  readonly segments: readonly ClientSegment[];
  /** when the origin delivered it; earlier by how old it was there by its own account */
  readonly fetchedAt: Date;
}
