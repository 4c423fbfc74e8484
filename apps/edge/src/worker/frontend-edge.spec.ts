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
