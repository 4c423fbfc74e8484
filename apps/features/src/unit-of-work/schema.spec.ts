import { openDatabase, missingMigrationStatements } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { expect, it } from 'vitest';
import { entities } from './entities.ts';
import { featuresMigrations } from '../migrations/index.ts';

it('the migrated schema equals that of the entities', async () => {
  const { url, drop } = await freshDatabase('schema');
  await (await openDatabase({ url, name: 'spec', migrations: featuresMigrations })).close();
  expect(
    await missingMigrationStatements(url, entities, [
      'segment_block',
      'segment_list',
      'segment_list_piece',
      'staged_segment_list',
      'deferred_state',
    ]),
  ).toEqual([]);
  await drop();
});
