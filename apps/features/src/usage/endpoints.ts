import { type Endpoint, implement, type OperationRequest, reads } from '@bunting/bus';
import {
  authorise,
  GetFeatureUsage,
  GetRawFeatureMetrics,
  ListEdgeInstances,
  RegisterApplication,
  RegisterFrontendApplication,
  ReportEdgeInstance,
  ReportFrontendMetrics,
  ReportMetrics,
  ReportProxiedMetrics,
} from '@bunting/contracts';
import { unknownEnvironment } from '../refusals.ts';
import { effectiveEnvironment } from '../applications/effective-environment.ts';
import { evaluationCounts, proxiedCounts } from './evaluation-counts.ts';
import {
  proxiedApplications,
  registeredApplication,
  reportingApplication,
} from '../applications/reported-applications.ts';
import type { FeaturesContext } from '../context.ts';
import { hiddenProjectsOf } from '../visibility.ts';

export function usageEndpoints(context: FeaturesContext): readonly Endpoint[] {
  const { listEdgeInstances, usage, transaction, storeReport } = context;
  return [
    reads(ListEdgeInstances, () => listEdgeInstances()),

    reads(GetFeatureUsage, ({ params, caller }) => usage.lastHour(params.featureName, hiddenProjectsOf(caller))),

    reads(GetRawFeatureMetrics, ({ params, query, caller }) =>
      usage.byHour(params.featureName, query.hoursBack ?? defaultHoursBack, hiddenProjectsOf(caller)),
    ),

    implement(RegisterApplication, (request) => storeRegistration(context, RegisterApplication, request, null)),

    /** Registers applications as `registerApplicationEndpoint` does, for frontend SDKs. */
    implement(RegisterFrontendApplication, (request) =>
      storeRegistration(context, RegisterFrontendApplication, request, 'OK'),
    ),

    implement(ReportEdgeInstance, async (request) => {
      const { body, caller, now } = request;
      authorise(caller, ReportEdgeInstance.permission, {});
      return transaction(request, async ({ edgeInstances }) => {
        await edgeInstances.store(body, now);
        return null;
      });
    }),

    /** Stores metrics as `reportMetricsEndpoint` does, for frontend SDKs. */
    implement(ReportFrontendMetrics, (request) => storeMetrics(context, ReportFrontendMetrics, request, 'OK')),

    implement(ReportMetrics, (request) => storeMetrics(context, ReportMetrics, request, null)),

    implement(ReportProxiedMetrics, async (request) => {
      const { body, caller, now } = request;
      authorise(caller, ReportProxiedMetrics.permission, {});
      const counts = proxiedCounts(body, caller, now);
      return storeReport(request, { counts, applications: proxiedApplications(body, caller) }, null);
    }),
  ];
}

const defaultHoursBack = 24;

/** Stores the registration of an application that has started, on the server or in browsers and apps. */
export const storeRegistration = async <R>(
  { storeReport, findEnvironmentOfReport }: FeaturesContext,
  { permission }: typeof RegisterApplication | typeof RegisterFrontendApplication,
  request: OperationRequest<typeof RegisterApplication>,
  reply: R,
): Promise<R> => {
  const { body, caller } = request;
  // An application may start before its environment is created, so the name of an unknown environment is stored as it is.
  const environment =
    (await findEnvironmentOfReport(caller, body.environment)) ?? effectiveEnvironment(caller, body.environment);
  authorise(caller, permission, { environment });
  const application = registeredApplication(body, environment, caller);
  return storeReport(request, { counts: [], applications: [application] }, reply);
};

/** Stores the metrics that an SDK reports, on the server or in browsers and apps. */
export const storeMetrics = async <R>(
  { storeReport, findEnvironmentOfReport }: FeaturesContext,
  { permission }: typeof ReportMetrics | typeof ReportFrontendMetrics,
  request: OperationRequest<typeof ReportMetrics>,
  reply: R,
): Promise<R> => {
  const { body, caller, now } = request;
  const environment = await findEnvironmentOfReport(caller, body.environment);
  authorise(caller, permission, { environment });
  if (environment === undefined) throw unknownEnvironment(body.environment ?? 'default', '/body/environment');
  const counts = evaluationCounts(body, environment, now);
  return storeReport(request, { counts, applications: [reportingApplication(body, environment, caller)] }, reply);
};
