import type { SchemaMigration } from '@bunting/database';

/** The colour by which people recognise an environment. The contract says which there are. */
export const environmentColor: SchemaMigration = {
  name: '3-expand-environment-color',
  statements: ['alter table environment add column color text'],
};
