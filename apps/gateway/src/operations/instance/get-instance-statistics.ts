import { implement } from '@bunting/bus';
import { GetInstanceStatistics } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { collectInstanceStatistics } from './collect-instance-statistics.ts';

export const getInstanceStatisticsEndpoint = (context: GatewayContext) =>
  implement(GetInstanceStatistics, (request) => collectInstanceStatistics(context, request));
