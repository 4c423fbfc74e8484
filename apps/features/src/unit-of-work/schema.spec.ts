import { openDatabase } from '@bunting/database';
import { missingMigrationStatements } from '@bunting/database/entities';
import { freshDatabase } from '@bunting/testing';
import { expect, it } from 'vitest';
import { entities } from './entities.ts';
import { featuresMigrations } from '../migrations/index.ts';

it('the migrated schema equals that of the entities', async () => {
  const { url, drop } = await freshDatabase('schema');
  await (await openDatabase({ url, name: 'spec', migrations: featuresMigrations })).close();
  const tablesOfSqlAlone = [
    'protected_environment',
    'deleted_feature',
    /^feature_(seen|usage_)/,
    /^client_/,
    'edge_instance',
    /^(staged_)?segment_(list|block)/,
    'deferred_state',
    'removed_environment',
    'deferred_edit',
  ];
  expect(await missingMigrationStatements(url, entities, tablesOfSqlAlone)).toEqual([]);
  await drop();
});
