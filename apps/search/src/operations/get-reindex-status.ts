import { type Endpoint, implement } from '@bunting/bus';
import { GetReindexStatus, notFound } from '@bunting/contracts';
import type { ReindexRecord } from '../persistence/reindex-record.ts';

export const getReindexStatusEndpoint = (record: Pick<ReindexRecord, 'read'>): Endpoint =>
  implement(GetReindexStatus, async () => {
    const reindex = await record.read();
    if (reindex === undefined) throw notFound('There was no reindex yet');
    return reindex;
  });
