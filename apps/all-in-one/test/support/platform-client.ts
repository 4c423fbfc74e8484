import type {
  CreatedProject,
  CreateFeatureBody,
  CreateProjectBody,
  CreateSegmentBody,
  StrategyProperties,
  Event,
  Events,
  Feature,
  FeatureStrategy,
  SearchEventsBody,
  SearchFeaturesResponse,
  Segment,
  FeatureWithoutEnvironments,
} from '@bunting/contracts';
import { expect } from 'vitest';
import type { ApiResponse, Api } from './api.ts';

/** Expects the status of a response. @returns its body */
const bodyWithStatus = <T>(response: ApiResponse<T>, status: number): T => {
  expect({ status: response.status, text: status === response.status ? '' : response.text }).toEqual({
    status,
    text: '',
  });
  return response.body;
};

/** The path of a feature, which precedes those of its strategies and environments. */
export const featurePath = (project: string, feature: string): string =>
  `/api/admin/projects/${project}/features/${feature}`;

/** The set-up and the reads of journeys over HTTP; each function fails when a response is not a success. */
export const platformClient = (api: Api) => ({
  createProject: async (id: string, more: Partial<CreateProjectBody> = {}): Promise<CreatedProject> =>
    bodyWithStatus(
      await api<CreatedProject>('POST', '/api/admin/projects', { id, name: `Project ${id}`, ...more }),
      201,
    ),

  createFeature: async (
    project: string,
    name: string,
    more: Partial<CreateFeatureBody> = {},
  ): Promise<FeatureWithoutEnvironments> =>
    bodyWithStatus(
      await api<FeatureWithoutEnvironments>('POST', `/api/admin/projects/${project}/features`, { name, ...more }),
      201,
    ),

  addStrategy: async (
    feature: string,
    environment: string,
    strategy: Partial<StrategyProperties> = {},
  ): Promise<FeatureStrategy> =>
    bodyWithStatus(
      await api<FeatureStrategy>('POST', `${feature}/environments/${environment}/strategies`, {
        name: 'flexibleRollout',
        ...strategy,
      }),
      200,
    ),

  createSegment: async (segment: Partial<CreateSegmentBody> & { name: string }): Promise<Segment> =>
    bodyWithStatus(await api<Segment>('POST', '/api/admin/segments', { constraints: [], ...segment }), 201),

  addTag: async (feature: string, type: string, value: string): Promise<void> => {
    bodyWithStatus(await api('POST', `/api/admin/features/${feature}/tags`, { type, value }), 201);
  },

  toggle: async (feature: string, environment: string, to: 'on' | 'off'): Promise<void> => {
    bodyWithStatus(await api('POST', `${feature}/environments/${environment}/${to}`), 200);
  },

  patchStrategy: async (
    feature: string,
    environment: string,
    strategyId: string | undefined,
    patch: readonly object[],
  ): Promise<FeatureStrategy> =>
    bodyWithStatus(
      await api<FeatureStrategy>('PATCH', `${feature}/environments/${environment}/strategies/${strategyId}`, patch),
      200,
    ),

  archive: async (feature: string): Promise<void> => {
    bodyWithStatus(await api('DELETE', feature), 202);
  },

  getFeature: async (feature: string): Promise<Feature> => bodyWithStatus(await api<Feature>('GET', feature), 200),

  events: async (criteria: SearchEventsBody): Promise<Events> =>
    bodyWithStatus(await api<Events>('POST', '/api/admin/events/search', criteria), 200),

  /** the types of the events, oldest first */
  eventTypes: async (criteria: SearchEventsBody): Promise<string[]> => {
    const { events } = bodyWithStatus(await api<Events>('POST', '/api/admin/events/search', criteria), 200);
    return events.toReversed().map(({ type }: Event) => type);
  },

  search: async (parameters: Readonly<Record<string, string>>): Promise<SearchFeaturesResponse> =>
    bodyWithStatus(
      await api<SearchFeaturesResponse>('GET', `/api/admin/search/features?${new URLSearchParams(parameters)}`),
      200,
    ),
});
