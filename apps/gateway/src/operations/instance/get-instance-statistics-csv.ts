import { implement } from '@bunting/bus';
import { GetInstanceStatisticsCsv } from '@bunting/contracts';
import { csvOfRecord } from '../../domain/csv-of-record.ts';
import type { GatewayContext } from '../../access/context.ts';
import { collectInstanceStatistics } from '../../access/instance/endpoints.ts';

export const getInstanceStatisticsCsvEndpoint = (context: GatewayContext) =>
  implement(GetInstanceStatisticsCsv, async (request) =>
    csvOfRecord(await collectInstanceStatistics(context, request)),
  );
