import type { DescribedOperation } from './api-description.ts';
import { type FuzzClient, jsonIn } from './fuzz-client.ts';
import { type KnownObjects, fuzzAccountName } from './known-objects.ts';
import { seededRandom } from '../seeded-random.ts';
import type { Keys } from './valid-requests.ts';

const json = 'application/json';
const projects = ['default', ...Array.from({ length: 7 }, (_, nth) => `fuzz-project-${nth}`)];
const environments = ['development', 'production', 'fuzz-env-0', 'fuzz-env-1'];
/** Environments that no project has, so that they can be deleted. */
const spareEnvironments = ['fuzz-spare-0', 'fuzz-spare-1', 'fuzz-spare-2', 'fuzz-spare-3'];
const featureCount = 48;
/** How many features are created concurrently. */
const featureBatch = 8;

interface Account {
  readonly id: number;
  readonly username?: string | null;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth);

/**
 * Creates the flags, projects and related objects that requests refer to: at the beginning, and again during a run, because its requests
 * delete some. Creations of objects that still exist are refused, as expected.
 * @param round how often the objects have been created before
 * @returns the key of a user with all permissions, for the operations on a user's own objects: an admin token has no user
 */
export const populate = async (
  client: FuzzClient,
  key: string,
  known: KnownObjects,
  round: number,
): Promise<Omit<Keys, 'admin'>> => {
  const authorization = { authorization: key };
  const headers = { ...authorization, 'content-type': json };
  /** @returns the body of the response, if it is JSON */
  const send = async (method: string, path: string, pathValues: Readonly<Record<string, string>>, body: unknown) => {
    const operation = { method, path: `/api/admin${path}` } as DescribedOperation;
    const response = await client.send({
      operation,
      pathValues,
      query: [],
      headers: body === undefined ? authorization : headers,
      body,
    });
    const responseBody = jsonIn(response);
    if (response.status < 300) known.collect(operation.path, pathValues, responseBody);
    return responseBody;
  };
  const post = (path: string, pathValues: Readonly<Record<string, string>>, body: unknown = {}) =>
    send('POST', path, pathValues, body);

  for (const name of [...environments, ...spareEnvironments]) {
    await post('/environments', {}, { name, type: 'development' });
    await post('/environments/{name}/on', { name });
  }
  await Promise.all(
    projects.map(async (projectId) => {
      await post('/projects', {}, { id: projectId, name: `Project ${projectId}` });
      await post('/projects/revive/{projectId}', { projectId });
      for (const environment of environments) {
        await post('/projects/{projectId}/environments', { projectId }, { environment });
        known.collect('/api/admin/projects/{projectId}/environments', { projectId }, { environment });
      }
    }),
  );
  await Promise.all(
    projects.flatMap((projectId) =>
      spareEnvironments.map((environment) =>
        send('DELETE', '/projects/{projectId}/environments/{environment}', { projectId, environment }, undefined),
      ),
    ),
  );
  await post('/context', {}, { name: 'fuzz-field' });
  await post('/tag-types', {}, { name: 'fuzz-type' });
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];
  await post('/segments', {}, { name: 'fuzz-segment', constraints });

  const createFeature = async (nth: number): Promise<void> => {
    const name = `fuzz-flag-${nth}`;
    const projectId = projects[nth % projects.length] as string;
    const pathValues = { projectId, featureName: name };
    const environment = environments[(nth >> 3) % environments.length] as string;
    await post('/archive/revive/{featureName}', { featureName: name });
    await post('/projects/{projectId}/features', { projectId }, { name });
    await post(
      '/projects/{projectId}/features/{featureName}/environments/{environment}/strategies',
      { ...pathValues, environment },
      { name: 'flexibleRollout', constraints },
    );
    await post('/features/{featureName}/tags', { featureName: name }, { type: 'simple', value: `fuzz-${nth % 5}` });
    const featurePath = '/projects/{projectId}/features/{featureName}';
    known.collect(`/api/admin${featurePath}/environments`, pathValues, { environment });
    if (nth >= 2 * projects.length) {
      const parent = `fuzz-flag-${nth % projects.length}`;
      await post(`${featurePath}/dependencies`, pathValues, { feature: parent });
      known.collect(`/api/admin${featurePath}/dependencies`, pathValues, { parent });
    }
    // Variants of a feature can be changed only where some exist, and only a batch sets the first ones.
    const variants = [{ name: 'fuzz-variant', weight: 1000, weightType: 'variable', stickiness: 'default' }];
    await send('PUT', `${featurePath}/variants-batch`, pathValues, { environments, variants });
    if (nth >= projects.length) return;
    const change = { action: 'updateEnabled', feature: name, payload: { enabled: true } };
    const changeRequest = await post(
      '/projects/{projectId}/environments/{environment}/change-requests',
      { projectId, environment },
      change,
    );
    known.collect('/api/admin/projects/{projectId}/change-requests', { projectId }, changeRequest);
    const { id, features } = (changeRequest ?? {}) as { id?: number; features?: { changes: object[] }[] };
    // A reply lists changes below their feature; an edit has to name the feature again.
    const changes = features?.[0]?.changes.map((one) => ({ ...one, feature: name }));
    known.collect(
      '/api/admin/projects/{projectId}/change-requests/{id}/changes',
      { projectId, id: String(id) },
      changes,
    );
  };
  /** Creates and applies a change request, so that later requests can revert it or try to set an earlier state. */
  const applyChangeRequest = async (projectId: string, nth: number): Promise<void> => {
    const environment = 'production';
    const change = { action: 'updateEnabled', feature: `fuzz-flag-${nth}`, payload: { enabled: round % 2 === 0 } };
    const path = '/projects/{projectId}/environments/{environment}/change-requests';
    const { id } = ((await post(path, { projectId, environment }, change)) ?? {}) as { id?: number };
    for (const state of ['In review', 'Approved', 'Applied'])
      await send('PUT', '/projects/{projectId}/change-requests/{id}/state', { projectId, id: String(id) }, { state });
  };
  for (const nth of range(6))
    await post('/user-admin', {}, { email: `fuzz-${nth}@example.org`, rootRole: 1 + (nth % 3) });
  for (const nth of range(3)) {
    await post('/groups', {}, { name: `fuzz-group-${nth}` });
    await post('/roles', {}, { name: `fuzz-role-${nth}`, permissions: [{ name: 'CREATE_FEATURE' }] });
    const account = (await post('/service-account', {}, { username: `fuzz-machine-${nth}`, rootRole: 3 })) as Account;
    const id = String(account?.id);
    if (id !== 'undefined') await post('/service-account/{id}/token', { id }, { description: `fuzz-${nth}` });
  }
  for (const type of ['client', 'frontend']) {
    const token = { tokenName: `fuzz-${type}`, type, environment: 'development', projects: ['default'] };
    await post('/api-tokens', {}, token);
    await post('/projects/{projectId}/api-tokens', { projectId: 'default' }, token);
  }
  for (let from = 0; from < featureCount; from += featureBatch)
    await Promise.all(range(featureBatch).map((nth) => createFeature(from + nth)));
  await Promise.all(projects.map(applyChangeRequest));

  // Requests under way may still use the key of the previous round, so its account is not replaced yet.
  const username = `${fuzzAccountName}-${round % 3}`;
  const accounts = (await send('GET', '/service-account', {}, undefined)) as
    { serviceAccounts?: Account[] } | undefined;
  for (const { id } of accounts?.serviceAccounts?.filter((account) => account.username === username) ?? []) {
    await send('DELETE', '/service-account/{id}', { id: String(id) }, undefined);
  }
  const robotAccount = (await post('/service-account', {}, { username, name: username, rootRole: 1 })) as
    Account | undefined;
  const token = { description: fuzzAccountName, expiresAt: '2040-01-01T00:00:00.000Z' };
  const createToken = { method: 'POST', path: '/api/admin/service-account/{id}/token' } as DescribedOperation;
  const personalId = String(robotAccount?.id);
  const response = await client.send({
    operation: createToken,
    pathValues: { id: personalId },
    query: [],
    headers,
    body: token,
  });
  const personal = (jsonIn(response) as { secret?: string } | undefined)?.secret ?? key;
  const createPersonalToken = { method: 'POST', path: '/api/admin/user/tokens' } as DescribedOperation;
  for (const nth of range(2)) {
    const body = { description: `fuzz-${round}-${nth}` };
    await client.send({
      operation: createPersonalToken,
      pathValues: {},
      query: [],
      headers: { ...headers, authorization: personal },
      body,
    });
  }
  return { personal, personalId };
};

/** Reads the lists of the API, each for some values of its path parameters, and collects the objects in the responses. */
export const readKnownObjects = async (
  client: FuzzClient,
  key: string,
  operations: readonly DescribedOperation[],
  known: KnownObjects,
): Promise<void> => {
  const random = seededRandom(1);
  const lists = operations
    .filter(({ method, path }) => method === 'GET' && !path.endsWith('}'))
    .toSorted((one, other) => one.path.length - other.path.length);
  for (const operation of lists) {
    for (const _ of range(operation.pathParameters.length === 0 ? 1 : 3)) {
      const pathValues = known.pickPathValues(operation.path, random);
      if (operation.pathParameters.some(({ name }) => pathValues[name] === undefined)) continue;
      const request = { operation, pathValues, query: [], headers: { authorization: key }, body: undefined };
      const response = await client.send(request);
      if (response.status === 200) known.collect(operation.path, pathValues, jsonIn(response));
    }
  }
};
