import { implement } from '@bunting/bus';
import { GetInstanceStatisticsCsv } from '@bunting/contracts';
import { csvOf } from '../../domain/csv.ts';
import type { GatewayContext } from '../context.ts';
import { instanceStatistics } from './instance-statistics.ts';

export const getInstanceStatisticsCsvEndpoint = (context: GatewayContext) =>
  implement(GetInstanceStatisticsCsv, async (request) => csvOf(await instanceStatistics(context, request)));
