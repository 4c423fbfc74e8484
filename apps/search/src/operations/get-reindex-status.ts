import { implement } from '@bunting/bus';
import { GetReindexStatus, notFound } from '@bunting/contracts';
import type { SearchContext } from './context.ts';

export const getReindexStatusEndpoint = ({ reindexStatusRepository }: SearchContext) =>
  implement(GetReindexStatus, async () => {
    const reindex = await reindexStatusRepository.read();
    if (reindex === undefined) throw notFound('There was no reindex yet');
    return reindex;
  });
