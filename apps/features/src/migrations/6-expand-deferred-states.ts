import type { SchemaMigration } from '@bunting/database';

/** The features whose states a write has left to the background, in the order in which they are emitted. */
export const deferredStates: SchemaMigration = {
  name: '6-expand-deferred-states',
  statements: [
    'create table deferred_state (position bigint generated always as identity primary key, feature text not null)',
  ],
};
