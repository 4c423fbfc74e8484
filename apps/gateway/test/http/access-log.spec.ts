import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { servicesBehind } from '../access-api.ts';
import { adminToken, type StartedGateway, startedGateway } from '../started-gateway.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const viewer = 'user:a-canary-in-the-authorization-header';

let nth = 0;

const gateway = startedGateway({ level: 'trace' });
beforeAll(async () => {
  await gateway.behind(servicesBehind().endpoints);
  await gateway.givenToken({ token: viewer, role: 'viewer' });
});

beforeEach(() => void nth++);

const lineOf = async (
  path: string,
  init: Parameters<StartedGateway['send']>[1] = {},
): Promise<Record<string, unknown>> => {
  const requestId = `request-${nth}`;
  const headers = {
    ...(init.headers as object),
    'x-request-id': requestId,
    traceparent: `00-${traceId}-b7ad6b7169203331-01`,
  };
  await (await gateway.send(path, { ...init, headers })).text();
  return eventually(() => {
    const found = gateway.lines.filter((line) => line['requestId'] === requestId);
    expect(found).toHaveLength(1);
    return found[0] as Record<string, unknown>;
  });
};

describe('the access log', () => {
  it('has one line per request, with the route instead of the URL', async () => {
    const line = await lineOf('/api/admin/projects/default/features/one?variantEnvironments=true');
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      service: 'gateway',
      method: 'GET',
      route: '/api/admin/projects/:projectId/features/:featureName',
      status: 200,
      outcome: 'ok',
      durationMs: expect.any(Number),
      caller: -42,
      requestId: `request-${nth}`,
      trace_id: traceId,
    });
  });

  it('names the kind and the id of a refusal', async () => {
    expect(await lineOf('/api/admin/projects/default/features/gone')).toMatchObject({
      level: 'info',
      status: 404,
      outcome: 'NotFoundError',
      errorId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    nth++;
    expect(await lineOf('/nosuch')).toMatchObject({ route: '(unknown)', status: 404 });
    nth++;
    const withoutKey = await lineOf('/api/admin/projects', { key: null });
    expect(withoutKey).toMatchObject({ status: 401, outcome: 'AuthenticationRequired' });
    expect(withoutKey).not.toHaveProperty('caller');
  });

  it('names the error of the HTTP library that refused a request', async () => {
    const headers = { range: 'bytes=999999999-' };
    const line = await lineOf('/docs/assets/swagger-ui.css', { key: null, headers });
    expect(line).toMatchObject({ outcome: 'ValidationError', libraryError: 'RangeNotSatisfiableError' });
  });

  it('contains no token, body or query', async () => {
    const secret = 'a-canary-in-the-body';
    const patch = '/api/admin/projects/default/features/one/environments/development/strategies/4f0b';
    await lineOf(patch, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: `[{"op":"${secret}"}]`,
    });
    nth++;
    await lineOf('/api/admin/search/features?query=a-canary-in-the-query', { key: viewer });
    nth++;
    await lineOf(patch, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '[]', key: viewer });
    nth++;
    await lineOf('/api/admin/projects', { key: 'a-canary-that-is-no-key' });
    expect(gateway.logged()).not.toContain('canary');
    expect(gateway.logged()).not.toContain(adminToken.slice(4));
  });
});

describe('the metrics', () => {
  it('measure the duration of requests by route and status, without names of users', async () => {
    await lineOf('/api/admin/projects/secret-project/features/secret-feature');
    const response = await gateway.send('/internal-backstage/prometheus', { key: null });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const text = await response.text();
    expect(text).toMatch(
      /http_request_duration_seconds_count\{service="gateway",route="\/api\/admin\/projects\/:projectId\/features\/:featureName",method="GET",status="200".*\} \d/,
    );
    expect(text).not.toMatch(/secret-|canary/);
  });
});
