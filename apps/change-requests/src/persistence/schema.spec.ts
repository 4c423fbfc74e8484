import { expect, it } from 'vitest';
import { openDatabase, missingMigrationStatements } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { changeRequestEntities } from '../unit-of-work/entities.ts';
import { changeRequestMigrations } from './migrations/index.ts';

it('the migrated schema equals that of the entities', async () => {
  const { url, drop } = await freshDatabase('schema');
  await (await openDatabase({ url, name: 'spec', migrations: changeRequestMigrations })).close();
  expect(await missingMigrationStatements(url, changeRequestEntities)).toEqual([]);
  await drop();
});
