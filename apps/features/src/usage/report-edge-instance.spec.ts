import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ListEdgeInstances, ReportEdgeInstance } from '@bunting/contracts';
import { callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
});
afterAll(() => features.stop());
const sql = (text: string) => features.database.transaction(({ query }) => query(text));
beforeEach(() => sql('truncate edge_instance'));

const edge = callerWith({ permission: 'CLIENT' });
const report = (body: { identifier: string } & Record<string, unknown>, caller = edge) =>
  features.call(ReportEdgeInstance, { body: { appName: 'edge', edgeVersion: '19.15.1', ...body } }, caller);
const edges = async () => (await features.call(ListEdgeInstances, {})).edges;

it('shows the latest report of each Edge with all that it sent, the latest first', async () => {
  const traffic = { get: { '/api/client/features': { requests200: 7 } }, cachedResponses: {} };
  await report({ identifier: 'a', connectedStreamingClients: 1 });
  await report({ identifier: 'b', region: 'eu', traffic, connectedEdges: [{ identifier: 'c' }] });
  await report({ identifier: 'a', connectedStreamingClients: 3 });
  expect(await edges()).toEqual([
    {
      identifier: 'a',
      appName: 'edge',
      edgeVersion: '19.15.1',
      connectedStreamingClients: 3,
      reportedAt: expect.any(String),
    },
    expect.objectContaining({ identifier: 'b', region: 'eu', traffic, connectedEdges: [{ identifier: 'c' }] }),
  ]);
});

it('ignores further Edges when a thousand are stored', async () => {
  await sql(`insert into edge_instance select 'edge-' || nth, '{"identifier": "x", "appName": "edge", "edgeVersion": "1"}', now()
    from generate_series(1, 1000) as nth`);
  await report({ identifier: 'one more' });
  await report({ identifier: 'edge-1', region: 'eu' });
  const listed = await edges();
  expect(listed).toHaveLength(1_000);
  expect(listed[0]).toMatchObject({ identifier: 'edge-1', region: 'eu' });
});

it('lists the latest reports that fit into a reply', async () => {
  await sql(`insert into edge_instance
    select 'edge-' || nth, jsonb_build_object('identifier', 'edge-' || nth, 'appName', 'edge', 'edgeVersion', '1', 'more', repeat('x', 1024 * 1024)),
      now() - nth * interval '1 second'
    from generate_series(1, 12) as nth`);
  const listed = (await edges()).map(({ identifier }) => identifier);
  expect(listed).toEqual(Array.from({ length: 7 }, (_, nth) => `edge-${nth + 1}`));
});

it('refuses a report without the permission of an application', async () => {
  await expect(report({ identifier: 'a' }, callerWith({ permission: 'CREATE_FEATURE' }))).rejects.toMatchObject({
    kind: 'NoAccessError',
  });
});
