import {
  type ApiToken,
  type CreatedPat,
  type CreatedUser,
  type Events,
  hasBody,
  type Me,
  may,
  isPublicOperation,
  isRead,
  httpOperations,
  permissionsFor,
  type RoleWithPermissions,
  type User,
} from '@bunting/contracts';
import { leastOf } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, expectRefusal, featurePath, platformClient } from '../support/clients.ts';
import { migratedDatabases } from '../support/databases.ts';
import { type OneProcess, startOneProcess } from '../support/platform.ts';

/** The target of a request. All names have the same length, so that responses can be compared. */
interface Target {
  readonly project: string;
  readonly feature: string;
}
const own: Target = { project: 'matrix-own', feature: 'matrix-flag-own' };
const other: Target = { project: 'matrix-oth', feature: 'matrix-flag-oth' };
const hidden: Target = { project: 'matrix-hid', feature: 'matrix-flag-hid' };
const absent: Target = { project: 'matrix-abs', feature: 'matrix-flag-abs' };

interface Credential {
  readonly name: string;
  readonly key: string;
  readonly me: Pick<Me, 'permissions'>;
}

const mounted = httpOperations.flatMap((operation) => {
  const { http } = operation;
  return http === undefined ? [] : [{ operation, http, name: `${http.method} ${http.url}` }];
});
type Mounted = (typeof mounted)[number];

const pathOf = ({ http }: Mounted, { project, feature }: Target): string =>
  http.url.replaceAll(/:(\w+)/g, (_all, name: string) => {
    if (name === 'projectId') return project;
    if (name === 'featureName') return feature;
    if (name === 'environment') return 'development';
    return /id$/i.test(name) ? '987654' : 'nothing';
  });

const roles = [
  'viewer',
  'editor',
  'owner',
  'member',
  'reviewer',
  'owner of another project',
  'custom root role',
  'custom project role',
  'insider',
];

/** Tries every combination instead of a few of each operation: `COMPLETE=true npm test -- authorisation`. */
const isComplete = process.env['COMPLETE'] === 'true';
/** One of some values, in turn by operation, so that over all operations each of them occurs; or all. */
const spread = <T>(one: Mounted, values: readonly T[], offset = 0): readonly T[] => {
  const at = (mounted.indexOf(one) + offset) % values.length;
  return isComplete ? values : values.slice(at, at + 1);
};

const needsKey = ({ operation }: Mounted): boolean => !isPublicOperation(operation);
const isAdministration = ({ http }: Mounted): boolean => http.url.startsWith('/api/admin/');
const isAbout = ({ http }: Mounted): boolean => /:projectId|:featureName/.test(http.url);

/** A response without the values that differ each time, and with the names of each target replaced by those of one. */
const spelled = ({ status, text }: ApiResponse, { project, feature }: Target): string =>
  `${status} ${text}`
    .replaceAll(feature, absent.feature)
    .replaceAll(project, absent.project)
    .replaceAll(/"id":"[0-9a-f-]{36}"/g, '"id":"…"');

