import { implement } from '@bunting/bus';
import { GetInstanceStatistics } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { collectInstanceStatistics } from '../../access/instance/endpoints.ts';

export const getInstanceStatisticsEndpoint = (context: GatewayContext) =>
  implement(GetInstanceStatistics, (request) => collectInstanceStatistics(context, request));
