import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineOperation, systemCaller } from '@bunting/contracts';
import { eventually, startNats, startTcpProxy, readNatsStreamMessages } from '@bunting/testing';
import { rmSync } from 'node:fs';
import { connect, headers } from '@nats-io/transport-node';
import { Type } from 'typebox';
import { describeBus } from '../../test/bus-behaviour.ts';
import { type Bus, call, callForResponse, implement, serve, unknownOutcomeDelayMs, systemContext } from '../index.ts';
import { natsBus } from './nats-bus.ts';

describeBus('over NATS', async () => {
  const server = await startNats();
  return {
    open: () => natsBus({ url: server.url, name: 'test', callerKeys: server.callerKeys }),
    stop: () => server.stop(),
  };
});

const Echo = defineOperation({
  subject: 'call.search.echo',
  operationId: 'echo',
  summary: 'Says it again',
  tag: 'Internal',
  permission: 'service',
  idempotent: false,
  body: Type.Object({ repeat: Type.Integer(), text: Type.String() }),
  reply: Type.String(),
});

const Read = { ...Echo, idempotent: true } as const;

/** A context whose deadline is beyond the time limit of a test: a call that waits until its deadline fails the test. */
const patientContext = systemContext(600_000);

describe('a call over NATS whose responder ends without a reply', () => {
  let server: Awaited<ReturnType<typeof startNats>>;
  let caller: Bus;
  let dying: Bus;
  beforeEach(async () => {
    server = await startNats();
    caller = await natsBus({ url: server.url, name: 'caller' });
    dying = await natsBus({ url: server.url, name: 'dying' });
  });
  afterEach(async () => {
    await caller.close();
    await server.stop();
  });
  /** Serves an operation on the bus `dying`, which takes one call and closes without a reply. */
  const serveToTheEnd = async (operation: typeof Echo) => {
    let take: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => (take = resolve));
    const never = implement(operation, () => {
      take();
      return new Promise<string>(() => undefined);
    });
    await serve(dying, [never]);
    const ended = taken.then(() => dying.close());
    return { taken, ended };
  };

  it('is retried by another responder if it is repeatable', async () => {
    const { taken, ended } = await serveToTheEnd(Read);
    const first = call(caller, Read, { body: { repeat: 1, text: 'still' } }, patientContext);
    await taken;
    const other = await natsBus({ url: server.url, name: 'other' });
    await serve(other, [implement(Read, async ({ body }) => body.text)]);
    await ended;
    expect(await first).toBe('still');
    await other.close();
  });

  it('is refused early as of unknown outcome if it is a write', async () => {
    const { ended } = await serveToTheEnd(Echo);
    const request = call(caller, Echo, { body: { repeat: 1, text: 'once' } }, patientContext);
    const refused = request.catch((refusal: unknown) => refusal);
    await ended;
    expect(await refused).toMatchObject({
      kind: 'ServiceUnavailable',
      retryAfterSeconds: 1,
      message: expect.stringContaining('may or may not have been executed'),
    });
  });

  it('is refused immediately when the server ends as well', async () => {
    const { taken } = await serveToTheEnd(Read);
    const refused = call(caller, Read, { body: { repeat: 1, text: 'x' } }, patientContext).catch((no: unknown) => no);
    await taken;
    await server.kill();
    expect(await refused).toMatchObject({ kind: 'ServiceUnavailable' });
  });
});

