/** Sends a request as a user with the role Admin. @returns the body of a successful response */
export type SendAsAdmin = (method: string, path: string, body?: unknown, key?: string) => Promise<unknown>;

/** The values of path parameters, by their names, and the SDK tokens, by their types. */
export type SampleIds = Readonly<Record<string, string>>;

const feature = '/api/admin/projects/default/features';

/** Creates an object of each kind on a fresh server, Unleash or Bunting, so that its lists are not empty. */
export const createSampleData = async (send: SendAsAdmin): Promise<SampleIds> => {
  const constraint = { contextName: 'userId', operator: 'IN', values: ['7'] };
  const segment = (await send('POST', '/api/admin/segments', { name: 'fitting', constraints: [constraint] })) as {
    id: number;
  };
  for (const name of ['parent', 'child', 'archived'])
    await send('POST', feature, { name, description: `of the test: ${name}`, type: 'release', impressionData: true });
  const variant = {
    weight: 1000,
    weightType: 'variable',
    stickiness: 'default',
    payload: { type: 'string', value: 'v' },
  };
  const strategy = (await send('POST', `${feature}/child/environments/development/strategies`, {
    name: 'flexibleRollout',
    title: 'Everyone',
    constraints: [constraint],
    parameters: { rollout: '100', stickiness: 'default', groupId: 'child' },
    segments: [segment.id],
    variants: [{ name: 'blue', ...variant }],
  })) as { id: string };
  await send('POST', `${feature}/child/environments/development/on`);
  await send('POST', '/api/admin/features/child/tags', { type: 'simple', value: 'fitting' });
  await send('POST', `${feature}/child/dependencies`, { feature: 'parent' });
  await send('POST', `${feature}/child/favorites`);
  await send('DELETE', `${feature}/archived`);
  const user = (await send('POST', '/api/admin/user-admin', {
    username: 'chuck',
    name: 'Chuck',
    email: 'chuck@example.org',
    rootRole: 2,
    sendEmail: false,
  })) as { id: number };
  await send('POST', '/api/admin/user/tokens', { description: 'fitting', expiresAt: '2040-01-01T00:00:00.000Z' });
  const token = async (type: string) =>
    (
      (await send('POST', '/api/admin/api-tokens', {
        tokenName: `of-${type}`,
        type,
        environment: 'development',
        projects: ['default'],
        expiresAt: '2040-01-01T00:00:00.000Z',
      })) as { secret: string }
    ).secret;
  const [client, frontend] = [await token('client'), await token('frontend')];
  const appName = 'fitting-app';
  const at = new Date().toISOString();
  await send(
    'POST',
    '/api/client/register',
    { appName, instanceId: 'i', sdkVersion: 'node:6.0.0', strategies: ['default'], started: at, interval: 1000 },
    client,
  );
  await send(
    'POST',
    '/api/client/metrics',
    {
      appName,
      instanceId: 'i',
      bucket: { start: at, stop: at, toggles: { child: { yes: 2, no: 1, variants: { blue: 2 } } } },
    },
    client,
  );
  return {
    projectId: 'default',
    featureName: 'child',
    child: 'child',
    parent: 'parent',
    environment: 'development',
    strategyId: strategy.id,
    segmentId: String(segment.id),
    userId: String(user.id),
    appName,
    client,
    frontend,
  };
};

const namesBelow: Readonly<Record<string, string>> = {
  '/api/admin/api-tokens/': 'of-client',
  '/api/admin/client-metrics/features/': 'child',
  '/api/admin/context/': 'userId',
  '/api/admin/environments/': 'development',
  '/api/admin/strategies/': 'flexibleRollout',
  '/api/admin/tag-types/': 'simple',
};
const queries: Readonly<Record<string, string>> = {
  '/api/admin/user/roles': '?projectId=default',
  '/api/admin/user-admin/search': '?q=chuck',
  '/api/admin/search/features': '?query=child',
  '/api/admin/user-admin/{id}/permissions': '?project=default&environment=development',
};

/** The path of a read operation in Unleash's OpenAPI document, with its parameters replaced by the sample's values. */
export const samplePath = (url: string, ids: SampleIds): string => {
  const below = Object.keys(namesBelow).find((path) => url.startsWith(path)) ?? '';
  const parameters: SampleIds = {
    ...ids,
    name: namesBelow[below] ?? '',
    contextField: 'userId',
    type: 'simple',
    value: 'fitting',
    id: (url.startsWith('/api/admin/user-admin/') ? ids['userId'] : ids['segmentId']) ?? '',
  };
  const path = url.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(parameters[name] ?? name));
  return `${path}${queries[url] ?? ''}`;
};
