import type {
  CreatedProject,
  CreateFeatureBody,
  CreateProjectBody,
  CreateSegmentBody,
  CreateStrategy,
  Event,
  Events,
  Feature,
  FeatureStrategy,
  SearchEventsBody,
  SearchFeaturesResponse,
  Segment,
  FeatureWithoutEnvironments,
} from '@bunting/contracts';
import { expect } from '@jest/globals';
import type { ApiResponse, Api } from './api.ts';

const taken = <T>(answer: ApiResponse<T>, status: number): T => {
  expect({ status: answer.status, text: status === answer.status ? '' : answer.text }).toEqual({ status, text: '' });
  return answer.body;
};

/** The path of a feature, which precedes those of its strategies and environments. */
export const featurePath = (project: string, feature: string): string =>
  `/api/admin/projects/${project}/features/${feature}`;

/** The set-up and the reads of journeys over HTTP; each function fails when a response is not a success. */
export const platformClient = (api: Api) => ({
  createProject: async (id: string, more: Partial<CreateProjectBody> = {}): Promise<CreatedProject> =>
    taken(await api<CreatedProject>('POST', '/api/admin/projects', { id, name: `Project ${id}`, ...more }), 201),

  createFeature: async (
    project: string,
    name: string,
    more: Partial<CreateFeatureBody> = {},
  ): Promise<FeatureWithoutEnvironments> =>
    taken(
      await api<FeatureWithoutEnvironments>('POST', `/api/admin/projects/${project}/features`, { name, ...more }),
      201,
    ),

  addStrategy: async (
    feature: string,
    environment: string,
    strategy: Partial<CreateStrategy> = {},
  ): Promise<FeatureStrategy> =>
    taken(
      await api<FeatureStrategy>('POST', `${feature}/environments/${environment}/strategies`, {
        name: 'flexibleRollout',
        ...strategy,
      }),
      200,
    ),

  createSegment: async (segment: Partial<CreateSegmentBody> & { name: string }): Promise<Segment> =>
    taken(await api<Segment>('POST', '/api/admin/segments', { constraints: [], ...segment }), 201),

  addTag: async (feature: string, type: string, value: string): Promise<void> => {
    taken(await api('POST', `/api/admin/features/${feature}/tags`, { type, value }), 201);
  },

  toggle: async (feature: string, environment: string, to: 'on' | 'off'): Promise<void> => {
    taken(await api('POST', `${feature}/environments/${environment}/${to}`), 200);
  },

  patchStrategy: async (
    feature: string,
    environment: string,
    strategyId: string | undefined,
    patch: readonly object[],
  ): Promise<FeatureStrategy> =>
    taken(
      await api<FeatureStrategy>('PATCH', `${feature}/environments/${environment}/strategies/${strategyId}`, patch),
      200,
    ),

  archive: async (feature: string): Promise<void> => {
    taken(await api('DELETE', feature), 202);
  },

  getFeature: async (feature: string): Promise<Feature> => taken(await api<Feature>('GET', feature), 200),

  events: async (criteria: SearchEventsBody): Promise<Events> =>
    taken(await api<Events>('POST', '/api/admin/events/search', criteria), 200),

  /** the types of the events, oldest first, with properties that distinguish events of one write */
  eventTypes: async (criteria: SearchEventsBody): Promise<string[]> => {
    const { events } = taken(await api<Events>('POST', '/api/admin/events/search', criteria), 200);
    return events.toReversed().map(({ type }: Event) => type);
  },

  search: async (parameters: Readonly<Record<string, string>>): Promise<SearchFeaturesResponse> =>
    taken(
      await api<SearchFeaturesResponse>('GET', `/api/admin/search/features?${new URLSearchParams(parameters)}`),
      200,
    ),
});
