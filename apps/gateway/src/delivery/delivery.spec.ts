import { inProcessBus, serve } from '@bunting/bus';
import { openLog } from '@bunting/runtime';
import { eventually } from '@bunting/testing';
import { expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { deliveryOutbox, featureRow, givenRows } from '@bunting/delivery/test';
import { currentRevisions, startDelivery } from './delivery.ts';

const MiB = 1024 * 1024;

const config = {
  GATEWAY_DELIVERY_POLL_INTERVAL_MS: 60_000,
  GATEWAY_DELIVERY_WAIT_TIMEOUT_MS: 60_000,
  GATEWAY_MAX_LIST_IDS_TO_SDKS: 10_000,
  GATEWAY_DELIVERY_CACHE_MIB: 1,
};

it('polls that wait at the same time share one read of the newest position, and those that arrive during it the next one', async () => {
  const [bus, outbox] = [inProcessBus(), deliveryOutbox()];
  outbox.write(...givenRows('default'), featureRow('lamp'));
  const serving = await serve(bus, [outbox.endpoint]);
  const { delivery, stop } = await startDelivery({ bus, config, log: openLog('silent') });
  await delivery.catchUp();
  const before = outbox.calls();
  const polls = () => Array.from({ length: 100 }, async () => delivery.catchUp());
  await Promise.all(polls());
  expect(outbox.calls() - before).toBe(1);
  const release = outbox.hold();
  const waiting = polls();
  await eventually(() => expect(outbox.calls() - before).toBe(2));
  const arriving = [...polls(), ...polls()];
  release();
  const revisions = await Promise.all(waiting.concat(arriving));
  expect(new Set(revisions)).toEqual(new Set([0]));
  expect(outbox.calls() - before).toBe(3);
  await stop();
  await serving.stop();
  await bus.close();
});

it('caches responses within GATEWAY_DELIVERY_CACHE_MIB, however many scopes a token asks for', async () => {
  const [bus, outbox] = [inProcessBus(), deliveryOutbox()];
  const description = () => randomBytes(2_000).toString('hex');
  outbox.write(...givenRows('default'));
  outbox.write(...Array.from({ length: 100 }, (_, nth) => featureRow(`flag-${nth}`, { description: description() })));
  const serving = await serve(bus, [outbox.endpoint]);
  const { delivery, stop } = await startDelivery({ bus, config, log: openLog('silent') });
  await delivery.catchUp();
  const scopes = ['f', 'fl', 'fla', 'flag', 'flag-'].map((namePrefix) => {
    return { environment: 'development', inlineSegments: false, namePrefix };
  });
  const views = scopes.map((scope) => delivery.viewOf(scope));
  for (const view of views) await view.full('identity');
  const cached = views.filter((view, nth) => delivery.viewOf(scopes[nth]!) === view);
  expect(cached).toContain(views.at(-1));
  expect(cached.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MiB);
  await stop();
  await serving.stop();
  await bus.close();
});

it('looks up the revisions of existing projects for reports of edges, and keeps the responses of SDKs cached', async () => {
  const [bus, outbox] = [inProcessBus(), deliveryOutbox()];
  outbox.write(...givenRows('default'), featureRow('lamp'));
  const serving = await serve(bus, [outbox.endpoint]);
  const { delivery, stop } = await startDelivery({ bus, config, log: openLog('silent') });
  await delivery.catchUp();
  const scope = { environment: 'development', inlineSegments: false };
  const sdk = delivery.viewOf(scope);
  const projects = Array.from({ length: 2_000 }, (_, nth) => `project-${nth}`);
  const revisionOf = await currentRevisions(delivery, new Set(['default', ...projects]));
  const inDevelopment = (...names: string[]) => revisionOf({ environment: 'development', projects: names });
  expect(inDevelopment('*')).toBe(sdk.revision());
  expect(inDevelopment('default')).toBe(sdk.revision());
  for (const names of [['made-up'], ['default', 'made-up'], []]) expect(inDevelopment(...names)).toBeUndefined();
  expect(revisionOf({ environment: 'made-up', projects: ['*'] })).toBeUndefined();
  for (const project of projects) inDevelopment(project);
  expect(delivery.viewOf(scope)).toBe(sdk);
  await stop();
  await serving.stop();
  await bus.close();
});
