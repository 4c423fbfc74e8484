import { type Endpoint, implement } from '@bunting/bus';
import { StartReindex } from '@bunting/contracts';
import type { Reindexer } from '../reconciler/reindexer.ts';

export const startReindexEndpoint = (reindexing: Reindexer): Endpoint =>
  implement(StartReindex, () => reindexing.start());
