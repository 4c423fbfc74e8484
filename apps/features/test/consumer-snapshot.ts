import { ReadStates, type ReadableStateEntity, type StateEntity } from '@bunting/contracts';
import { toDeliveredFeature } from '../src/unit-of-work/delivery.ts';
import type { Feature } from '../src/features/feature.ts';
import { featureJson } from '../src/unit-of-work/entities.ts';
import type { StartedFeatures } from './started-features.ts';

/** Values by topic, entity and id, such as `state feature checkout`. */
export type ConsumerSnapshot = ReadonlyMap<string, unknown>;

const readAll = <T extends object>({ database }: StartedFeatures, text: string): Promise<T[]> =>
  database.transaction(({ query }) => query<T>(text));

const statesOf = async (features: StartedFeatures, entity: ReadableStateEntity) => {
  const { states } = await features.call(ReadStates, { body: { entity, after: '', limit: 500 } });
  return states.map(({ id, state }) => [`state ${entity} ${id}`, state] as const);
};

/** SQL: the rows of states and delivery that the tables hold, without features and without the states of segments. */
const rowsOfTables = `
  select 'state project ' || id as key, jsonb_build_object('id', id, 'mode', mode, 'createdBy', created_by) as value from project
  union all select 'delivery segment ' || id, jsonb_build_object('id', id, 'name', name, 'constraints', constraints) from segment
  union all select 'delivery environment ' || name, jsonb_build_object('name', name, 'enabled', enabled, 'sortOrder', sort_order)
  from environment
  union all select 'delivery project-environment ' || project || ' ' || environment,
    jsonb_build_object('project', project, 'environment', environment) from project_environment`;

/** What consumers of the outbox should have now, computed from the tables of features, segments, environments and projects. */
export const readConsumerSnapshot = async (features: StartedFeatures): Promise<ConsumerSnapshot> => {
  const stored = await readAll<{ feature: Feature }>(features, `select ${featureJson('f')} as feature from feature f`);
  const rows = await readAll<{ key: string; value: unknown }>(features, rowsOfTables);
  return new Map<string, unknown>([
    ...(await statesOf(features, 'feature')),
    ...(await statesOf(features, 'segment')),
    ...stored.map(({ feature }) => [`delivery feature ${feature.name}`, toDeliveredFeature(feature)] as const),
    ...rows.map(({ key, value }) => [key, value] as const),
  ]);
};

/** Every entity of states: one that is missing here does not compile. */
const stateEntities = Object.keys({
  feature: true,
  segment: true,
  project: true,
  environment: true,
} satisfies Record<StateEntity, true>);

/** The newest emitted values, of what the outbox has; null for a deletion. */
export const readEmitted = async (features: StartedFeatures): Promise<ConsumerSnapshot> => {
  const states = await Promise.all(stateEntities.map((entity) => features.states(entity as StateEntity)));
  return new Map<string, unknown>([
    ...states.flat().map(({ entity, id, state }) => [`state ${entity} ${id}`, state] as const),
    ...(await features.deliveryStates()).map(({ entity, id, state }) => [`delivery ${entity} ${id}`, state] as const),
  ]);
};
