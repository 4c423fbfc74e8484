import type { ClientFeature, ClientSegment } from '@bunting/contracts';

/** What the origin delivers to a token, as an edge keeps it. */
export interface OriginState {
  readonly token: string;
  readonly environment: string;
  /** `['*']` for all */
  readonly projects: readonly string[];
  readonly revision: number;
  readonly entityTag: string | null;
  readonly features: readonly ClientFeature[];
  readonly segments: readonly ClientSegment[];
  readonly fetchedAt: Date;
}
