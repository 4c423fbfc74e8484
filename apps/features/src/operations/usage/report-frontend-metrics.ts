import { implement } from '@bunting/bus';
import { ReportFrontendMetrics } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { storeMetrics } from './report-metrics.ts';

/** Stores metrics as `reportMetricsEndpoint` does, for frontend SDKs. */
export const reportFrontendMetricsEndpoint = (context: FeaturesContext) =>
  implement(ReportFrontendMetrics, (request) => storeMetrics(context, ReportFrontendMetrics, request, 'OK'));
