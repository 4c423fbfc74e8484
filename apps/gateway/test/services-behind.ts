import { type Endpoint, implement, type IdempotentWrite, JsonText } from '@bunting/bus';
import {
  AddFeatureTag,
  anyScope,
  ArchiveFeature,
  type Caller,
  CreateFeature,
  CreateSegment,
  GetFeature,
  GetSegment,
  ImportFeatures,
  ListFeatureTags,
  may,
  noAccess,
  notFound,
  PatchStrategy,
  permissionsFor,
  RemoveFeatureTag,
  ReportProxiedMetrics,
  DeprecatedSearchEvents,
  SearchFeatures,
} from '@bunting/contracts';
import { leastOf } from '@bunting/testing';
import type { Static } from 'typebox';

/** One call that reached a service. */
export interface ReceivedCall {
  readonly operation: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  readonly idempotency: IdempotentWrite | undefined;
}

/** A reply of `create-feature` with all of its required properties. */
export const aFeature = (name: string, project: string) => ({
  ...(leastOf(CreateFeature.reply) as Static<typeof CreateFeature.reply>),
  name,
  project,
  createdAt: '2026-11-21T10:00:00.000Z',
});

/** Checks the permission, as endpoints of services do. */
const authorised = ({ operation, handle }: Endpoint): Endpoint => ({
  operation,
  handle: (request) => {
    const wanted = permissionsFor(operation);
    if (wanted.length > 0 && !may(request.caller, wanted, anyScope)) throw noAccess(wanted);
    return handle(request);
  },
});

/** Stand-ins for the services behind the gateway: they return prepared replies and record the calls. */
export const servicesBehind = (): { readonly received: ReceivedCall[]; readonly endpoints: readonly Endpoint[] } => {
  const received: ReceivedCall[] = [];
  const record = (operation: string, request: Omit<ReceivedCall, 'operation'>) => {
    const { params, query, body, caller, requestId, traceparent, idempotency } = request;
    received.push({ operation, params, query, body, caller, requestId, traceparent, idempotency });
  };
  return {
    received,
    endpoints: [
      implement(GetFeature, async (request) => {
        record('get-feature', request);
        const { projectId, featureName } = request.params;
        if (featureName === 'gone') throw notFound(`Could not find feature with name ${featureName}`);
        if (featureName === 'broken') throw new Error('select secret from password_table');
        // The JSON has blanks, to show that the gateway does not parse and serialise it.
        return new JsonText(`{ "name": ${JSON.stringify(featureName)},  "project": ${JSON.stringify(projectId)} }`);
      }),
      implement(PatchStrategy, async (request) => {
        record('patch-strategy', request);
        return { id: request.params.strategyId, name: 'flexibleRollout' };
      }),
      implement(CreateFeature, async (request) => {
        record('create-feature', request);
        return aFeature(request.body.name, request.params.projectId);
      }),
      implement(ArchiveFeature, async (request) => {
        record('archive-feature', request);
        return null;
      }),
      implement(RemoveFeatureTag, async (request) => {
        record('remove-feature-tag', request);
        return null;
      }),
      implement(AddFeatureTag, async (request) => {
        record('add-feature-tag', request);
        return request.body;
      }),
      implement(ListFeatureTags, async (request) => {
        record('list-feature-tags', request);
        return { version: 1 as const, tags: [] };
      }),
      implement(ReportProxiedMetrics, async (request) => {
        record('report-proxied-metrics', request);
        return null;
      }),
      implement(CreateSegment, async (request) => {
        record('create-segment', request);
        return { id: 7, name: request.body.name, constraints: [] };
      }),
      implement(GetSegment, async (request) => {
        record('get-segment', request);
        return { id: request.params.id, name: 'beta', constraints: [] };
      }),
      implement(ImportFeatures, async (request) => {
        record('import-features', request);
        const none = {
          created: 0,
          updated: 0,
          unchanged: 0,
          strategies: 0,
          tags: 0,
          tagTypes: 0,
          contextFields: 0,
          dependencies: 0,
        };
        return { ...none, skipped: [] };
      }),
      implement(SearchFeatures, async (request) => {
        record('search-features', request);
        request.setHeader('Bunting-Stale', '120');
        return { features: [], total: 0 };
      }),
      implement(DeprecatedSearchEvents, async (request) => {
        record('deprecated-search-events', request);
        return { version: 1 as const, events: [], totalEvents: 0 };
      }),
    ].map(authorised),
  };
};
