import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../test/started-change-requests.ts';

const { lee, rita, ada } = callers;

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
afterAll(() => service.stop());

it('applies a scheduled request within two seconds of its time', async () => {
  const { id } = await service.add({ action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } }, lee);
  await service.move(id, 'In review', lee);
  await service.move(id, 'Approved', rita);
  const at = Date.now() + 300;
  await service.move(id, 'Scheduled', ada, { scheduledAt: new Date(at).toISOString() });
  const appliedAt = await eventually(async () => {
    const { state, stateTimestamps } = await service.get(id);
    expect(state).toBe('Applied');
    return Date.parse(stateTimestamps?.['Applied'] ?? '');
  });
  expect(appliedAt - at).toBeLessThan(2_000);
});
