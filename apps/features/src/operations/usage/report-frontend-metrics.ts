import { ReportFrontendMetrics } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { reporting } from './report-metrics.ts';

/** The same, of browsers and apps. */
export const reportFrontendMetricsEndpoint = ({
  keepReport: keep,
  applicationEnvironments: environments,
}: FeaturesContext) => reporting(ReportFrontendMetrics, keep, environments);
