import { ReadStates, type ReadableStateEntity } from '@bunting/contracts';
import { toDeliveredFeature } from '../src/domain/features/delivered-feature.ts';
import type { Feature } from '../src/domain/features/feature.ts';
import { featureJson } from '../src/persistence/entity-json-sql.ts';
import type { StartedFeatures } from './started-features.ts';

/** Values by topic, entity and id, such as `state feature checkout`. */
export type ConsumerSnapshot = ReadonlyMap<string, unknown>;

const readAll = <T extends object>({ database }: StartedFeatures, text: string): Promise<T[]> =>
  database.transaction(({ query }) => query<T>(text));

const statesOf = async (features: StartedFeatures, entity: ReadableStateEntity, ids: readonly string[]) => {
  const { states } = await features.call(ReadStates, { body: { entity, ids: [...ids] } });
  return states.map(({ id, state }) => [`state ${entity} ${id}`, state] as const);
};

interface DeliveryRow {
  readonly entity: string;
  readonly id: string;
  readonly state: unknown;
}

/** What consumers of the outbox should have now, computed from the tables of features, segments, environments and projects. */
export const readConsumerSnapshot = async (features: StartedFeatures): Promise<ConsumerSnapshot> => {
  const stored = (
    await readAll<{ feature: Feature }>(features, `select ${featureJson('f')} as feature from feature f`)
  ).map(({ feature }) => feature);
  const others = await readAll<DeliveryRow>(
    features,
    `select 'segment' as entity, id::text, jsonb_build_object('id', id, 'name', name, 'constraints', constraints) as state from segment
     union all select 'environment', name, jsonb_build_object('name', name, 'enabled', enabled, 'sortOrder', sort_order) from environment
     union all select 'project-environment', project || ' ' || environment,
       jsonb_build_object('project', project, 'environment', environment) from project_environment`,
  );
  const segmentIds = others.filter(({ entity }) => entity === 'segment').map(({ id }) => id);
  return new Map<string, unknown>([
    ...(await statesOf(
      features,
      'feature',
      stored.map(({ name }) => name),
    )),
    ...(await statesOf(features, 'segment', segmentIds)),
    ...stored.map((feature) => [`delivery feature ${feature.name}`, toDeliveredFeature(feature)] as const),
    ...others.map(({ entity, id, state }) => [`delivery ${entity} ${id}`, state] as const),
  ]);
};

/** The newest emitted values, of what the outbox has; null for a deletion. */
export const readEmitted = async (features: StartedFeatures): Promise<ConsumerSnapshot> => {
  const states = [...(await features.states('feature')), ...(await features.states('segment'))];
  return new Map<string, unknown>([
    ...states.map(({ entity, id, state }) => [`state ${entity} ${id}`, state] as const),
    ...(await features.deliveryStates()).map(({ entity, id, state }) => [`delivery ${entity} ${id}`, state] as const),
  ]);
};
