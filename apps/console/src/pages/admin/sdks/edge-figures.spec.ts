import { expect, it } from 'vitest';
import { edgeFigures, staleText } from './edge-figures.ts';

const edge = { identifier: 'a', appName: 'edge', edgeVersion: '1' };

it('sums the requests of an edge, and says how long its origin takes', () => {
  expect(
    edgeFigures({
      ...edge,
      connectedStreamingClients: 2,
      requestsSinceLastReport: {
        '/api/client/features': { requests200: 1, requests304: 4 },
        '/api/frontend': { requests200: 5 },
      },
      latencyUpstream: { features: { avg: 12.5, count: 3, p99: 20 } },
      errorsSinceLastReport: { upstream: 2, responses: 1 },
    }),
  ).toEqual({ streams: 2, requests: 10, latencyMs: 12.5, errors: 3 });
});

it.each([
  {},
  { requestsSinceLastReport: 'many', latencyUpstream: 7 },
  {
    requestsSinceLastReport: { a: null, b: { requests200: 'x' } },
    latencyUpstream: { features: { avg: null, count: 0 } },
  },
])('counts nothing where a report has no numbers: %j', (report) => {
  expect(edgeFigures({ ...edge, ...report })).toEqual({ streams: 0, requests: 0, latencyMs: undefined, errors: 0 });
});

it.each([
  [1, '1 second'],
  [100_000, '100 seconds'],
  [600_000, '10 minutes'],
  [86_400_000, '24 hours'],
])('says %i ms as %s', (ms, text) => {
  expect(staleText(ms)).toBe(text);
});
