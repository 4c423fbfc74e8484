import {
  type Dependency,
  type Event,
  type Feature,
  GetFeature,
  ListSegments,
  SearchEvents,
  SearchFeatures,
} from '@bunting/contracts';
import { ApiError } from '../../../api/api-error.ts';
import { call } from '../../../api/call.ts';
import { setsSameProperty, eventGroupOf, type CurrentState } from './plan-undo.ts';

const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.kind === 'NotFoundError';

const readFlag = async (
  projectId: string,
  featureName: string,
  signal: AbortSignal,
): Promise<Pick<CurrentState, 'feature' | 'isArchived'>> => {
  try {
    const params = { projectId, featureName };
    const feature: Feature = await call(GetFeature, { params, query: { variantEnvironments: 'true' }, signal });
    return { feature: feature.archived === true ? undefined : feature, isArchived: feature.archived === true };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const query = { archived: 'IS:true', project: `IS:${projectId}`, query: featureName, limit: '1000' };
    const { features } = await call(SearchFeatures, { query, signal });
    return { feature: undefined, isArchived: features.some(({ name }) => name === featureName) };
  }
};

/** The maximum number of events among which the one that added a dependency is looked for. */
const maxEarlierEvents = 100;

/** The dependency that a flag had before an event, from the newest earlier event that added one; undefined if none is found. */
const readEarlierDependency = async ({ id, featureName }: Event, signal: AbortSignal) => {
  const query = {
    type: 'IS:feature-dependency-added',
    feature: `IS:${featureName ?? ''}`,
    limit: String(maxEarlierEvents),
  };
  const { events } = await call(SearchEvents, { query, signal });
  return events.find((event) => event.id < id)?.data as Dependency | undefined;
};

/** The maximum number of events that are compared; if all of them are later, one that set the same property is assumed. */
const maxComparedEvents = 1_000;

/** Whether a later event of the same flag and environment set the same property. */
const readIsSetAgain = async (event: Event, signal: AbortSignal): Promise<boolean> => {
  const { id, type, featureName, environment } = event;
  const group = eventGroupOf(type);
  if (featureName == null || group.length === 0) return false;
  const query = {
    type: `IS_ANY_OF:${group.join(',')}`,
    feature: `IS:${featureName}`,
    ...(environment == null ? {} : { environment: `IS:${environment}` }),
    limit: String(maxComparedEvents),
  };
  const { events } = await call(SearchEvents, { query, signal });
  const later = events.filter((other) => other.id > id);
  return later.length === maxComparedEvents || later.some((other) => setsSameProperty(event, other));
};

/** Reads the current state of what an event changed. @throws ApiError */
export const readCurrentState = async (event: Event, signal: AbortSignal): Promise<CurrentState> => {
  const { type, project, featureName } = event;
  const flag =
    featureName == null || project == null
      ? { feature: undefined, isArchived: false }
      : await readFlag(project, featureName, signal);
  const segments = type.startsWith('segment-') ? (await call(ListSegments, { signal })).segments : [];
  const removesDependency = type === 'feature-dependency-removed' || type === 'feature-dependencies-removed';
  const earlierDependency = removesDependency ? await readEarlierDependency(event, signal) : undefined;
  return { ...flag, segments, earlierDependency, isSetAgain: await readIsSetAgain(event, signal) };
};
