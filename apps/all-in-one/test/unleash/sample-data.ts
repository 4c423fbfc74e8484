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
  await send('POST', '/api/admin/tag-types', { name: 'undescribed' });
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

/**
 * The shape of a JSON value, as data:
 * - text names types with `|` between them: `string`, `number`, `integer`, `boolean`, `null`, `any`, or `#name` for a named shape;
 * - a list with one shape is a list of such values;
 * - an object has the shapes of its members; `name?` is a member that may be left out, and `*` stands for every other member;
 * - `{ "anyOf": [...] }` is any of the shapes.
 */
export type Shape = string | readonly unknown[] | Readonly<Record<string, unknown>>;

/** The properties and types of a response. */
interface ExpectedResponse {
  readonly status: number;
  /** undefined for a response whose body the client does not read */
  readonly body?: Shape;
  /** optional members of the shape that the response must have: `features[].environments[].name` */
  readonly has?: readonly string[];
}

export interface ExpectedResponses {
  readonly responses: Readonly<Record<string, ExpectedResponse>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (Number.isInteger(value)) return 'integer';
  return typeof value;
};

/** The differences between a value and a shape that a strict generated client would report, one line each. */
export const shapeMismatches = (
  value: unknown,
  shape: Shape,
  shapes: ExpectedResponses['shapes'],
  at = '',
): readonly string[] => {
  if (typeof shape === 'string') {
    const found = shape.split('|').map((type) => {
      if (type === 'any' || type === typeOf(value) || (type === 'number' && typeof value === 'number')) return [];
      if (type.startsWith('#')) return shapeMismatches(value, shapes[type.slice(1)] as Shape, shapes, at);
      return [`${at || '(the response)'} is ${typeOf(value)}, not ${shape}`];
    });
    return found.some((mismatches) => mismatches.length === 0) ? [] : (found[0] ?? []);
  }
  if (!isRecord(shape)) {
    if (!Array.isArray(value)) return [`${at || '(the response)'} is ${typeOf(value)}, not a list`];
    const mismatches = value.flatMap((one) => shapeMismatches(one, shape[0] as Shape, shapes, `${at}[]`));
    return [...new Set(mismatches)];
  }
  if (Array.isArray(shape['anyOf'])) {
    const found = (shape['anyOf'] as readonly Shape[]).map((one) => shapeMismatches(value, one, shapes, at));
    return found.some((mismatches) => mismatches.length === 0) ? [] : (found[0] ?? []);
  }
  if (!isRecord(value)) return [`${at || '(the response)'} is ${typeOf(value)}, not an object`];
  const named = new Set(Object.keys(shape).map((member) => member.replace(/\?$/, '')));
  return Object.entries(shape).flatMap(([member, one]) => {
    const inner = one as Shape;
    if (member === '*')
      return Object.keys(value)
        .filter((name) => !named.has(name))
        .flatMap((name) => shapeMismatches(value[name], inner, shapes, `${at}.*`));
    const name = member.replace(/\?$/, '');
    const where = at === '' ? name : `${at}.${name}`;
    if (Object.hasOwn(value, name)) return shapeMismatches(value[name], inner, shapes, where);
    return member.endsWith('?') ? [] : [`${where} is missing`];
  });
};

const valuesAt = (values: readonly unknown[], step: string): readonly unknown[] => {
  const isList = step.endsWith('[]');
  const name = isList ? step.slice(0, -2) : step;
  return values.flatMap((value) => {
    const found = name === '' ? value : isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return isList ? (Array.isArray(found) ? found : []) : found === undefined ? [] : [found];
  });
};

/** The members that no value has, although there is an object that could have them. */
export const missingMembers = (value: unknown, members: readonly string[]): readonly string[] =>
  members.filter((member) => {
    const steps = member.split('.');
    const last = steps.pop() as string;
    const holders = steps.reduce(valuesAt, [value]).filter(isRecord);
    return holders.length > 0 && !holders.some((holder) => Object.hasOwn(holder, last.replace(/\[\]$/, '')));
  });
