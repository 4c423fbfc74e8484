import { type Endpoint, implement } from '@bunting/bus';
import { GetReindex, notFound } from '@bunting/contracts';
import type { ReindexRecord } from '../persistence/reindex-record.ts';

export const getReindexEndpoint = (record: Pick<ReindexRecord, 'read'>): Endpoint =>
  implement(GetReindex, async () => {
    const reindex = await record.read();
    if (reindex === undefined) throw notFound('There was no reindex yet');
    return reindex;
  });
