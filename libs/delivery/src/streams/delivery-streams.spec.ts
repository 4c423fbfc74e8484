import { adminTokenUserId } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PassThrough } from 'node:stream';
import { Registry } from 'prom-client';
import type { Principal } from '@bunting/http';
import type { DeliveryView } from '../view/delivery-view.ts';
import { streamMetrics, deliveryStreams, type DeliveryStreamsOptions } from './delivery-streams.ts';

const options = (): DeliveryStreamsOptions => ({
  delivery: {
    store: { epoch: 0, position: 0, hasEnvironment: () => true },
    isLoaded: true,
    viewOf: () => ({}) as DeliveryView,
    catchUp: () => 0,
    onChange: () => undefined,
  } as unknown as DeliveryStreamsOptions['delivery'],
  config: {
    GATEWAY_MAX_SDK_STREAMS: 10,
    GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: 10,
    GATEWAY_MAX_STREAM_SECONDS: 600,
    GATEWAY_STREAM_KEEP_ALIVE_SECONDS: 60,
  },
  limits: { clientOf: () => undefined, responseSent: () => undefined },
  unread: { add: () => () => undefined },
  metrics: streamMetrics(new Registry()),
  draining: new AbortController().signal,
  drainDelayMs: 0,
});

const principalOf = (name: string): Principal => ({
  caller: { id: adminTokenUserId, name, tokenId: 'token', grants: [] },
  isPublic: false,
  mayCallAdminApi: false,
  expiresInMs: Number.POSITIVE_INFINITY,
});

describe('streams of one token', () => {
  it('end when their rights are lost, also one that was authorised just before and opened just after the loss', async () => {
    const streams = deliveryStreams(options());
    let principal = principalOf('with rights');
    let checks = 0;
    const open = (mayContinue: (now: Principal) => boolean) => {
      const raw = Object.assign(new PassThrough(), { writeHead: () => undefined });
      raw.resume();
      const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
      streams.open({ method: 'GET', ip: '192.0.2.1' } as FastifyRequest, reply, {
        kind: 'sdk',
        scope: { environment: 'development' } as never,
        first: { id: 0, data: '{}' },
        changesAfter: () => undefined,
        credential: { key: 'token', authenticate: () => (checks++, principal) },
        mayContinue,
      });
      return raw;
    };
    const check = async (): Promise<void> => {
      const before = checks;
      streams.checkTokens();
      await eventually(() => expect(checks).toBeGreaterThan(before));
    };
    const lasting = open(() => true);
    await check();
    principal = principalOf('without rights');
    await check();
    const late = open(({ caller }) => caller.name === 'with rights');
    streams.checkTokens();
    await eventually(() => expect([lasting.writableEnded, late.writableEnded]).toEqual([false, true]));
    lasting.destroy();
  });

  it('end with their delivery, before its process ends', () => {
    const streams = deliveryStreams(options());
    const raw = Object.assign(new PassThrough(), { writeHead: () => undefined });
    const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
    streams.open({ method: 'GET', ip: '192.0.2.1' } as FastifyRequest, reply, {
      kind: 'ofrep',
      scope: { environment: 'development' } as never,
      first: { id: 0, data: '{}' },
      changesAfter: () => undefined,
      credential: { key: 'token', authenticate: () => principalOf('page') },
      mayContinue: () => true,
    });
    streams.close();
    expect(raw.writableEnded).toBe(true);
    raw.destroy();
  });
});
