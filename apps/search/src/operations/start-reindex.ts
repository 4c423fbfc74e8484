import { implement } from '@bunting/bus';
import { StartReindex } from '@bunting/contracts';
import type { SearchContext } from './context.ts';

export const startReindexEndpoint = ({ reindexer }: SearchContext) => implement(StartReindex, () => reindexer.start());
