import type { DescribedOperation } from './api-description.ts';
import { type FuzzClient, jsonIn } from './fuzz-client.ts';
import { fuzzAccountName, type KnownObjects, parametersOf, type PathValues } from './known-objects.ts';
import { json, type Keys } from './requests.ts';

const projects = ['default', ...range(7).map((nth) => `fuzz-project-${nth}`)];
const environments = ['development', 'production', 'fuzz-env-0', 'fuzz-env-1'];
/** Environments that no project has, so that they can be deleted. */
const spareEnvironments = range(4).map((nth) => `fuzz-spare-${nth}`);
const featureCount = 48;
/** How many features are created concurrently. */
const featureBatch = 8;
/** How many values of its path parameters a list is read with. */
const readsOfList = 3;

/**
 * Creates the flags, projects and related objects that requests refer to, and reads all lists: at the beginning, and again during a run,
 * because its requests delete some. Creations of objects that still exist are refused, as expected.
 * @param round how often the objects have been created before
 * @returns the key of a user with all permissions, for the operations on a user's own objects: an admin token has no user
 */
export async function populate(
  client: FuzzClient,
  key: string,
  known: KnownObjects,
  operations: readonly DescribedOperation[],
  round: number,
): Promise<Omit<Keys, 'admin'>> {
  /** @returns the body of the response, if it is JSON */
  const send = async <T = Record<string, never>>(
    method: string,
    path: string,
    pathValues: PathValues = {},
    body?: unknown,
    authorization = key,
  ): Promise<T | undefined> => {
    const operation = { method, path: `/api/admin${path}` } as DescribedOperation;
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': json }) };
    const response = await client.send({ operation, pathValues, query: [], headers, body });
    const reply = jsonIn(response);
    if (response.status < 300) known.collect(operation.path, pathValues, reply);
    return reply as T | undefined;
  };
  const post = <T>(path: string, pathValues: PathValues, body: unknown = {}) => send<T>('POST', path, pathValues, body);
  const collect = (path: string, pathValues: PathValues, objects: unknown): void =>
    known.collect(`/api/admin${path}`, pathValues, objects);
  const ofProject = '/projects/{projectId}';
  const ofFeature = `${ofProject}/features/{featureName}`;
  const requests = `${ofProject}/change-requests`;
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];

  const createProject = async (projectId: string): Promise<void> => {
    await post('/projects', {}, { id: projectId, name: `Project ${projectId}` });
    await post('/projects/revive/{projectId}', { projectId });
    for (const environment of environments) {
      await post(`${ofProject}/environments`, { projectId }, { environment });
      collect(`${ofProject}/environments`, { projectId }, { environment });
    }
    for (const environment of spareEnvironments)
      await send('DELETE', `${ofProject}/environments/{environment}`, { projectId, environment });
  };
  const createFeature = async (nth: number): Promise<void> => {
    const featureName = `fuzz-flag-${nth}`;
    const projectId = projects[nth % projects.length] as string;
    const values = { projectId, featureName };
    const environment = environments[(nth >> 3) % environments.length] as string;
    await post('/archive/revive/{featureName}', { featureName });
    await post(`${ofProject}/features`, { projectId }, { name: featureName });
    const strategy = { name: 'flexibleRollout', constraints };
    await post(`${ofFeature}/environments/{environment}/strategies`, { ...values, environment }, strategy);
    await post('/features/{featureName}/tags', { featureName }, { type: 'simple', value: `fuzz-${nth % 5}` });
    collect(`${ofFeature}/environments`, values, [{ environment }]);
    if (nth >= 2 * projects.length) {
      const parent = `fuzz-flag-${nth % projects.length}`;
      await post(`${ofFeature}/dependencies`, values, { feature: parent });
      collect(`${ofFeature}/dependencies`, values, [{ parent }]);
    }
    if (nth % projects.length === 0)
      await post(`${ofFeature}/link`, values, { url: 'https://bunting.invalid/', title: `fuzz ${nth}` });
    // Variants of a feature can be changed only where some exist, and only a batch sets the first ones.
    const variants = [{ name: 'fuzz-variant', weight: 1000, weightType: 'variable', stickiness: 'default' }];
    await send('PUT', `${ofFeature}/variants-batch`, values, { environments, variants });
    if (nth >= projects.length) return;
    const change = { action: 'updateEnabled', feature: featureName, payload: { enabled: true } };
    const request = await post<{ id?: number; features?: { changes: object[] }[] }>(
      `${ofProject}/environments/{environment}/change-requests`,
      { projectId, environment },
      change,
    );
    collect(requests, { projectId }, [request]);
    // A reply lists changes below their feature; an edit has to name the feature again.
    const changes = request?.features?.[0]?.changes.map((one) => ({ ...one, feature: featureName }));
    collect(`${requests}/{id}/changes`, { projectId, id: String(request?.id) }, changes);
  };
  /** Creates and applies a change request, so that later requests can revert it or try to set an earlier state. */
  const applyChangeRequest = async (projectId: string, nth: number): Promise<void> => {
    const change = { action: 'updateEnabled', feature: `fuzz-flag-${nth}`, payload: { enabled: round % 2 === 0 } };
    const path = `${ofProject}/environments/{environment}/change-requests`;
    const request = await post<{ id?: number }>(path, { projectId, environment: 'production' }, change);
    for (const state of ['In review', 'Approved', 'Applied'])
      await send('PUT', `${requests}/{id}/state`, { projectId, id: String(request?.id) }, { state });
  };

  for (const name of [...environments, ...spareEnvironments]) {
    await post('/environments', {}, { name, type: 'development' });
    await post('/environments/{name}/on', { name });
  }
  await Promise.all(projects.map(createProject));
  await post('/context', {}, { name: 'fuzz-field' });
  await post('/tag-types', {}, { name: 'fuzz-type' });
  await post('/segments', {}, { name: 'fuzz-segment', constraints });
  for (const nth of range(6))
    await post('/user-admin', {}, { email: `fuzz-${nth}@example.org`, rootRole: 1 + (nth % 3) });
  for (const nth of range(3)) {
    await post('/groups', {}, { name: `fuzz-group-${nth}` });
    await post('/roles', {}, { name: `fuzz-role-${nth}`, permissions: [{ name: 'CREATE_FEATURE' }] });
    const machine = { username: `fuzz-machine-${nth}`, rootRole: 3 };
    const { id } = (await post<{ id?: number }>('/service-account', {}, machine)) ?? {};
    if (id !== undefined) await post('/service-account/{id}/token', { id: String(id) }, { description: `fuzz-${nth}` });
  }
  // Disabled, and to a host that does not exist: a run sends nothing.
  const parameters = { url: 'https://bunting.invalid/' };
  for (const event of ['feature-created', 'feature-archived', 'project-created', 'segment-created'])
    await post('/addons', {}, { provider: 'webhook', enabled: false, events: [event], parameters });
  const endpoint = await post<{ id?: number }>('/signal-endpoints', {}, { name: `fuzz-${round}`, enabled: true });
  if (endpoint?.id !== undefined)
    await post(
      '/signal-endpoints/{signalEndpointId}/tokens',
      { signalEndpointId: String(endpoint.id) },
      { name: `fuzz-${round}` },
    );
  for (const type of ['client', 'frontend']) {
    const token = { tokenName: `fuzz-${type}`, type, environment: 'development', projects: ['default'] };
    await post('/api-tokens', {}, token);
    await post(`${ofProject}/api-tokens`, { projectId: 'default' }, token);
  }
  for (let from = 0; from < featureCount; from += featureBatch)
    await Promise.all(range(featureBatch).map((nth) => createFeature(from + nth)));
  await Promise.all(projects.map(applyChangeRequest));

  // Requests under way may still use the key of the previous round, so its account is not replaced yet.
  const username = `${fuzzAccountName}-${round % 3}`;
  const accounts = await send<{ serviceAccounts?: { id: number; username?: string }[] }>('GET', '/service-account');
  for (const { id } of accounts?.serviceAccounts?.filter((account) => account.username === username) ?? [])
    await send('DELETE', '/service-account/{id}', { id: String(id) });
  const robot = await post<{ id: number }>('/service-account', {}, { username, name: username, rootRole: 1 });
  const personalId = String(robot?.id);
  const description = fuzzAccountName;
  const expiresAt = '2040-01-01T00:00:00.000Z';
  const token = await post<{ secret: string }>(
    '/service-account/{id}/token',
    { id: personalId },
    { description, expiresAt },
  );
  const personal = token?.secret ?? key;
  for (const nth of range(2)) await send('POST', '/user/tokens', {}, { description: `fuzz-${round}-${nth}` }, personal);

  const lists = operations
    .filter(({ method, path }) => method === 'GET' && !path.endsWith('}'))
    .toSorted((one, other) => one.path.length - other.path.length);
  for (const operation of lists) {
    const names = parametersOf(operation.path);
    const places = known
      .pathValuesOf(operation.path)
      .filter((values) => names.every((name) => values[name] !== undefined));
    for (const pathValues of names.length === 0 ? [{}] : places.slice(-readsOfList)) {
      const request = { operation, pathValues, query: [], headers: { authorization: personal }, body: undefined };
      const response = await client.send(request);
      if (response.status === 200) known.collect(operation.path, pathValues, jsonIn(response));
    }
  }
  return { personal, personalId };
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, nth) => nth);
}
