import { implement } from '@bunting/bus';
import { GetInstanceStatistics } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { statisticsOf } from './statistics.ts';

export const getInstanceStatisticsEndpoint = (context: GatewayContext) =>
  implement(GetInstanceStatistics, (request) => statisticsOf(context, request));