it('the bus over NATS outlives garbage on every subject of it', async () => {
  const server = await startNats();
  const bus = await natsBus({ url: server.url, name: 'test', callerKeys: server.callerKeys });
  await serve(bus, [implement(Echo, async ({ body }) => body.text)]);
  const works = async () =>
    expect(await call(bus, Echo, { body: { repeat: 1, text: 'hi' } }, patientContext)).toBe('hi');
  const wire = await connect({ servers: server.url });
  const subjects = new Set<string>([Echo.subject, 'present.search']);
  wire.subscribe('>', {
    callback: (_, { subject, headers: carried }) => {
      const process = carried?.get('Bunting-Taken-By') ?? '';
      if (process !== '') subjects.add(`alive.search.${process}`).add(subject);
    },
  });
  await wire.flush();
  await works();
  await eventually(() => expect([...subjects].join()).toContain('alive.search.'));
  const carried = headers();
  for (const name of ['Caller', 'Caller-Signature', 'Timeout-Ms', 'Sent-At', 'Part-Of', 'Response-Headers', 'Refused'])
    carried.set(`Bunting-${name}`, 'x');
  for (const subject of subjects) {
    for (const text of ['', 'x', '{', 'null', '7', '{"a":1}', '[null]']) {
      wire.publish(subject, text);
      wire.publish(subject, text, { reply: 'nobody' });
      wire.publish(subject, text, { reply: 'nobody', headers: carried });
    }
  }
  await wire.flush();
  await works();
  await wire.close();
  await bus.close();
  await server.stop();
});

describe('a write over NATS of unknown outcome', () => {
  let server: Awaited<ReturnType<typeof startNats>>;
  let caller: Bus;
  beforeEach(async () => {
    server = await startNats();
    caller = await natsBus({ url: server.url, name: 'caller' });
  });
  afterEach(async () => {
    await caller.close();
    await server.stop();
  });
  const write = (timeoutMs: number) =>
    call(caller, Echo, { body: { repeat: 1, text: 'once' } }, systemContext(timeoutMs)).catch((no: unknown) => no);

  it('is not begun when it is read after its deadline', async () => {
    const warnings: string[] = [];
    const service = await natsBus({ url: server.url, name: 'service', warn: (warning) => void warnings.push(warning) });
    let begun = 0;
    await serve(service, [implement(Echo, async ({ body }) => (begun++, body.text))]);
    // Sends a message with the headers of a minute ago, as a process reads it that was suspended for a minute.
    const wire = await connect({ servers: server.url });
    const sample = wire.subscribe('sample');
    const carried = headers();
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    carried.set('Bunting-Caller', encoded(systemCaller));
    carried.set('X-Request-Id', encoded('late'));
    carried.set('Bunting-Timeout-Ms', '10000');
    carried.set('Bunting-Sent-At', String(Date.now() - 60_000));
    wire.publish(Echo.subject, JSON.stringify({ body: { repeat: 1, text: 'late' } }), {
      headers: carried,
      reply: 'sample',
    });
    for await (const message of sample) {
      // The first message is the notice of the process that accepted the call.
      if (message.data.length === 0) continue;
      expect(message.headers?.get('Bunting-Refused')).toBe('ServiceUnavailable');
      expect(message.json()).toMatchObject({ error: { message: expect.stringContaining('past its deadline') } });
      break;
    }
    expect(begun).toBe(0);
    expect(warnings).toEqual([expect.stringContaining('past its deadline, and was not begun')]);
    await wire.close();
    await service.close();
  });

  it('is refused only after its deadline has passed in every service, if no service acknowledges it', async () => {
    const stopped = await connect({ servers: server.url });
    const deadlines: number[] = [];
    stopped.subscribe(Echo.subject, {
      callback: (_, { headers: carried }) => {
        deadlines.push(Number(carried?.get('Bunting-Sent-At')) + Number(carried?.get('Bunting-Timeout-Ms')));
      },
    });
    await stopped.flush();
    expect(await write(200)).toMatchObject({
      kind: 'ServiceUnavailable',
      message: expect.stringContaining('will not be executed from now on'),
    });
    expect(deadlines).toHaveLength(1);
    // A timer of Node may fire some milliseconds before the clock shows its time.
    expect(Date.now() + 20).toBeGreaterThanOrEqual((deadlines[0] as number) + unknownOutcomeDelayMs);
    await stopped.close();
  });

  it('is refused as soon as its responder reports its end, if the reply was lost', async () => {
    const service = await natsBus({ url: server.url, name: 'service' });
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let isAbandoned = false;
    const disturbed = implement(Echo, async ({ signal }) => {
      begin();
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
      isAbandoned = true;
      return 'too late';
    });
    const other = { ...Read, subject: 'call.search.other' as const };
    await serve(service, [disturbed, implement(other, async ({ body }) => body.text)]);
    const outcome = write(40_000);
    await begun;
    // When this later reply of the same process arrives, its earlier notice that it accepted the write has arrived as well.
    await call(caller, other, { body: { repeat: 1, text: 'x' } }, patientContext);
    await server.kill();
    await eventually(() => expect(isAbandoned).toBe(true));
    await server.restart();
    expect(await outcome).toMatchObject({ kind: 'ServiceUnavailable' });
    await service.close();
  });
});

