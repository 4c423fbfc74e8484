import { ReportFrontendMetrics } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { metricsReportEndpoint } from './report-metrics.ts';

/** Stores metrics as `reportMetricsEndpoint` does, for frontend SDKs. */
export const reportFrontendMetricsEndpoint = ({ storeReport, findEnvironmentOfReport }: FeaturesContext) =>
  metricsReportEndpoint(ReportFrontendMetrics, storeReport, findEnvironmentOfReport);
