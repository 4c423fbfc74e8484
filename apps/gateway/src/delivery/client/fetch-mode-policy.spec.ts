import { describe, expect, it } from 'vitest';
import { fetchModePolicy } from './polls.ts';

const answer = { status: 200, headers: { etag: '"7"', 'content-type': 'application/json' } };
const sdk = (id: string, spec = '5.2.0') => ({ 'unleash-connection-id': id, 'unleash-client-spec': spec });

describe('moving SDKs between polling and streaming', () => {
  it('sends an SDK that supports it to the stream once, without a tag for the body that it ignores', () => {
    const { directToStream } = fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: 'streaming' });
    const headers = { 'content-type': 'application/json', 'fetch-mode': 'streaming' };
    for (const id of ['one', 'two']) expect(directToStream(answer, sdk(id))).toEqual({ status: 200, headers });
    expect(directToStream(answer, sdk('newer', '6'))).toEqual({ status: 200, headers });
    expect(directToStream(answer, sdk('one'))).toBe(answer);
  });

  it('changes no response to an SDK that does not support it, that names no connection, or that has everything', () => {
    const { directToStream } = fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: 'streaming' });
    for (const spec of ['', '4.3.0', '5', '5.1.9', 'nonsense'])
      expect(directToStream(answer, sdk('old', spec))).toBe(answer);
    for (const id of ['', 'x'.repeat(101)]) expect(directToStream(answer, sdk(id))).toBe(answer);
    expect(directToStream(answer, {})).toBe(answer);
    const unchanged = { ...answer, status: 304 };
    expect(directToStream(unchanged, sdk('current'))).toBe(unchanged);
  });

  it('sends SDKs that stream to polling only if that is set', () => {
    const preambleOf = (mode: 'as-requested' | 'polling' | 'streaming') =>
      fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: mode }).streamPreamble;
    expect(preambleOf('polling')).toBe('event: fetch-mode\ndata: polling\n\n');
    expect([preambleOf('as-requested'), preambleOf('streaming')]).toEqual([undefined, undefined]);
    expect(fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: 'polling' }).directToStream(answer, sdk('one'))).toBe(answer);
  });
});
