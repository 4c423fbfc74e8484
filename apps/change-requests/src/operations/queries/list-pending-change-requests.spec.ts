import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

const setState = (id: number, state: string): Promise<unknown> =>
  service.database.transaction(({ query }) => query('update change_request set state = $2 where id = $1', [id, state]));

describe('the pending change requests of a project', () => {
  it('are an empty list before the first proposal', async () => {
    expect(await service.pending()).toEqual([]);
  });

  it('are complete, as in the response to the proposal', async () => {
    const request = await service.add([enable, { action: 'updateSegment', payload: { id: 4, name: 'beta' } }]);
    expect(await service.pending()).toEqual([request]);
  });

  it('are those of the caller only, also for an admin', async () => {
    await service.add(enable, callers.lee);
    expect(await service.pending(callers.mia)).toEqual([]);
    expect(await service.pending(callers.lee)).toHaveLength(1);
  });

  it('leave out the pending requests of other projects', async () => {
    await service.add(enable);
    expect(await service.pending(callers.mia, 'garage')).toEqual([]);
  });

  it.each([
    ['Draft', 1],
    ['In review', 1],
    ['Approved', 1],
    ['Scheduled', 0],
    ['Applied', 0],
    ['Rejected', 0],
    ['Cancelled', 0],
  ])('include one in state %s: %d', async (state, count) => {
    const { id } = await service.add(enable);
    await setState(id, state);
    expect(await service.pending()).toHaveLength(count);
  });

  it('are sorted by the name of their environment', async () => {
    for (const environment of ['staging', 'development', 'production']) {
      await service.add(enable, callers.mia, environment);
    }
    expect((await service.pending()).map(({ environment }) => environment)).toEqual([
      'development',
      'production',
      'staging',
    ]);
  });

  it('are left out while their environment is not linked to the project', async () => {
    await service.add(enable, callers.mia, 'staging');
    service.features.link('shop', ['production']);
    expect(await service.pending()).toEqual([]);
    service.features.link('shop', ['production', 'staging']);
    expect(await service.pending()).toHaveLength(1);
  });

  it('are not found in a project that does not exist', async () => {
    await expect(service.pending(callers.mia, 'nowhere')).rejects.toMatchObject({ kind: 'NotFoundError' });
  });

  it('contain approvals, rejections and comments with their users, oldest first', async () => {
    const { id } = await service.add(enable);
    await service.database.transaction(async ({ query }) => {
      for (const table of ['approval', 'rejection']) {
        await query(
          `insert into ${table} values ($1, 9, 'kim', '2026-11-21 10:00:00.5+02'), ($1, 8, 'lee', '2026-11-21 10:00:00+02')`,
          [id],
        );
      }
      await query(
        `insert into comment (change_request_id, text, created_by_id, created_by_name, created_at)
         values ($1, 'first', 8, 'lee', '2026-11-21 08:00:00+00'), ($1, 'second', 9, null, '2026-11-21 08:00:00+00')`,
        [id],
      );
    });
    const [pending] = await service.pending();
    const verdicts = [
      { createdBy: { id: 8, username: 'lee' }, createdAt: '2026-11-21T08:00:00.000Z' },
      { createdBy: { id: 9, username: 'kim' }, createdAt: '2026-11-21T08:00:00.500Z' },
    ];
    expect(pending).toMatchObject({
      approvals: verdicts,
      rejections: verdicts,
      comments: [
        { text: 'first', createdBy: { username: 'lee' } },
        { text: 'second', createdBy: { username: null, imageUrl: null } },
      ],
    });
  });

  it('cannot be listed while the features service is unavailable to list the environments', async () => {
    const lonely = await startChangeRequests({ url: service.url });
    await lonely.features.stop();
    await expect(lonely.pending()).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    await lonely.stop();
  });
});
