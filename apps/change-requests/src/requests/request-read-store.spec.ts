import { type ChangeRequestState, changeRequestStates, isClosedState } from '@bunting/contracts';
import { openDatabase } from '@bunting/database';
import { missingMigrationStatements } from '@bunting/database/entities';
import { freshDatabase } from '@bunting/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { lee, mia, noon } from '../../test/builders.ts';
import { startedChangeRequests } from '../../test/started-change-requests.ts';
import { changeRequestMigrations } from '../migrations/index.ts';
import { acceptsChanges } from '../proposals/content.ts';
import { changeRequestEntities } from '../unit-of-work/entities.ts';
import { maySeeRequest } from './change-request.ts';
import { acceptsChangesSql, isOpenSql, isVisibleSql } from './request-conditions.ts';
import { type ChangeRequestReader, changeRequestReader } from './request-read-store.ts';

const service = startedChangeRequests();

describe('reading', () => {
  let reader: ChangeRequestReader;
  beforeAll(() => {
    reader = changeRequestReader(service.database);
  });

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
});

describe('in the database', () => {
  const attempt = { by: mia, since: noon, scheduled: false };

  /** Whether a condition of the statements holds for a request of Mia. */
  const holds = async (
    condition: string,
    { state, applying = null }: { readonly state: ChangeRequestState; readonly applying?: object | null },
    values: readonly unknown[] = [],
  ): Promise<boolean> => {
    const row = `select '${state}' as state, ${mia.id}::bigint as created_by_id, ${applying === null ? 'null' : `'{}'`}::json as applying`;
    const text = `select ${condition} as holds from (${row}) as request`;
    const [found] = await service.database.transaction(({ query }) => query<{ holds: boolean }>(text, values));
    return found?.holds === true;
  };

  describe.each(changeRequestStates)('a request in state %s', (state) => {
    it.each([
      ['which no attempt applies', null],
      ['while it is applied', attempt],
    ])('%s, accepts changes in the database if and only if it does by the rule', async (_when, applying) => {
      for (const draftOnly of [true, false]) {
        const accepted = await holds(acceptsChangesSql('$1'), { state, applying }, [draftOnly]);
        expect(accepted).toBe(acceptsChanges({ state, applying }, { draftOnly }));
      }
    });

    it('is visible to a user in the database if and only if it is by the rule', async () => {
      for (const { id } of [mia, lee]) {
        expect(await holds(isVisibleSql('$1'), { state }, [id])).toBe(maySeeRequest({ state, createdBy: mia }, id));
      }
    });

    it('is open in the database unless its state is closed', async () => {
      expect(await holds(isOpenSql, { state })).toBe(!isClosedState(state));
    });
  });
});

it('the migrated schema equals that of the entities', async () => {
  const { url, drop } = await freshDatabase('schema');
  await (await openDatabase({ url, name: 'spec', migrations: changeRequestMigrations })).close();
  expect(await missingMigrationStatements(url, changeRequestEntities)).toEqual([]);
  await drop();
});
