import { type Endpoint, implement } from '@bunting/bus';
import { StartReindex } from '@bunting/contracts';
import type { Reindexing } from '../reconciler/reindexer.ts';

export const startReindexEndpoint = (reindexing: Reindexing): Endpoint =>
  implement(StartReindex, () => reindexing.start());
