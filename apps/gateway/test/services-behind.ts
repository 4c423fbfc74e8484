import { type Endpoint, implement, type Once, JsonText, notModified } from '@bunting/bus';
import {
  AddFeatureTag,
  ArchiveFeature,
  type Caller,
  CreateFeature,
  CreateSegment,
  EvaluateFrontendFeatures,
  GetClientFeatures,
  GetFeature,
  GetFrontendFeatures,
  GetSegment,
  ImportFeatures,
  ListFeatureTags,
  notFound,
  PatchStrategy,
  RemoveFeatureTag,
  SearchEvents,
  SearchFeatures,
} from '@bunting/contracts';

/** One call that reached a service. */
export interface Heard {
  readonly operation: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  readonly once: Once | undefined;
}

const feature = (name: string, project: string) => ({ name, project, type: 'release', stale: false });

/** What stands behind the gateway in its own tests: it answers what was asked for, and remembers who asked for what. */
export const servicesBehind = (): { readonly heard: Heard[]; readonly endpoints: readonly Endpoint[] } => {
  const heard: Heard[] = [];
  const hear = (operation: string, asked: Omit<Heard, 'operation'>) => {
    const { params, query, body, caller, requestId, traceparent, once } = asked;
    heard.push({ operation, params, query, body, caller, requestId, traceparent, once });
  };
  const at = '2026-11-21T10:00:00.000Z';
  return {
    heard,
    endpoints: [
      implement(GetFeature, async (asked) => {
        hear('get-feature', asked);
        const { projectId, featureName } = asked.params;
        if (featureName === 'gone') throw notFound(`Could not find feature with name ${featureName}`);
        if (featureName === 'broken') throw new Error('select secret from password_table');
        // With blanks, to show that nobody parses and writes it again on its way.
        return new JsonText(`{ "name": ${JSON.stringify(featureName)},  "project": ${JSON.stringify(projectId)} }`);
      }),
      implement(GetClientFeatures, async (asked) => {
        hear('get-client-features', asked);
        asked.say('ETag', '"all:of-it"');
        if (asked.isKnown('all:of-it')) return notModified;
        const query = { environment: 'development', inlineSegmentConstraints: true };
        const meta = { revisionId: 1, etag: '"all:of-it"', queryHash: 'all' };
        return { version: 2 as const, features: [], query, meta };
      }),
      implement(GetFrontendFeatures, async (asked) => {
        hear('get-frontend-features', asked);
        return { toggles: [] };
      }),
      implement(EvaluateFrontendFeatures, async (asked) => {
        hear('evaluate-frontend-features', asked);
        return { toggles: [] };
      }),
      implement(PatchStrategy, async (asked) => {
        hear('patch-strategy', asked);
        return { id: asked.params.strategyId, name: 'flexibleRollout' };
      }),
      implement(CreateFeature, async (asked) => {
        hear('create-feature', asked);
        const { name } = asked.body;
        return {
          ...feature(name, asked.params.projectId),
          description: null,
          createdAt: at,
          impressionData: false,
          archived: false,
        };
      }),
      implement(ArchiveFeature, async (asked) => {
        hear('archive-feature', asked);
        return null;
      }),
      implement(RemoveFeatureTag, async (asked) => {
        hear('remove-feature-tag', asked);
        return null;
      }),
      implement(AddFeatureTag, async (asked) => {
        hear('add-feature-tag', asked);
        return asked.body;
      }),
      implement(ListFeatureTags, async (asked) => {
        hear('list-feature-tags', asked);
        return { version: 1 as const, tags: [] };
      }),
      implement(CreateSegment, async (asked) => {
        hear('create-segment', asked);
        return { id: 7, name: asked.body.name, constraints: [] };
      }),
      implement(GetSegment, async (asked) => {
        hear('get-segment', asked);
        return { id: asked.params.id, name: 'beta', constraints: [] };
      }),
      implement(ImportFeatures, async (asked) => {
        hear('import-features', asked);
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
      implement(SearchFeatures, async (asked) => {
        hear('search-features', asked);
        asked.say('Bunting-Stale', '120');
        return { features: [], total: 0 };
      }),
      implement(SearchEvents, async (asked) => {
        hear('search-events', asked);
        return { version: 1 as const, events: [], totalEvents: 0 };
      }),
    ],
  };
};
