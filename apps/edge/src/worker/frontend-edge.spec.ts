import { eventually } from '@bunting/testing';
import { expect, it, onTestFinished } from 'vitest';
import { flag, startSimulatedOrigin } from '../../test/simulated-origin.ts';
import { frontendEdge } from './frontend-edge.ts';

const clientToken = 'default:development.client';
const frontendToken = 'default:development.frontend';

async function startOrigin() {
  const origin = await startSimulatedOrigin();
  onTestFinished(() => origin.stop());
  origin.tokens.add(clientToken);
  origin.state.data.put(flag('one'));
  const frontend = { token: frontendToken, type: 'frontend', environment: 'development', projects: ['*'] };
  origin.state.lie = ({ url }, response) => {
    const { tokens = [] } = (origin.bodies.at(-1)?.body ?? {}) as { readonly tokens?: readonly string[] };
    if (url !== '/edge/validate' || !tokens.includes(frontendToken)) return false;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ tokens: [frontend] }));
    return true;
  };
  return origin;
}

function aRequest(): Request {
  return new Request('http://edge/api/frontend', { headers: { authorization: frontendToken } });
}

it('asks the origin once for what many first requests need', async () => {
  const origin = await startOrigin();
  const respond = frontendEdge({ upstreamUrl: origin.url.href, tokens: [clientToken] });
  // More than the unknown tokens that are validated at the same time: all of them have the same one.
  const responses = await Promise.all(Array.from({ length: 100 }, () => respond(aRequest())));
  expect([...new Set(responses.map(({ status }) => status))]).toEqual([200]);
  expect(origin.requests.map(({ url }) => url)).toEqual(['/edge/validate', '/edge/validate', '/api/client/features']);
});

it('serves nothing any more of a client token that the origin has revoked, although the store still has it', async () => {
  const origin = await startOrigin();
  const texts = new Map<string, string>();
  const store = {
    get: async (key: string) => texts.get(key) ?? null,
    put: async (key: string, text: string) => {
      if ((JSON.parse(text) as { readonly text: unknown }).text === null) throw new Error('The store is away.');
      texts.set(key, text);
    },
  };
  const respond = frontendEdge({ upstreamUrl: origin.url.href, tokens: [clientToken], refreshMs: 10, store });
  const statusOf = async () => (await respond(aRequest())).status;
  expect(await statusOf()).toBe(200);
  origin.tokens.delete(clientToken);
  await eventually(async () => expect(await statusOf()).toBe(503));
  await origin.goAway();
  expect(await statusOf()).toBe(503);
});
