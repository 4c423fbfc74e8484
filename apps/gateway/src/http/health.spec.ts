import { unavailable } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import { readinessPolicy } from './health.ts';

const schema = { needs: 1, has: 1, newer: [] };
const fine = async () => undefined;

const aGateway = () => {
  const state = {
    bus: () => undefined as void,
    readSchema: async () => schema,
    requireAccepting: fine as () => Promise<void>,
    requireLoaded: fine as () => Promise<void>,
  };
  const metrics = new Registry();
  const ready = readinessPolicy({
    bus: { ready: () => state.bus() },
    readSchema: () => state.readSchema(),
    metrics,
    requireAccepting: () => state.requireAccepting(),
    requireLoaded: () => state.requireLoaded(),
  });
  return { state, metrics, ready };
};
const fail = (message: string) => async () => Promise.reject(new Error(message));
const cutOff = async () => Promise.reject(unavailable('The database cannot be reached.'));
const busIsAway = () => {
  throw new Error('The message bus is disconnected.');
};

describe('a gateway', () => {
  it('is not ready before its database and the bus have been available', async () => {
    const { state, ready } = aGateway();
    state.readSchema = cutOff;
    await expect(ready()).rejects.toThrow('The database cannot be reached.');
    Object.assign(state, { readSchema: async () => schema, bus: busIsAway });
    await eventually(() => expect(ready()).rejects.toThrow('The message bus is disconnected.'));
    state.bus = () => undefined;
    await eventually(async () => expect(await ready()).toEqual({ schema }));
  });

  it('stays ready in an outage of its database and the bus, and names them in readiness and metrics', async () => {
    const { state, metrics, ready } = aGateway();
    expect(await ready()).toEqual({ schema });
    Object.assign(state, { readSchema: cutOff, bus: busIsAway });
    await eventually(async () => expect(await ready()).toEqual({ unavailable: ['bus', 'database'] }));
    const text = await metrics.metrics();
    for (const dependency of ['bus', 'database'])
      expect(text).toContain(`bunting_gateway_dependency_available{dependency="${dependency}"} 0`);
  });

  it('stays ready while its database does not respond at all', async () => {
    const { state, ready } = aGateway();
    await ready();
    state.readSchema = () => new Promise(() => undefined);
    await eventually(async () => expect(await ready()).toEqual({ unavailable: ['database'] }));
  });

  it.each([
    ['it drains or has no capacity', { requireAccepting: fail('The gateway is stopping.') }],
    ['its memory is not loaded', { requireLoaded: fail('The features are not loaded yet.') }],
    ['the schema does not fit', { readSchema: fail('The schema is newer.') }],
  ])('is not ready while %s, also once it has been ready', async (_, fault) => {
    const { state, ready } = aGateway();
    await ready();
    Object.assign(state, fault);
    await eventually(() => expect(ready()).rejects.toThrow(/^The (?:gateway|features|schema)/));
  });
});
