import { randomUUID } from 'node:crypto';
import type { ChangeContext } from '../../domain/changes/change-context.ts';
import type { StoredChangeContext } from '../../persistence/changes/change-context-reader.ts';

/** What is stored, as changes in an environment read it at the time of a request. */
export const toChangeContext = (stored: StoredChangeContext, environment: string, now: Date): ChangeContext => ({
  ...stored,
  environment,
  now: now.toISOString(),
  generateStrategyId: randomUUID,
});
