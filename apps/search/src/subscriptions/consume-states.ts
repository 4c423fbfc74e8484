import type { Bus } from '@bunting/bus';
import type { Database } from '@bunting/database';
import { type Projection, startProjection } from '@bunting/outbox';
import { applyStates } from '../persistence/apply-states.ts';

export interface FollowStatesNeeds {
  readonly database: Database;
  readonly bus: Bus;
  readonly intervalMs: number;
  readonly warn: (message: string) => void;
  /** takes what an operator has to act on */
  readonly logError: (message: string) => void;
}

/** Keeps the documents as the features service has them. */
export const followStates = (needs: FollowStatesNeeds): Promise<Projection> =>
  startProjection({ ...needs, consumer: 'search', producer: 'features', topic: 'state', apply: applyStates });
