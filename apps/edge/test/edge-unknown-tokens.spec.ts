import { afterEach, expect, it } from 'vitest';
import { startChangingOrigin, token } from './changing-origin.ts';
import { startEdge } from './started-edge.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

it('asks the origin for no further tokens of an address that has sent too many invalid ones, and serves it with known ones', async () => {
  const { origin } = await startChangingOrigin(stops, JSON.stringify);
  const { url } = await startEdge(stops, {
    UPSTREAM_URL: origin.url.href,
    TOKENS: token,
    STRICT: 'false',
    GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '3',
  });
  const known = 'default:development.knownbefore';
  const late = 'default:development.validbutlate';
  for (const valid of [known, late]) origin.tokens.add(valid);
  const statusWith = async (authorization: string): Promise<number> =>
    (await fetch(`${url}/api/client/features`, { headers: { authorization } })).status;
  const askedFor = (name: string): boolean => JSON.stringify(origin.bodies).includes(name);

  expect(await statusWith(known)).toBe(200);
  for (let nth = 0; nth < 3; nth++) expect(await statusWith(`default:development.unknown-${nth}`)).toBe(401);
  for (const refused of ['default:development.unknown-3', late]) {
    expect(await statusWith(refused)).toBe(429);
    expect(askedFor(refused)).toBe(false);
  }
  expect(askedFor('unknown-2')).toBe(true);
  for (const served of [token, known]) expect(await statusWith(served)).toBe(200);
});

it('tells an edge behind it of hundreds of tokens at once which of them are valid', async () => {
  const { origin } = await startChangingOrigin(stops, JSON.stringify);
  const { url } = await startEdge(stops, { UPSTREAM_URL: origin.url.href, TOKENS: token, STRICT: 'false' });
  const tokens = Array.from({ length: 250 }, (_, nth) => `default:development.behind-${nth}`);
  for (const valid of [tokens[0], tokens[249]]) origin.tokens.add(valid ?? '');
  const response = await fetch(`${url}/edge/validate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tokens }),
  });
  const body = (await response.json()) as { readonly tokens?: readonly { readonly token: string }[] };
  expect(body.tokens?.map((valid) => valid.token)).toEqual([tokens[0], tokens[249]]);
});
