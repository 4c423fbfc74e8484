import { randomUUID } from 'node:crypto';
import {
  type Bus,
  call,
  type CallContext,
  type CallRequest,
  type Endpoint,
  implement,
  serve,
  traceparentFrom,
} from '@bunting/bus';
import {
  type AnyOperation,
  type Caller,
  CopyEnvironmentPermissions,
  CountEnvironmentTokens,
  CountProjectMembers,
  CreateFeature,
  type CreateFeatureBody,
  type DeliveryState,
  EndEnvironmentAccess,
  type Event,
  type Feature as FeatureReply,
  type FeatureState,
  GetFeature,
  GetOwnRoles,
  GetProjectActivity,
  HideProject,
  ListPermissionHolders,
  ListProposedSegmentStrategies,
  type OutboxEvent,
  outboxOperations,
  type OutboxTopic,
  type ProjectOwner,
  type ReplyOf,
  type RequestOf,
  SearchEvents,
  type StateEntity,
  type StateOf,
  systemCaller,
} from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { host, openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import { afterAll, beforeAll } from 'vitest';
import { featureRepository } from '../src/features/feature-store.ts';
import type { Feature } from '../src/features/feature.ts';
import { featuresMigrations } from '../src/migrations/index.ts';
import { featuresService } from '../src/service.ts';
import { protectionGuard } from '../src/unit-of-work/protection.ts';

const discardingEmitter = {
  emit: () => undefined,
  emitState: () => undefined,
  emitChange: () => undefined,
  emitDelivery: () => undefined,
};
const discardingOutbox = { ...discardingEmitter, ofRequest: () => discardingEmitter, send: () => undefined };

/** Stores features without events, states and locks of references: for tests that begin with them. */
export const addFeatures = (
  { transaction }: Pick<Database, 'transaction'>,
  features: readonly Feature[],
): Promise<void> =>
  transaction((tx) =>
    featureRepository(tx, discardingOutbox, {
      guard: protectionGuard(
        { kind: 'caller', caller: systemCaller },
        { protectedEnvironmentsOf: async () => [], protectedUsesOf: async () => [] },
      ),
      lockReferences: () => Promise.resolve(),
      hidden: [],
      isProjectVisible: () => true,
      settings: { allowsRegex: false },
      recordEvents: () => undefined,
      onDeferred: () => undefined,
    }).add(features, []),
  );

const migrate = async (url: string): Promise<void> =>
  (await openDatabase({ url, name: 'template', migrations: featuresMigrations })).close();

/** A new database with the schema of the service and the rows of a fresh installation. */
export const freshFeaturesDatabase = () =>
  freshDatabase('features', { key: JSON.stringify(featuresMigrations), migrate });

export const mia: Caller = { id: 1, name: 'mia', grants: [{ permission: 'ADMIN' }] };
export const lee: Caller = { id: 2, name: 'lee', grants: [] };

/** The owner of the project `default`, as the gateway reports it. */
export const ada: ProjectOwner = { ownerType: 'user', name: 'Ada', email: 'ada@example.com' };

const createdAt = '2026-11-22T08:00:00.000Z';

/** The activity of the project `default`, as the event log reports it. */
export const activityOfDefault = { id: 'default', lastEventAt: createdAt, currentWindow: 7, pastWindow: 2 };

/** A caller with the given permissions. */
export const callerWith = (...grants: Caller['grants']): Caller => ({ id: 3, name: 'kim', grants });

/** The context of a call by a caller, as the gateway makes it. */
export const callContextOf = (caller: Caller, timeoutMs = 60_000): CallContext => ({
  caller,
  requestId: randomUUID(),
  traceparent: traceparentFrom(),
  timeoutMs,
});

/** The events that the event log finds. */
const foundEvents: readonly Event[] = [{ id: 4, createdAt, type: 'feature-created', createdBy: 'mia' }];

/** The search of the event log. */
const searchEvents = (search: (query: RequestOf<typeof SearchEvents>['query']) => Promise<readonly Event[]>) =>
  implement(SearchEvents, async ({ query }) => {
    const events = [...(await search(query))];
    return { events, total: events.length };
  });

/** The other services: no change request uses a segment; Ada owns the project `default`, which has one token, for production. */
export const otherServices: readonly Endpoint[] = [
  implement(EndEnvironmentAccess, async () => null),
  implement(ListProposedSegmentStrategies, async () => ({ changeRequestStrategies: [] })),
  implement(CountProjectMembers, async ({ body: { project = 'default' } }) => ({
    projects: project === 'default' ? [{ id: 'default', members: 3, added: 1, owners: [ada] }] : [],
  })),
  searchEvents(async () => foundEvents),
  implement(GetOwnRoles, async () => ({
    version: 1 as const,
    roles: [{ id: 4, name: 'Owner', type: 'project', description: 'Owns it.' }],
  })),
  implement(ListPermissionHolders, async () => ({
    users: [{ id: 1, name: 'mia', username: null, email: null, imageUrl: null }],
  })),
  implement(CountEnvironmentTokens, async ({ body: { project = 'default' } }) => ({
    environments: project === 'default' ? [{ name: 'production', tokens: 1 }] : [],
  })),
];

/** The event log. */
export const eventLog: Endpoint = implement(GetProjectActivity, async ({ body: { project, days } }) => ({
  projects:
    project === undefined || project === 'default'
      ? [{ ...activityOfDefault, days: days === undefined ? [] : [{ date: '2026-11-22', count: 7 }] }]
      : [],
}));

export interface StartedFeatures {
  /** its database, for what no operation can write or read */
  readonly database: Database;
  /** for raw replies with their headers */
  readonly bus: Bus;
  call<O extends AnyOperation>(
    operation: O,
    request: CallRequest<O>,
    caller?: Caller,
    more?: Partial<CallContext>,
  ): Promise<ReplyOf<O>>;
  /** Stores features as they are, without events. */
  given(...features: readonly Feature[]): Promise<void>;
  /** Creates a feature in the default project. */
  create(name: string, more?: Partial<CreateFeatureBody>): Promise<void>;
  /** A feature as clients read it. */
  get(name: string, caller?: Caller, projectId?: string): Promise<FeatureReply>;
  /** All emitted events, oldest first. */
  emittedEvents(): Promise<OutboxEvent[]>;
  /** All emitted states, oldest first. */
  states<E extends StateEntity>(entity: E): Promise<StateOf<E>[]>;
  /** All emitted rows for SDKs, oldest first. */
  deliveryStates(): Promise<DeliveryState[]>;
  /** The last emitted state of a feature. */
  lastState(name: string): Promise<FeatureState | null | undefined>;
  /** The URL of its database. */
  readonly url: string;
  /** Removes all emitted events and states. */
  clearOutbox(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the service with validation of its replies, on a new database and a bus in the process or over NATS.
 * @param onHide called when the gateway is to hide a project
 * @param onCopy called when the gateway is to copy the permissions of an environment
 * @param search finds events in the event log
 */
export const startFeatures = async (
  environment: Readonly<Record<string, string>> = {},
  onHide: (project: { readonly id: string; readonly version: number }) => Promise<void> = () => Promise.resolve(),
  onCopy: (environments: { readonly from: string; readonly to: string }) => Promise<void> = () => Promise.resolve(),
  search: (query: RequestOf<typeof SearchEvents>['query']) => Promise<readonly Event[]> = async () => foundEvents,
): Promise<StartedFeatures> => {
  const fresh = await freshFeaturesDatabase();
  const hosted = await host([featuresService], {
    environment: { FEATURES_DATABASE_URL: fresh.url, CHECK_REPLIES: 'true', ...environment },
    log: openLog('error'),
  });
  const hideProject = implement(HideProject, async ({ body }) => {
    await onHide(body);
    return null;
  });
  const copyPermissions = implement(CopyEnvironmentPermissions, async ({ body }) => {
    await onCopy(body);
    return null;
  });
  const servicesButLog = otherServices.filter(({ operation }) => operation.subject !== SearchEvents.subject);
  const others = [...servicesButLog, eventLog, searchEvents(search), hideProject, copyPermissions];
  const around = await serve(hosted.bus, others, {
    checkReplies: true,
  });
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: featuresMigrations });

  const outbox = async <Payload>(topic: OutboxTopic): Promise<Payload[]> => {
    const emitted: Payload[] = [];
    const readFrom = async (after: number): Promise<void> => {
      const body = { topic, consumer: 'spec', after, limit: 1000 };
      const { messages } = await started.call(outboxOperations.features, { body });
      emitted.push(...messages.map(({ payload }) => payload as Payload));
      const last = messages.at(-1)?.position;
      if (last !== undefined) await readFrom(last);
    };
    await readFrom(0);
    return emitted;
  };

  const started: StartedFeatures = {
    database,
    bus: hosted.bus,
    url: fresh.url,
    call: (operation, request, caller = mia, more = {}) =>
      call(hosted.bus, operation, request, { ...callContextOf(caller), ...more }),
    given: (...features) => addFeatures(database, features),
    create: async (name, more = {}) => {
      await started.call(CreateFeature, { params: { projectId: 'default' }, body: { name, ...more } });
    },
    get: (featureName, caller, projectId = 'default') =>
      started.call(GetFeature, { params: { projectId, featureName } }, caller),
    emittedEvents: () => outbox('event'),
    states: async <E extends StateEntity>(entity: E) =>
      (await outbox<StateOf<StateEntity>>('state')).filter((state) => state.entity === entity) as StateOf<E>[],
    deliveryStates: () => outbox<DeliveryState>('delivery'),
    lastState: async (name) => (await started.states('feature')).findLast(({ id }) => id === name)?.state,
    clearOutbox: async () => {
      await database.transaction(({ query }) => query('truncate outbox'));
    },
    stop: async () => {
      await around.stop();
      await hosted.stop();
      await database.close();
      await fresh.drop();
    },
  };
  return started;
};

/** The service, started before the tests of the enclosing `describe` or file and stopped after them. */
export function useFeatures(...options: Parameters<typeof startFeatures>): StartedFeatures {
  const features = {} as StartedFeatures;
  beforeAll(async () => void Object.assign(features, await startFeatures(...options)));
  afterAll(() => features.stop());
  return features;
}
