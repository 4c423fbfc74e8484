import { type Endpoint, implement } from '@bunting/bus';
import {
  type DeliveredEnvironment,
  type DeliveredFeature,
  type DeliveryState,
  newFeatureFieldsFor,
  type OutboxMessage,
  outboxOperations,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';

type ActiveFeature = Extract<DeliveredFeature, { readonly archived: false }>;

export const aSetting = (more: Partial<DeliveredEnvironment> = {}): DeliveredEnvironment => ({
  enabled: true,
  strategies: [],
  variants: [],
  ...more,
});

export const aStrategy = (segments: readonly number[] = []) => ({
  name: 'flexibleRollout',
  constraints: [],
  parameters: { rollout: '100' },
  variants: [],
  ...(segments.length === 0 ? {} : { segments: [...segments] }),
});

/** A row of a feature of the project `default` that is on in development. */
export const featureRow = (name: string, more: Partial<ActiveFeature> = {}): DeliveryState => ({
  entity: 'feature',
  id: name,
  state: {
    name,
    project: 'default',
    archived: false,
    ...newFeatureFieldsFor('servers'),
    tags: [],
    dependencies: [],
    environments: { development: aSetting() },
    ...more,
  },
});

export const segmentRow = (id: number, value: string): DeliveryState => ({
  entity: 'segment',
  id: String(id),
  state: { id, name: `segment-${id}`, constraints: [{ contextName: 'userId', operator: 'IN', values: [value] }] },
});

/** The environments development and production, which the projects have. */
export const givenRows = (...projects: readonly string[]): DeliveryState[] =>
  ['development', 'production'].flatMap((environment, sortOrder): DeliveryState[] => [
    { entity: 'environment', id: environment, state: { name: environment, enabled: true, sortOrder } },
    ...projects.map((project): DeliveryState => {
      return { entity: 'project-environment', id: `${project} ${environment}`, state: { project, environment } };
    }),
  ]);

/** A stand-in for the features service: its outbox of the topic `delivery`, without anything else. */
export const deliveryOutbox = () => {
  const messages: OutboxMessage[] = [];
  let calls = 0;
  let held: Promise<void> | undefined;
  const endpoint: Endpoint = implement(outboxOperations.features, async ({ body: { topic, after, limit } }) => {
    if (topic !== 'delivery') return { head: 1, at: null, messages: [] };
    calls++;
    await held;
    return {
      head: messages.length,
      at: messages[after - 1]?.uid ?? null,
      messages: messages.slice(after, after + limit),
    };
  });
  return {
    endpoint,
    messages,
    calls: (): number => calls,
    /** Lets reads wait until the returned function is called. */
    hold: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    write: (...states: readonly DeliveryState[]): void => {
      for (const payload of states) {
        const row = { position: messages.length + 1, uid: randomUUID(), type: payload.entity };
        messages.push({ ...row, recordedAt: new Date().toISOString(), traceparent: null, payload });
      }
    },
  };
};
