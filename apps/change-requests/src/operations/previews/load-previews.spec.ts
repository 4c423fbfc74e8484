import { describe, expect, it } from 'vitest';
import { implement, inProcessBus, serve, systemContext } from '@bunting/bus';
import { PreviewChanges, unavailable } from '@bunting/contracts';
import { aChange, aRequest } from '../../../test/builders.ts';
import type { ChangeRequestReader } from '../../persistence/change-request-reader.ts';
import { batchesWithinLimits, loadPreviews } from '../../previews/endpoints.ts';

const holding = (id: number, count: number, text = '') =>
  aRequest({
    id,
    changes: Array.from({ length: count }, (_, nth) => aChange({ id: nth, action: 'addStrategy', payload: { text } })),
  });
const idsOf = (pages: ReturnType<typeof batchesWithinLimits>) => pages.map((page) => page.map(({ id }) => id));

describe('requests to preview', () => {
  it('go into as few calls as their changes allow', () => {
    const requests = [holding(1, 4), holding(2, 6), holding(3, 1), holding(4, 12), holding(5, 1)];
    expect(idsOf(batchesWithinLimits(requests, { changes: 10, characters: 1e9 }))).toEqual([[1, 2], [3], [4], [5]]);
  });

  it('go into calls that the bus can carry, however large a change is', () => {
    const large = 'x'.repeat(1_000);
    const requests = [holding(1, 1, large), holding(2, 1, large), holding(3, 3, large), holding(4, 1)];
    expect(idsOf(batchesWithinLimits(requests, { changes: 1000, characters: 3_000 }))).toEqual([[1, 2], [3], [4]]);
  });

  it('all get their replies, in as many calls as they need', () => {
    expect(batchesWithinLimits([])).toEqual([]);
    expect(batchesWithinLimits(Array.from({ length: 300 }, (_, id) => holding(id, 5))).flat()).toHaveLength(300);
  });

  it('are refused as soon as the database is unavailable, before the features service has replied', async () => {
    const bus = inProcessBus();
    let answer: (reply: { previews: [] }) => void = () => undefined;
    const late = new Promise<{ previews: [] }>((resolve) => (answer = resolve));
    const served = await serve(bus, [implement(PreviewChanges, () => late)]);
    const away = () => Promise.reject(unavailable('The database is away.'));
    const reader = { scheduled: away, segmentUses: away } as Partial<ChangeRequestReader> as ChangeRequestReader;
    const request = loadPreviews(
      { bus, reader },
      [holding(1, 1)],
      { project: 'shop', withStates: false },
      systemContext(60_000),
    );
    await expect(request).rejects.toMatchObject({ kind: 'ServiceUnavailable', message: 'The database is away.' });
    answer({ previews: [] });
    await served.stop();
    await bus.close();
  });
});
