import { type Endpoint, serve, type ServeOptions } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { type RunningHost, host, openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import type { OutboxEvent } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { predefinedRole } from '../src/access/roles/role.ts';
import { type TokenKind } from '../src/access/tokens/token.ts';
import { maskedConfiguredSecret, openSecretHasher } from '../src/unit-of-work/secrets.ts';
import { gatewayEntities, TokenEntity, UserEntity } from '../src/unit-of-work/entities.ts';
import { gatewayMigrations } from '../src/migrations/index.ts';
import { gatewayService, type RunningGateway } from '../src/service.ts';
import { addLossOfRightsTriggers, lossOfRightsTriggersKey } from './loss-of-rights-triggers.ts';

export const adminToken = '*:*.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';
export const tokenKey = 'a key that only this test knows, of 32 characters and more';

export interface GivenToken {
  readonly token: string;
  readonly kind?: TokenKind;
  readonly role?: 'admin' | 'editor' | 'viewer';
  /** the id of the user that the token belongs to; by default a new user */
  readonly userId?: number;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  readonly projects?: string[];
  readonly environment?: string;
}

export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** the database of a gateway that ran before */
  readonly databaseUrl?: string;
  readonly level?: string;
}

const migrated = {
  key: `gateway ${JSON.stringify(gatewayMigrations)} ${lossOfRightsTriggersKey}`,
  migrate: async (url: string) => {
    const database = await openDatabase({
      url,
      name: 'template',
      migrations: gatewayMigrations,
      entities: gatewayEntities,
    });
    await database.close();
    await addLossOfRightsTriggers(url);
  },
};

export const freshGatewayDatabase = () => freshDatabase('gateway', migrated);

/** An open, migrated database of its own. `stop` closes and drops it. */
export const openGatewayDatabase = async (options: { readonly poolMax?: number } = {}) => {
  const { url, drop } = await freshGatewayDatabase();
  const database = await openDatabase({
    url,
    name: 'spec',
    migrations: gatewayMigrations,
    entities: gatewayEntities,
    ...options,
  });
  return {
    database,
    stop: async (): Promise<void> => {
      await database.close();
      await drop();
    },
  };
};

const selectEvents = { text: "select payload from outbox where topic = 'event' order by id" };

/** The real gateway on a database of its own and a bus within the process. */
export const startGateway = async ({ environment = {}, databaseUrl, level = 'info' }: StartOptions = {}) => {
  const fresh = databaseUrl === undefined ? await freshGatewayDatabase() : undefined;
  const url = databaseUrl ?? fresh?.url ?? '';
  const written: string[] = [];
  const settings: Record<string, string> = {
    PORT: '0',
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_DATABASE_URL: url,
    GATEWAY_TOKEN_KEY: tokenKey,
    GATEWAY_TOKEN_CACHE_TTL_MS: '0',
    GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '0',
    // A hash takes a quarter of a second of CPU at the default.
    GATEWAY_PASSWORD_COST: '10',
    BUNTING_ADMIN_TOKEN: adminToken,
    CHECK_REPLIES: 'true',
    GATEWAY_DELIVERY_WAIT_TIMEOUT_MS: '30000',
    GATEWAY_PROJECTS_WAIT_TIMEOUT_MS: '30000',
    ...environment,
  };
  const hosted: RunningHost = await host([gatewayService], {
    environment: settings,
    log: openLog(level, { write: (line) => void written.push(line) }),
  });
  const running = hosted.services.get('gateway') as RunningGateway;
  const database = await openDatabase({ url, name: 'test', migrations: gatewayMigrations, entities: gatewayEntities });
  const address = running.address ?? '';
  const lines = () => written.map((line) => JSON.parse(line) as Record<string, unknown>);

  return {
    url: address,
    port: Number(new URL(address).port),
    bus: hosted.bus,
    database,
    databaseUrl: url,
    firstAdminToken: running.firstAdminToken,
    firstAdminLink: running.firstAdminLink,
    /** what was logged, line by line */
    get lines() {
      return lines();
    },
    /** what was logged, as text */
    logged: (): string => written.join(''),
    /** Sends a request over HTTP with the admin token, another key, or none. */
    send: (
      path: string,
      { key = adminToken, headers, ...init }: RequestInit & { readonly key?: string | null } = {},
    ): Promise<Response> => {
      const all = new Headers(headers);
      if (key !== null) all.set('authorization', key);
      return fetch(`${address}${path}`, { redirect: 'manual', ...init, headers: all });
    },
    /** Serves endpoints on the gateway's bus until the gateway stops. */
    behind: (endpoints: readonly Endpoint[], options?: ServeOptions): Promise<{ stop(): Promise<void> }> =>
      serve(hosted.bus, endpoints, options),
    /** Runs a job while no admin token is valid. */
    withoutAdminTokens: async (job: () => Promise<void>): Promise<void> => {
      const setRevoked = (revokedAt: 'now()' | 'null', ids: readonly string[] | null) =>
        database.transaction(({ query }) =>
          query<{ id: string }>(
            `update api_token set revoked_at = ${revokedAt}
             where kind = 'admin' and (id = any ($1::uuid[]) or $1 is null and revoked_at is null) returning id`,
            [ids],
          ),
        );
      const revoked = await setRevoked('now()', null);
      try {
        await job();
      } finally {
        await setRevoked(
          'null',
          revoked.map(({ id }) => id),
        );
      }
    },
    givenToken: async ({
      token,
      kind = 'user',
      role = 'viewer',
      userId: owner,
      expiresAt,
      revokedAt,
      projects = ['*'],
      environment: where = '*',
    }: GivenToken): Promise<void> => {
      const hasher = await openSecretHasher(database, settings['GATEWAY_TOKEN_KEY']);
      const email = `${randomUUID()}@example.org`;
      await database.transaction(async ({ em }) => {
        const common = { createdAt: new Date().toISOString() };
        const userId =
          kind !== 'user'
            ? null
            : (owner ?? (await em.insert(UserEntity, { ...common, email, rootRole: predefinedRole[role] })));
        const hashed = hasher(token);
        const id = randomUUID();
        await em.insert(TokenEntity, {
          ...common,
          ...hashed,
          id,
          shown: maskedConfiguredSecret(id),
          sealed: null,
          kind,
          name: `the ${kind} token`,
          user: userId as number | null,
          projects,
          environment: where,
          expiresAt: expiresAt?.toISOString() ?? null,
          revokedAt: revokedAt?.toISOString() ?? null,
          configured: null,
        });
      });
    },
    /** the events in its outbox */
    emittedEvents: async (): Promise<OutboxEvent[]> =>
      (await database.read<{ payload: OutboxEvent }>(selectEvents)).map(({ payload }) => payload),
    stop: async (): Promise<void> => {
      await hosted.stop();
      await database.close();
      await fresh?.drop();
    },
  };
};
export type StartedGateway = Awaited<ReturnType<typeof startGateway>>;

/** The gateway of a spec file or of a `describe`: started before its tests, and stopped after them. */
export const startedGateway = (options?: StartOptions): StartedGateway => {
  let gateway: StartedGateway | undefined;
  beforeAll(async () => {
    gateway = await startGateway(options);
  });
  afterAll(() => gateway?.stop());
  return new Proxy({} as StartedGateway, { get: (_, name) => Reflect.get(gateway ?? {}, name) as unknown });
};
