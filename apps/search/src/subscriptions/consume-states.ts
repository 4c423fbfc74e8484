import type { Bus } from '@bunting/bus';
import type { Database } from '@bunting/database';
import { type Projection, startProjection } from '@bunting/outbox';
import { applyStates } from '../persistence/apply-states.ts';

interface ConsumeStatesOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly intervalMs: number;
  readonly warn: (message: string) => void;
  /** takes what an operator has to act on */
  readonly logError: (message: string) => void;
}

/** Starts the projection of the features service's states to search documents. */
export const consumeStates = (needs: ConsumeStatesOptions): Promise<Projection> =>
  startProjection({ ...needs, consumer: 'search', producer: 'features', topic: 'state', apply: applyStates });