describe('the bus over NATS', () => {
  it('refuses messages above max_payload in the sending process', async () => {
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

  it('transfers a reply above max_payload in parts, with its metadata', async () => {
    const server = await startNats({ config: 'max_payload: 64KB' });
    const bus = await natsBus({ url: server.url, name: 'test' });
    await serve(bus, [
      implement(Echo, async ({ body, setHeader }) => {
        setHeader('Bunting-Stale', '7');
        return body.text.repeat(body.repeat);
      }),
    ]);
    const send = (repeat: number) =>
      callForResponse(bus, Echo, { body: { repeat, text: 'løst ' } }, systemContext(10_000));
    const answers = await Promise.all([1, 100_000, 13_107, 1_000_000].map((repeat) => send(repeat)));
    const texts = answers.map((answer) => ('reply' in answer ? (JSON.parse(answer.reply.json) as string) : answer));
    expect(texts).toEqual([1, 100_000, 13_107, 1_000_000].map((repeat) => 'løst '.repeat(repeat)));
    expect(answers).toEqual(
      answers.map(() => ({ reply: expect.objectContaining({ headers: { 'Bunting-Stale': '7' } }) })),
    );
    await bus.close();
    await server.stop();
  });

  it('publishes events in their order with their ids, and leaves out and reports one that exceeds max_payload', async () => {
    const server = await startNats({ config: 'max_payload: 64KB' });
    const warnings: string[] = [];
    const bus = await natsBus({ url: server.url, name: 'test', warn: (message) => void warnings.push(message) });
    const subject = 'event.features.feature-created';
    const events = ['before', 'x'.repeat(100_000), 'after'].map((payload, nth) => {
      return { subject, id: `id-${nth}`, payload, traceparent: null };
    });
    await bus.publish?.(events);
    await bus.publish?.(events);
    expect(await readNatsStreamMessages(server.url, 'bunting-features')).toEqual([
      { subject, id: 'id-0', payload: 'before' },
      { subject, id: 'id-2', payload: 'after' },
    ]);
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^NATS: the event id-1 \(event.features.feature-created\) has 100000 bytes and exceeds max_payload/,
      ),
    );
    await bus.close();
    await expect(bus.publish?.(events)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    await server.stop();
  });

  it('refuses calls immediately while the server is unavailable, and works again when it is back', async () => {
    const server = await startNats();
    const bus = await natsBus({ url: server.url, name: 'test' });
    await serve(bus, [implement(Echo, async ({ body }) => body.text)]);
    await server.kill();
    await eventually(async () => expect(() => bus.ready()).toThrow('The message bus is disconnected.'));
    await expect(call(bus, Echo, { body: { repeat: 1, text: 'hi' } }, patientContext)).rejects.toMatchObject({
      kind: 'ServiceUnavailable',
    });
    await server.restart();
    await eventually(async () =>
      expect(await call(bus, Echo, { body: { repeat: 1, text: 'hi' } }, systemContext(5_000))).toBe('hi'),
    );
    await bus.close();
    await server.stop();
  });

  it.each(['is away', 'has gone in the same moment'])('closes although the server %s', async (how) => {
    const server = await startNats();
    const bus = await natsBus({ url: server.url, name: 'test' });
    await serve(bus, [implement(Echo, async ({ body }) => body.text)]);
    const subscription = await bus.subscribe({ producer: 'features', topic: 'event' }, () => undefined);
    await server.kill();
    if (how === 'is away') await eventually(() => expect(() => bus.ready()).toThrow());
    await subscription.stop();
    await bus.close();
    await server.stop();
  });

  it('loses a call that has no response yet when it closes, and sends it no more', async () => {
    const server = await startNats();
    const silent = await connect({ servers: server.url });
    try {
      silent.subscribe(Read.subject, { callback: () => undefined });
      await silent.flush();
      const bus = await natsBus({ url: server.url, name: 'closing' });
      const called = call(bus, Read, { body: { repeat: 1, text: 'there' } }, patientContext);
      const lost = expect(called).rejects.toThrow('was lost before it answered');
      await bus.close();
      await lost;
    } finally {
      await silent.close();
      await server.stop();
    }
  });

  it('creates its stream again when the server has lost it, and wakes subscribers when it is back', async () => {
    const server = await startNats();
    const bus = await natsBus({ url: server.url, name: 'test' });
    let wakeUps = 0;
    await bus.subscribe({ producer: 'features', topic: 'event' }, () => void wakeUps++);
    const subject = 'event.features.feature-created';
    const publish = (payload: string) => bus.publish?.([{ subject, id: payload, payload, traceparent: null }]);
    await publish('before');
    await server.kill();
    rmSync(server.storeDir, { recursive: true, force: true });
    await server.restart();
    await eventually(() => publish('after'));
    expect(await readNatsStreamMessages(server.url, 'bunting-features')).toEqual([
      { subject, id: 'after', payload: 'after' },
    ]);
    expect(wakeUps).toBe(1);
    await bus.close();
    await server.stop();
  });

  it('names the address when no server responds', async () => {
    await expect(
      natsBus({ url: 'nats://127.0.0.1:9', name: systemCaller.name, connectTimeoutMs: 500 }),
    ).rejects.toThrow(/^No NATS server answers at nats:\/\/127\.0\.0\.1:9/);
  });
});

describe('a bus whose server stops responding without closing the connection', () => {
  it(
    'connects again, and calls reach it, when the network has forgotten the connection',
    { timeout: 25_000 },
    async () => {
      const server = await startNats({ config: 'ping_interval: "1s"\nping_max: 2' });
      const proxy = await startTcpProxy(server.port);
      const connections: boolean[] = [];
      const lost = await natsBus({
        url: `nats://127.0.0.1:${proxy.port}`,
        name: 'lost',
        onConnection: (isConnected) => void connections.push(isConnected),
      });
      const caller = await natsBus({ url: server.url, name: systemCaller.name });
      try {
        const served = await serve(lost, [implement(Read, async ({ body }) => body.text)]);
        proxy.loseConnections();
        await eventually(
          async () => {
            const context = { ...systemContext(1_000), repeatable: true };
            expect(await call(caller, Read, { body: { repeat: 1, text: 'back' } }, context)).toBe('back');
          },
          { timeoutMs: 24_000 },
        );
        expect(connections).toEqual([false, true]);
        await served.stop();
      } finally {
        await Promise.all([lost.close(), caller.close()]);
        await proxy.stop();
        await server.stop();
      }
    },
  );

  it('stops its responders and subscriptions and closes', async () => {
    const server = await startNats();
    const proxy = await startTcpProxy(server.port);
    try {
      const bus = await natsBus({ url: `nats://127.0.0.1:${proxy.port}`, name: 'cut off' });
      const served = await serve(bus, [implement(Read, async ({ body }) => body.text)]);
      const subscription = await bus.subscribe({ producer: 'search', topic: 'event' }, () => undefined);
      expect(await call(bus, Read, { body: { repeat: 1, text: 'there' } }, systemContext(5_000))).toBe('there');
      proxy.swallow();
      await served.stop();
      await subscription.stop();
      await bus.close();
    } finally {
      await proxy.stop();
      await server.stop();
    }
  });
});