describe('authorisation', () => {
  let platform: OneProcess;
  const credentials = new Map<string, Credential>();
  const keys: Record<'none' | 'bad' | 'expired' | 'disabled' | 'revoked' | 'client' | 'frontend', string | null> = {
    none: null,
    bad: 'user:unknown-key',
    expired: null,
    disabled: null,
    revoked: null,
    client: null,
    frontend: null,
  };

  const admin = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, body: response, text } = await platform.api<T>(method, `/api/admin/${path}`, body);
    if (status >= 300) throw new Error(`${method} ${path} answers ${status} ${text}`);
    return response;
  };
  const as = (key: string | null, method: string, path: string, body?: unknown) =>
    platform.api(method, path, body, { authorization: key });

  /** A caller with a token. Administrators can create the first token of a service account only. */
  const createUser = async (
    name: string,
    rootRole: number,
    roles: readonly [Target, number][] = [],
  ): Promise<number> => {
    const { id } = await admin<User>('POST', 'service-account', { username: `matrix ${name}`, rootRole });
    for (const [{ project }, role] of roles)
      await admin('PUT', `projects/${project}/users/${id}/roles`, { roles: [role] });
    const { secret } = await admin<CreatedPat>('POST', `service-account/${id}/token`, { description: 'key' });
    const { body: me } = await platform.api<Me>('GET', '/api/admin/user', undefined, { authorization: secret });
    credentials.set(name, { name, key: secret, me });
    return id;
  };

  const send = (mountedOne: Mounted, key: string | null, target: Target): Promise<ApiResponse> => {
    const { http, operation } = mountedOne;
    const body = hasBody(operation) ? leastOf(operation.body) : undefined;
    return as(key, http.method, pathOf(mountedOne, target), body);
  };
  /** Every operation, some of them concurrently. */
  const each = async (chosen: readonly Mounted[], judge: (one: Mounted) => Promise<void>): Promise<void> => {
    const left = [...chosen];
    const worker = async () => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) await judge(one);
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  };
  /** The objects and events of the platform, which no denied request may change. */
  const everything = async (): Promise<string> => {
    const { body: events } = await platform.api<Events>('POST', '/api/admin/events/search', { limit: 1 });
    const features = await Promise.all(
      [own, other, hidden].map(({ project, feature }) => platform.api('GET', featurePath(project, feature))),
    );
    return JSON.stringify([events.totalEvents, features.map(({ text }) => text)]);
  };
  const unchanged = async (work: () => Promise<void>): Promise<void> => {
    const before = await everything();
    await work();
    expect(await everything()).toBe(before);
  };

  beforeAll(async () => {
    const settings = { GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE: '0' };
    platform = await startOneProcess(settings, await migratedDatabases());
    const client = platformClient(platform.api);
    for (const { project, feature } of [own, other, hidden]) {
      await client.createProject(project, project === hidden.project ? { mode: 'private' } : {});
      await client.createFeature(project, feature);
    }
    const role = (name: string, type: string, permission: string) =>
      admin<RoleWithPermissions>('POST', 'roles', { name, type, permissions: [{ name: permission }] });
    const root = await role('Matrix root', 'root-custom', 'CREATE_SEGMENT');
    const custom = await role('Matrix custom', 'custom', 'UPDATE_FEATURE');
    await createUser('viewer', 3);
    await createUser('editor', 2);
    await createUser('owner', 3, [[own, 4]]);
    await createUser('member', 3, [[own, 5]]);
    await createUser('reviewer', 3, [[own, 7]]);
    await createUser('owner of another project', 3, [[other, 4]]);
    await createUser('custom root role', root.id);
    await createUser('custom project role', 3, [[own, custom.id]]);
    const disabled = await createUser('disabled', 1);
    keys.disabled = credentials.get('disabled')?.key ?? '';
    credentials.delete('disabled');
    await admin('PUT', `service-account/${disabled}`, { active: false });
    await createUser('insider', 3, [[hidden, 6]]);

    const token = async (more: object) =>
      admin<ApiToken>('POST', 'api-tokens', { tokenName: 'matrix', type: 'client', ...more });
    keys.client = (await token({})).secret;
    keys.frontend = (await token({ type: 'frontend' })).secret;
    keys.expired = (await token({ type: 'admin' })).secret;
    await admin('PUT', `api-tokens/${encodeURIComponent(keys.expired)}`, { expiresAt: '2020-01-01T00:00:00Z' });
    keys.revoked = (await token({ type: 'admin' })).secret;
    await admin('DELETE', `api-tokens/${encodeURIComponent(keys.revoked)}`);
    await admin<CreatedUser>('POST', 'user-admin', { username: 'matrix user', rootRole: 3 });
  });
  afterAll(() => platform.stop());

  it('every operation refuses a request without a key, and with a key that is bad, expired, disabled or revoked', () =>
    unchanged(() =>
      each(mounted.filter(needsKey), async (one) => {
        const invalid = spread(one, ['bad', 'expired', 'disabled', 'revoked'] as const);
        for (const which of ['none', ...invalid] as const)
          expectRefusal(await send(one, keys[which], own), 401, 'AuthenticationRequired');
      }),
    ));

  it('only operations that declare it need no key, and they ignore a key that is sent', () =>
    unchanged(async () => {
      const open = mounted.filter((one) => !needsKey(one));
      expect(
        Object.fromEntries(await Promise.all(open.map(async (one) => [one.name, (await send(one, null, own)).status]))),
      ).toEqual({
        'GET /ofrep/v1/events': 400,
        'POST /edge/validate': 200,
        'POST /api/signal-endpoint/:name': 401,
        'POST /api/integrations/slack/:addonId/interactions': 415,
        'POST /unsubscribe': 400,
        'POST /auth/simple/login': 401,
        'GET /auth/first/validate': 400,
        'POST /auth/first': 400,
        'GET /auth/reset/validate': 400,
        'POST /auth/reset/password': 400,
        'POST /auth/reset/validate-password': 400,
        'POST /auth/reset/password-email': 200,
        'GET /invite/:token/validate': 400,
        'POST /invite/:token/signup': 400,
      });
      const sent = [...Object.values(keys), ...[...credentials.values()].map(({ key }) => key)];
      await each(open, async (one) => {
        const response = spelled(await send(one, null, own), own);
        for (const key of sent) expect(spelled(await send(one, key, own), own)).toBe(response);
      });
    }));

  it('every operation of the Admin API refuses the client and frontend tokens of applications', () =>
    unchanged(() =>
      each(mounted.filter(isAdministration), async (one) => {
        for (const which of spread(one, ['client', 'frontend'] as const))
          expectRefusal(await send(one, keys[which], own), 403, 'NoAccessError');
      }),
    ));

  it.each(roles)(
    'the role %s is refused, and changes nothing, without the declared permission in the project of the URL, or in any if the URL names none',
    (name) =>
      unchanged(async () => {
        const { key, me } = credentials.get(name) as Credential;
        const caller = { id: 1, name, grants: me.permissions };
        // If the object has a project that the URL does not name, CHECK_REPLIES detects that an endpoint does not check the permission.
        await each(mounted, async (one) => {
          const wanted = permissionsFor(one.operation);
          const denied = [own, other, hidden, absent].filter((target) => {
            const project = one.http.url.includes(':projectId') ? target.project : undefined;
            const environment = one.http.url.includes(':environment') ? 'development' : undefined;
            return wanted.length > 0 && !may(caller, wanted, { project, environment });
          });
          for (const target of denied.length === 0 ? [] : spread(one, denied, roles.indexOf(name))) {
            const response = await send(one, key, target);
            expectRefusal(response, 403, 'NoAccessError', wanted[0] as string);
            expect(response.body).toMatchObject({ permissions: wanted });
          }
        });
      }),
    60_000,
  );

  /** Expects that an operation responds for what is hidden as for what does not exist. */
  const expectAlike = async (one: Mounted, name: string, there: Target, nowhere: Target): Promise<void> => {
    const { key } = credentials.get(name) as Credential;
    const responses = [
      spelled(await send(one, key, there), hidden),
      spelled(await send(one, key, nowhere), absent),
    ] as const;
    expect([one.name, name, responses[0]]).toEqual([one.name, name, responses[1]]);
  };

  it('every operation responds for a private project as for one that does not exist, whatever the role of the caller', () =>
    unchanged(() =>
      each(mounted.filter(isAbout), async (one) => {
        const others = ['viewer', 'owner', 'member', 'reviewer', 'custom root role', 'custom project role'];
        // An editor may do most of them elsewhere.
        for (const name of ['editor', ...spread(one, others)]) await expectAlike(one, name, hidden, absent);
      }),
    ));

  it('every operation responds for a flag of a private project in the URL of another as for one that does not exist', () =>
    unchanged(() =>
      each(mounted.filter(isAbout), async (one) => {
        if (!one.http.url.includes(':projectId') || !one.http.url.includes(':featureName')) return;
        const { project } = own;
        for (const name of ['owner', ...spread(one, ['viewer', 'editor', 'member'])])
          await expectAlike(one, name, { project, feature: hidden.feature }, { project, feature: absent.feature });
      }),
    ));

  it('no operation changes a flag through the URL of another project', () =>
    unchanged(async () => {
      const { key } = credentials.get('owner') as Credential;
      const writes = mounted.filter(({ http, operation }) => http.url.includes(':featureName') && !isRead(operation));
      await each(writes, async (one) => {
        if (one.http.url.includes(':projectId')) await send(one, key, { ...own, feature: other.feature });
      });
    }));

  it('the token of a deleted environment is refused, and reads no new environment of that name; nor do rights of roles come back', async () => {
    const create = () => admin('POST', 'environments', { name: 'lab', type: 'test' });
    await create();
    await admin('POST', 'projects/default/environments', { environment: 'lab' });
    const { secret } = await admin<{ secret: string }>('POST', 'api-tokens', {
      tokenName: 'lab',
      type: 'client',
      environment: 'lab',
    });
    const permissions = [{ name: 'CREATE_FEATURE' }, { name: 'UPDATE_FEATURE_STRATEGY', environment: 'lab' }];
    const { id } = await admin<{ id: number }>('POST', 'roles', { name: 'Lab', type: 'custom', permissions });
    const status = async () => (await as(secret, 'GET', '/api/client/features')).status;
    expect(await status()).toBe(200);
    await admin('DELETE', 'environments/lab');
    expect(await status()).toBe(401);
    const { tokens } = await admin<{ tokens: { tokenName: string }[] }>('GET', 'api-tokens');
    expect(tokens.map(({ tokenName }) => tokenName)).not.toContain('lab');
    expect(await admin('GET', `roles/${id}`)).toMatchObject({ permissions: [{ name: 'CREATE_FEATURE' }] });
    await create();
    expect(await status()).toBe(401);
    await admin('DELETE', 'environments/lab');
  });

  it('lists show a private project to its members only', async () => {
    const lists = mounted.filter(({ http }) => http.method === 'GET' && !http.url.includes(':'));
    for (const name of ['viewer', 'editor', 'owner']) {
      const { key } = credentials.get(name) as Credential;
      await each(lists, async (one) => {
        if (one.http.url.endsWith('/stream')) return;
        const { text } = await send(one, key, absent);
        expect({ list: one.name, leaked: /matrix-hid|matrix-flag-hid/.exec(text)?.[0] }).toEqual({ list: one.name });
      });
      const { text } = await as(key, 'POST', '/api/admin/events/search', {});
      expect(text).not.toMatch(/matrix-hid|matrix-flag-hid/);
    }
    const { key } = credentials.get('insider') as Credential;
    expect((await as(key, 'GET', featurePath(hidden.project, hidden.feature))).status).toBe(200);
    expect((await as(key, 'GET', '/api/admin/projects')).text).toContain(hidden.project);
    expect((await as(key, 'GET', '/api/admin/search/features')).text).toContain(hidden.feature);
    expect((await as(key, 'POST', '/api/admin/events/search', { project: hidden.project })).text).toContain(
      hidden.feature,
    );
  });
});
