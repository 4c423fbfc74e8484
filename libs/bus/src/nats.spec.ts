import { describe, expect, it } from '@jest/globals';
import { defineOperation, systemCaller } from '@bunting/contracts';
import { eventually, startNats } from '@bunting/testing';
import { rmSync } from 'node:fs';
import { Type } from 'typebox';
import { describeBus } from '../test/bus-behaviour.ts';
import { call, implement, natsBus, serve, systemContext } from './index.ts';

describeBus('over NATS', async () => {
  const server = await startNats();
  return { open: () => natsBus({ url: server.url, name: 'test' }), stop: () => server.stop() };
});

const Echo = defineOperation({
  subject: 'call.search.echo',
  operationId: 'echo',
  summary: 'Says it again',
  tag: 'Test',
  permission: 'service',
  body: Type.Object({ repeat: Type.Integer(), text: Type.String() }),
  reply: Type.String(),
});

describe('the bus over NATS', () => {
  it('refuses what the server would not carry, on the side that sends it', async () => {
    const server = await startNats();
    const bus = await natsBus({ url: server.url, name: 'test' });
    await serve(bus, [implement(Echo, async ({ body }) => body.text.repeat(body.repeat))]);
    const tooMuch = 64 * 1024 * 1024;
    await expect(
      call(bus, Echo, { body: { repeat: 1, text: 'x'.repeat(tooMuch) } }, systemContext(5_000)),
    ).rejects.toMatchObject({
      kind: 'PayloadTooLarge',
      message: expect.stringMatching(/^The request is \d+ bytes, more than the \d+ that the message bus carries/),
    });
    await expect(call(bus, Echo, { body: { repeat: tooMuch, text: 'x' } }, systemContext(5_000))).rejects.toMatchObject(
      {
        kind: 'PayloadTooLarge',
        message: expect.stringMatching(/^The answer is \d+ bytes/),
      },
    );
    await bus.close();
    await server.stop();
  });

  it('refuses calls at once while the server is away, and works again when it is back', async () => {
    const server = await startNats();
    const bus = await natsBus({ url: server.url, name: 'test' });
    await serve(bus, [implement(Echo, async ({ body }) => body.text)]);
    await server.kill();
    await eventually(async () => expect(() => bus.ready()).toThrow('The message bus is away.'));
    const before = performance.now();
    await expect(call(bus, Echo, { body: { repeat: 1, text: 'hi' } }, systemContext(5_000))).rejects.toMatchObject({
      kind: 'ServiceUnavailable',
    });
    expect(performance.now() - before).toBeLessThan(1_000);
    await server.restart();
    await eventually(async () =>
      expect(await call(bus, Echo, { body: { repeat: 1, text: 'hi' } }, systemContext(500))).toBe('hi'),
    );
    await bus.close();
    await server.stop();
  });

  it.each(['is away', 'has gone in the same moment'])('closes although the server %s', async (how) => {
    const server = await startNats();
    const bus = await natsBus({ url: server.url, name: 'test' });
    await serve(bus, [implement(Echo, async ({ body }) => body.text)]);
    const subscription = await bus.subscribe({ producer: 'features', topic: 'event' }, 'audit', async () => undefined);
    await server.kill();
    if (how === 'is away') await eventually(() => expect(() => bus.ready()).toThrow());
    const before = performance.now();
    await subscription.stop();
    await bus.close();
    expect(performance.now() - before).toBeLessThan(4_000);
    await server.stop();
  });

  it('makes its streams and consumers anew when the server has lost them', async () => {
    const server = await startNats();
    const bus = await natsBus({ url: server.url, name: 'test' });
    const heard: string[] = [];
    await bus.subscribe({ producer: 'features', topic: 'event' }, 'audit', async (payload) => void heard.push(payload));
    const publish = (payload: string) =>
      bus.publish([
        { subject: 'event.features.feature-created', id: `${payload} ${Math.random()}`, payload, traceparent: null },
      ]);
    await eventually(async () => {
      await publish('before');
      expect(heard).toContain('before');
    });
    await server.kill();
    rmSync(server.storeDir, { recursive: true, force: true });
    await server.restart();
    await eventually(
      async () => {
        await publish('after');
        expect(heard).toContain('after');
      },
      { timeoutMs: 30_000 },
    );
    await bus.close();
    await server.stop();
  });

  it('says where it looked when no server answers', async () => {
    await expect(
      natsBus({ url: 'nats://127.0.0.1:9', name: systemCaller.name, connectTimeoutMs: 500 }),
    ).rejects.toThrow(/^No NATS server answers at nats:\/\/127\.0\.0\.1:9/);
  });
});
