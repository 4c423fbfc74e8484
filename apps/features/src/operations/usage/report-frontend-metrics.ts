import { ReportFrontendMetrics } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { metricsReportEndpoint } from './report-metrics.ts';

/** The same, of browsers and apps. */
export const reportFrontendMetricsEndpoint = ({
  storeReport,
  findApplicationEnvironment: environments,
}: FeaturesContext) => metricsReportEndpoint(ReportFrontendMetrics, storeReport, environments);
