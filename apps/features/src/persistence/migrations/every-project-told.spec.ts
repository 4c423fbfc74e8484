import type { StateOf } from '@bunting/contracts';
import { openDatabase, type SchemaStep } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { expect, it } from '@jest/globals';
import { everyProjectTold } from './every-project-told.ts';
import { steps } from './index.ts';

const state = (id: string, mode: 'open' | 'private', createdBy: number | null) => ({
  entity: 'project',
  id,
  version: expect.any(Number),
  state: { id, mode, createdBy },
});

it('tells of the projects that an upgrade finds, so that a private one is hidden at once', async () => {
  const fresh = await freshDatabase();
  const open = (taken: readonly SchemaStep[]) => openDatabase({ url: fresh.url, name: 'spec', steps: taken });
  const before = await open(steps.slice(0, steps.indexOf(everyProjectTold)));
  await before.transaction(({ query }) =>
    query("insert into project (id, name, mode, created_by) values ('secret', 'Secret', 'private', 7)"),
  );
  await before.close();
  const after = await open(steps);
  const told = await after.read<{ key: string; payload: StateOf<'project'> }>({
    name: 'told',
    text: "select entity_key as key, payload from outbox where topic = 'state' and type = 'project' order by entity_key",
  });
  expect(told).toEqual([
    { key: 'project:default', payload: state('default', 'open', null) },
    { key: 'project:secret', payload: state('secret', 'private', 7) },
  ]);
  await after.close();
  await fresh.drop();
});
