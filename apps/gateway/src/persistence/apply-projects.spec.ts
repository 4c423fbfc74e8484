import type { OutboxMessage, StateOf } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { eventually, type FreshDatabase } from '@bunting/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { freshGatewayDatabase } from '../../test/started-gateway.ts';
import { predefinedRole } from '../domain/access.ts';
import { accessReader } from './access-reader.ts';
import { applyProjects } from './apply-projects.ts';
import { requireStanding } from './standing-projects.ts';
import { gatewayEntities, gatewaySteps } from './tables.ts';

let fresh: FreshDatabase;
let database: Database;
let position = 0;

beforeAll(async () => {
  fresh = await freshGatewayDatabase();
  database = await openDatabase({ url: fresh.url, name: 'spec', steps: gatewaySteps, entities: gatewayEntities });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const write = <Row>(text: string, values: readonly unknown[] = []) =>
  database.transaction(({ query }) => query<Row>(text, values));
const aViewer = async (): Promise<number> => {
  const text = 'insert into api_user (name, root_role_id) values ($1, $2) returning id';
  const [row] = await write<{ id: number }>(text, [`user ${randomUUID()}`, predefinedRole.viewer]);
  return row?.id ?? 0;
};
const told = (id: string, version: number, state: StateOf<'project'>['state']): OutboxMessage => ({
  position: ++position,
  uid: randomUUID(),
  type: 'project',
  recordedAt: new Date().toISOString(),
  traceparent: null,
  payload: { entity: 'project', id, version, state } satisfies StateOf<'project'>,
});
const hear = (...messages: OutboxMessage[]) => database.transaction((tx) => applyProjects(tx, messages));
const mode = (id: string, is: 'open' | 'protected' | 'private', createdBy: number | null = null) => ({
  id,
  mode: is,
  createdBy,
});
const accessOf = async (userId: number) => (await accessReader(database).ofUsers([userId]))[0]?.caller;
const ownedBy = async (project: string) =>
  (await write<{ id: number }>('select user_id as id from project_user where project = $1', [project])).map(
    ({ id }) => id,
  );

it('makes whoever created a project its Owner, and nobody when that was no user', async () => {
  const creator = await aViewer();
  await hear(told('mine', 1, mode('mine', 'open', creator)), told('made', 2, mode('made', 'open', -42)));
  expect(await ownedBy('mine')).toEqual([creator]);
  expect(await ownedBy('made')).toEqual([]);
});

it('gives nobody back what was taken away, however often the project is told of', async () => {
  const creator = await aViewer();
  await hear(told('lost', 1, mode('lost', 'open', creator)));
  await write("delete from project_user where project = 'lost'");
  await hear(told('lost', 1, mode('lost', 'open', creator)), told('lost', 2, mode('lost', 'protected', creator)));
  expect(await ownedBy('lost')).toEqual([]);
});

it('hides a project from the moment it is told to be private, until it is told to be open again', async () => {
  const stranger = await aViewer();
  await hear(told('moody', 1, mode('moody', 'open')));
  expect((await accessOf(stranger))?.hiddenProjects ?? []).not.toContain('moody');
  await hear(told('moody', 3, mode('moody', 'private')));
  expect((await accessOf(stranger))?.hiddenProjects).toContain('moody');
  await hear(told('moody', 2, mode('moody', 'open')));
  expect((await accessOf(stranger))?.hiddenProjects).toContain('moody');
  await hear(told('moody', 4, mode('moody', 'open')));
  expect((await accessOf(stranger))?.hiddenProjects ?? []).not.toContain('moody');
});

it('takes with a deleted project the rights in it and the tokens that were for it alone, and tells so', async () => {
  const owner = await aViewer();
  await hear(told('doomed', 1, mode('doomed', 'private', owner)));
  for (const [name, projects] of [
    ['only', ['doomed']],
    ['both', ['doomed', 'other']],
    ['every', ['*']],
  ] as const) {
    await write(
      "insert into api_token (kind, name, selector, hash, shown, projects, environment) values ('client', $1, $1, sha256('x'), $1, $2, 'development')",
      [name, projects],
    );
  }
  await hear(told('doomed', 2, null));
  expect(await ownedBy('doomed')).toEqual([]);
  const tokens = 'select name, projects, revoked_at is not null as revoked from api_token order by name';
  expect(await write(tokens)).toEqual([
    { name: 'both', projects: ['other'], revoked: false },
    { name: 'every', projects: ['*'], revoked: false },
    { name: 'only', projects: ['doomed'], revoked: true },
  ]);
  const [event, ...more] = await write<{ payload: unknown }>("select payload from outbox where topic = 'event'");
  expect(more).toEqual([]);
  expect(event?.payload).toMatchObject({
    type: 'api-token-deleted',
    project: 'doomed',
    environment: 'development',
    preData: { tokenName: 'only', type: 'client', projects: ['doomed'] },
  });
});

it('takes with a deleted project also what is being written for it at that moment', async () => {
  const late = await aViewer();
  await hear(told('busy', 1, mode('busy', 'open')));
  let removed: Promise<void> | undefined;
  await database.transaction(async (tx) => {
    await requireStanding(tx, ['busy']);
    await tx.query("insert into project_user (project, user_id, role_id) values ('busy', $1, $2)", [
      late,
      predefinedRole.owner,
    ]);
    removed = hear(told('busy', 2, null));
    await eventually(async () => {
      const text = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      expect(await write(text)).toHaveLength(1);
    });
  });
  await removed;
  expect(await ownedBy('busy')).toEqual([]);
});
