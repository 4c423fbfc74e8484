import { type Endpoint, implement, type OperationRequest, onBehalfOf } from '@bunting/bus';
import {
  type Dependency,
  type Event,
  type Feature,
  GetEventUndo,
  isEqual,
  maySee,
  notFound,
  Refusal,
  refusal,
  SearchEvents,
  type Segments,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { type CurrentState, eventGroupOf, setsSameProperty, undoEvent, type UndoPlan } from './undo-event.ts';

type Request = OperationRequest<typeof GetEventUndo>;

/** The maximum number of events among which the one that added a dependency is looked for. */
const maxEarlierEvents = 100;
/** The maximum number of events that are compared; if all of them are later, one that set the same property is assumed. */
const maxComparedEvents = 1_000;
/** How often the state is read again, because it changed between the read of the state and that of the entity tags. */
const maxAttempts = 5;

export function undoEndpoints(context: FeaturesContext): readonly Endpoint[] {
  return [
    implement(GetEventUndo, async (request) => {
      const event = await findEvent(context, request);
      let plan = undoEvent(event, await currentState(context, request, event));
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        // The tags are read between two reads of the same state: an edit after that makes the step fail with 412.
        const steps = await Promise.all(
          plan.steps.map(async (step) => ({ ...step, ifMatch: await entityTagFor(context, request, event, step) })),
        );
        const again = undoEvent(event, await currentState(context, request, event));
        if (isEqual(again, plan)) return { ...plan, steps };
        plan = again;
      }
      throw refusal('ConflictError', 'It is being changed at the moment. Try again.');
    }),
  ];
}

async function findEvent({ bus }: FeaturesContext, request: Request): Promise<Event> {
  const { id } = request.params;
  const query = { id: `IS:${id}`, limit: '1' };
  const { events } = await call(bus, SearchEvents, { query }, onBehalfOf(request));
  const [event] = events;
  if (event === undefined) throw notFound(`There is no event ${id}.`);
  return event;
}

/** Reads what an event changed as it is now, with the later events that decide whether it may be undone. */
async function currentState(context: FeaturesContext, request: Request, event: Event): Promise<CurrentState> {
  const isOfSegment = event.type.startsWith('segment-');
  const removesDependency =
    event.type === 'feature-dependency-removed' || event.type === 'feature-dependencies-removed';
  const [flag, segments, earlierDependency, isSetAgain] = await Promise.all([
    flagOf(context, request, event),
    isOfSegment ? context.segments.all(hiddenProjectsOf(request.caller)) : undefined,
    removesDependency ? earlierDependencyOf(context, request, event) : undefined,
    wasSetAgain(context, request, event),
  ]);
  return {
    ...flag,
    segments: segments === undefined ? [] : (JSON.parse(segments) as Segments).segments,
    earlierDependency,
    isSetAgain,
  };
}

async function flagOf(
  { features, archive }: FeaturesContext,
  { caller }: Request,
  { project, featureName }: Event,
): Promise<Pick<CurrentState, 'feature' | 'isArchived'>> {
  if (project == null || featureName == null || !maySee(caller, project))
    return { feature: undefined, isArchived: false };
  try {
    const { json } = await features.one({ projectId: project, featureName }, caller.id, true);
    const feature = JSON.parse(json) as Feature;
    return feature.archived === true ? { feature: undefined, isArchived: true } : { feature, isArchived: false };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const { features: archived } = JSON.parse(await archive.features(project, caller.id, [])) as {
      readonly features: readonly { readonly name: string }[];
    };
    return { feature: undefined, isArchived: archived.some(({ name }) => name === featureName) };
  }
}

/** The dependency that a flag had before an event, from the newest earlier event that added one. */
async function earlierDependencyOf(
  { bus }: FeaturesContext,
  request: Request,
  { id, featureName }: Event,
): Promise<Dependency | undefined> {
  const query = {
    type: 'IS:feature-dependency-added',
    feature: `IS:${featureName ?? ''}`,
    limit: String(maxEarlierEvents),
  };
  const { events } = await call(bus, SearchEvents, { query }, onBehalfOf(request));
  return events.find((event) => event.id < id)?.data as Dependency | undefined;
}

/** Whether a later event of the same flag and environment set the same property. */
async function wasSetAgain({ bus }: FeaturesContext, request: Request, event: Event): Promise<boolean> {
  const { id, type, featureName, environment } = event;
  const group = eventGroupOf(type);
  if (featureName == null || group.length === 0) return false;
  const query = {
    type: `IS_ANY_OF:${group.join(',')}`,
    feature: `IS:${featureName}`,
    ...(environment == null ? {} : { environment: `IS:${environment}` }),
    limit: String(maxComparedEvents),
  };
  const { events } = await call(bus, SearchEvents, { query }, onBehalfOf(request));
  const later = events.filter((other) => other.id > id);
  return later.length === maxComparedEvents || later.some((other) => setsSameProperty(event, other));
}

/** The entity tag of the resource that a step changes; null if its operation takes no `If-Match`, or the resource is gone. */
async function entityTagFor(
  { features, featureParts, segments }: FeaturesContext,
  { caller }: Request,
  event: Event,
  step: UndoPlan['steps'][number],
): Promise<string | null> {
  const feature = { projectId: event.project ?? '', featureName: event.featureName ?? '' };
  const tagOf = async (read: Promise<{ readonly tag: string }>): Promise<string | null> => {
    try {
      return `"${(await read).tag}"`;
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  };
  if (step.kind === 'request') {
    const isOfFeature = ['updateTags', 'updateFeature', 'changeProject'].includes(step.operationId);
    return isOfFeature ? tagOf(features.one(feature, caller.id, false)) : null;
  }
  const { change, environment } = step;
  if (change.action === 'updateSegment' || change.action === 'deleteSegment')
    return tagOf(segments.one(change.payload.id, hiddenProjectsOf(caller)));
  if (environment === null) return tagOf(features.one(feature, caller.id, false));
  return change.action === 'updateStrategy' || change.action === 'deleteStrategy'
    ? tagOf(featureParts.strategy({ ...feature, environment, strategyId: change.payload.id }))
    : tagOf(featureParts.environment({ ...feature, environment }));
}

function isNotFound(error: unknown): boolean {
  return error instanceof Refusal && error.kind === 'NotFoundError';
}
