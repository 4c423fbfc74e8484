import { inProcessBus, serve } from '@bunting/bus';
import { openLog } from '@bunting/runtime';
import { expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { deliveryOutbox, featureRow, givenRows } from '../../test/delivery-rows.ts';
import { startDelivery } from './delivery.ts';

const MiB = 1024 * 1024;

it('caches responses within GATEWAY_DELIVERY_CACHE_MIB, however many scopes a token asks for', async () => {
  const [bus, outbox] = [inProcessBus(), deliveryOutbox()];
  const description = () => randomBytes(2_000).toString('hex');
  outbox.write(...givenRows('default'));
  outbox.write(...Array.from({ length: 100 }, (_, nth) => featureRow(`flag-${nth}`, { description: description() })));
  const serving = await serve(bus, [outbox.endpoint]);
  const config = {
    GATEWAY_DELIVERY_POLL_INTERVAL_MS: 60_000,
    GATEWAY_DELIVERY_WAIT_TIMEOUT_MS: 60_000,
    GATEWAY_DELIVERY_CACHE_MIB: 1,
  };
  const delivery = await startDelivery({ bus, config, log: openLog('silent') });
  await delivery.catchUp();
  const scopes = ['f', 'fl', 'fla', 'flag', 'flag-'].map((namePrefix) => {
    return { environment: 'development', inlineSegments: false, namePrefix };
  });
  const views = scopes.map((scope) => delivery.viewOf(scope));
  for (const view of views) await view.full('identity');
  const cached = views.filter((view, nth) => delivery.viewOf(scopes[nth]!) === view);
  expect(cached).toContain(views.at(-1));
  expect(cached.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MiB);
  await delivery.stop();
  await serving.stop();
  await bus.close();
});
