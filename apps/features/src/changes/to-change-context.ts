import { randomUUID } from 'node:crypto';
import type { ChangeContext } from './change-context.ts';
import type { StoredChangeContext } from './change-context-reader.ts';

/** The context of changes in an environment at the time of a request, from what is stored. */
export const toChangeContext = (stored: StoredChangeContext, environment: string, now: Date): ChangeContext => ({
  ...stored,
  environment,
  now: now.toISOString(),
  generateStrategyId: randomUUID,
});
