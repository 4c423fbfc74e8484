import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mia } from '../../test/builders.ts';
import { type StartedChangeRequests, startChangeRequests } from '../../test/started-change-requests.ts';
import { type ChangeRequestReader, changeRequestReader } from '../persistence/change-request-reader.ts';

let service: StartedChangeRequests;
let reader: ChangeRequestReader;
beforeAll(async () => {
  service = await startChangeRequests();
  reader = changeRequestReader(service.database);
});
afterAll(() => service.stop());

/** Pending requests of Mia with two changes each: one for every environment, as there is only one in each. */
const insertPendingRequests = (project: string, count: number): Promise<unknown> =>
  service.database.transaction(({ query }) =>
    query(
      `with request as (
         insert into change_request
           (project, environment, state, min_approvals, created_by_id, created_by_name, created_at, revision, state_timestamps)
         select $1, 'environment ' || n, 'Draft', 1, 7, 'mia', now(), 1, '{}' from generate_series(1, $2::integer) as n
         returning id)
       insert into change (change_request_id, position, action, feature, payload, created_by_id, created_by_name, created_at)
       select id, position, 'updateEnabled', 'checkout', '{"enabled": true}', 7, 'mia', now()
       from request, generate_series(1, 2) as position`,
      [project, count],
    ),
  );

const statementsOf = async (job: () => Promise<unknown>): Promise<number> => {
  const before = service.database.statements;
  await job();
  return service.database.statements - before;
};

describe('the pending requests of a user', () => {
  it('are read with their changes by one statement, however many they are', async () => {
    await insertPendingRequests('small', 1);
    await insertPendingRequests('large', 300);
    expect(await statementsOf(() => reader.pendingOfUser(mia.id, 'small'))).toBe(1);
    expect(await statementsOf(() => reader.pendingOfUser(mia.id, 'large'))).toBe(1);
    const requests = await reader.pendingOfUser(mia.id, 'large');
    expect(requests).toHaveLength(300);
    expect(requests.every(({ changes }) => changes.length === 2)).toBe(true);
  });

  it('are found by an index', async () => {
    await service.database.transaction(async ({ query }) => {
      await query('set local enable_seqscan = off');
      const plan = await query(
        "explain select id from change_request where created_by_id = 7 and project = 'large' and state in ('Draft', 'In review', 'Approved')",
      );
      expect(JSON.stringify(plan)).toContain('change_request_open');
    });
  });
});
