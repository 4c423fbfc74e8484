import { onBehalfOf } from '@bunting/bus';
import { type Caller, CountResources, SearchEvents, type InstanceStatistics, unleashVersion } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { GatewayContext } from '../context.ts';

interface StatisticsRequest {
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  readonly deadline: Date;
  readonly now: Date;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Collects the statistics from the services that own the counted objects, for the operations that return them as JSON and as CSV. */
export const collectInstanceStatistics = async (
  { bus, reads, signInSettings }: Pick<GatewayContext, 'bus' | 'reads' | 'signInSettings'>,
  context: StatisticsRequest,
): Promise<InstanceStatistics> => {
  const countEvents = async (query: Readonly<Record<string, string>>): Promise<number> =>
    (await call(bus, SearchEvents, { query: { ...query, limit: '1' } }, onBehalfOf(context))).total;
  const [ownStatistics, resources, featureExports, featureImports, instanceId, oidc] = await Promise.all([
    reads.readGatewayStatistics(),
    call(bus, CountResources, {}, onBehalfOf(context)),
    countEvents({ type: 'IS:features-exported' }),
    countEvents({ type: 'IS:features-imported' }),
    reads.instanceId(),
    signInSettings.oidc(),
  ]);
  const { features, archivedFeatures, strategyTypes, applications, productionEnvironments, ...resourceCounts } =
    resources;
  const productionChangesSince = async (days: number): Promise<number> => {
    if (productionEnvironments.length === 0) return 0;
    const from = new Date(context.now.getTime() - days * dayMs).toISOString().slice(0, 10);
    return countEvents({ environment: `IS_ANY_OF:${productionEnvironments.join(',')}`, from: `IS:${from}` });
  };
  const [last30, last60, last90] = await Promise.all([
    productionChangesSince(30),
    productionChangesSince(60),
    productionChangesSince(90),
  ]);
  return {
    timestamp: context.now.toISOString(),
    instanceId,
    versionOSS: unleashVersion,
    versionEnterprise: unleashVersion,
    ...ownStatistics,
    ...resourceCounts,
    featureToggles: features,
    archivedFeatureToggles: archivedFeatures,
    strategies: strategyTypes,
    SAMLenabled: false,
    OIDCenabled: oidc.enabled,
    clientApps: [
      { range: '7d', count: applications.last7 },
      { range: '30d', count: applications.last30 },
      { range: 'allTime', count: applications.allTime },
    ],
    featureExports,
    featureImports,
    productionChanges: { last30, last60, last90 },
  };
};
