import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Page } from 'playwright-core';
import { api, describeInBrowser, openPage, signIn } from '../support/browser.ts';

const project = `live-${randomUUID().slice(0, 8)}`;
const flagCount = 200;
const names = Array.from({ length: flagCount }, (_one, nth) => `${project}.${nth}`);
const path = `/projects/${project}/events`;

/** A proxy in front of Bunting whose connections of live events can fall silent without being closed, as those of a computer that slept. */
async function startProxy() {
  const upstream = new URL(process.env['CONSOLE_TEST_URL'] ?? '');
  const streams = new Set<Socket>();
  const server: Server = createServer((client) => {
    const target = connect(Number(upstream.port), upstream.hostname);
    client.on('data', (chunk) => {
      if (chunk.includes('/api/admin/events/feed')) streams.add(target);
      target.write(chunk);
    });
    target.pipe(client);
    client.on('close', () => target.destroy()).on('error', () => target.destroy());
    target.on('close', () => {
      streams.delete(target);
      client.destroy();
    });
    target.on('error', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Delivers nothing more on the streams that are open now; later ones work. */
    silenceStreams: (): number => {
      for (const stream of streams) stream.unpipe().resume();
      return streams.size;
    },
    stop: () => server.close(),
  };
}

/** The number of events of the project that the page holds in memory, after garbage collection. */
async function eventsInMemory(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const { result: prototype } = await session.send('Runtime.evaluate', { expression: 'Object.prototype' });
  const { objects } = await session.send('Runtime.queryObjects', { prototypeObjectId: prototype.objectId ?? '' });
  const { result } = await session.send('Runtime.callFunctionOn', {
    objectId: objects.objectId ?? '',
    functionDeclaration: `function () { return this.filter((one) => one.createdBy && one.createdAt && one.featureName).length; }`,
    returnByValue: true,
  });
  await session.detach();
  return result.value as number;
}

function changeAll(stale: boolean): Promise<unknown> {
  return api('POST', `/api/admin/projects/${project}/stale`, { features: names, stale });
}

describeInBrowser('live events', () => {
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: project });
    for (let at = 0; at < flagCount; at += 25) {
      const chunk = names.slice(at, at + 25);
      await Promise.all(chunk.map((name) => api('POST', `/api/admin/projects/${project}/features`, { name })));
    }
    proxy = await startProxy();
  });
  afterAll(() => void proxy.stop());

  it('keep the event log current, which holds few events in memory however many come, also after sleep', async () => {
    const { page, violations, faults, close } = await openPage('/');
    await page.clock.install();
    await page.goto(`${proxy.url}${path}`);
    await signIn(page);
    const total = page.getByRole('status').getByText(/^[\d,]+ events$/);
    const atLeast = async (count: number): Promise<void> => {
      await page.waitForFunction(
        (min) =>
          [...document.querySelectorAll('[role=status]')].some(({ textContent }) => {
            const found = /^([\d,]+) events$/.exec(textContent ?? '');
            return found !== null && Number(found[1]?.replaceAll(',', '')) >= min;
          }),
        count,
      );
    };
    await total.waitFor();
    await atLeast(flagCount);
    const list = page.getByRole('region', { name: `Events of ${project}` });
    for (let round = 1; round <= 4; round++) {
      await changeAll(round % 2 === 1);
      await atLeast((round + 1) * flagCount);
    }
    // Through all that there is, and back to the top.
    const height = await list.evaluate(({ scrollHeight }) => scrollHeight);
    for (let top = 0; top < height; top += 2_500) {
      await list.evaluate((region, to) => region.scrollTo({ top: to }), top);
      await page.waitForFunction(() => document.querySelector('article[aria-busy=true]') === null);
    }
    await list.evaluate((region) => region.scrollTo({ top: region.scrollHeight }));
    await page.getByRole('article', { name: /created project/ }).waitFor();
    await list.evaluate((region) => region.scrollTo({ top: 0 }));
    const read = await eventsInMemory(page);
    expect(read).toBeGreaterThan(900);
    await page.clock.fastForward(120_000);
    await eventually(async () => {
      const held = await eventsInMemory(page);
      expect(held).toBeGreaterThanOrEqual(100);
      expect(held).toBeLessThan(500);
      expect(await page.getByRole('article').count()).toBeLessThan(80);
    });

    const create = async (name: string): Promise<void> => {
      await api('POST', `/api/admin/projects/${project}/features`, { name: `${project}.${name}` });
    };
    const appears = (name: string) => page.getByRole('article', { name: new RegExp(`${project}\\.${name}`) }).waitFor();
    await create('before');
    await appears('before');
    // After two minutes a stream may be opened anew, and the event have come by a poll.
    await eventually(() => expect(proxy.silenceStreams()).toBeGreaterThan(0));
    await create('slept');
    await page.clock.fastForward(600_000);
    await appears('slept');
    await create('awake');
    await appears('awake');
    await close();
    expect({ violations, faults }).toEqual({ violations: [], faults: [] });
  });
});
