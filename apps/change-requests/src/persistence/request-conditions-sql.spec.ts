import { type ChangeRequestState, changeRequestStates, isClosedState } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lee, mia, noon } from '../../test/builders.ts';
import { acceptsChanges } from '../domain/content/pending-states.ts';
import { maySeeRequest } from '../domain/require-visible.ts';
import { changeRequestMigrations as migrations } from './migrations/index.ts';
import { acceptsChangesSql, isOpenSql, isVisibleSql } from './request-conditions-sql.ts';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const migrate = async (url: string): Promise<void> =>
    (await openDatabase({ url, name: 'template', migrations })).close();
  const fresh = await freshDatabase('change-requests', { key: JSON.stringify(migrations), migrate });
  drop = () => fresh.drop();
  database = await openDatabase({ url: fresh.url, name: 'spec', migrations });
});
afterAll(async () => {
  await database.close();
  await drop();
});

const attempt = { by: mia, since: noon, scheduled: false };

/** Whether a condition of the statements holds for a request of Mia. */
const holds = async (
  condition: string,
  { state, applying = null }: { readonly state: ChangeRequestState; readonly applying?: object | null },
  values: readonly unknown[] = [],
): Promise<boolean> => {
  const row = `select '${state}' as state, ${mia.id}::bigint as created_by_id, ${applying === null ? 'null' : `'{}'`}::json as applying`;
  const text = `select ${condition} as holds from (${row}) as request`;
  const [found] = await database.transaction(({ query }) => query<{ holds: boolean }>(text, values));
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
