import { randomUUID } from 'node:crypto';
import { type Bus, implement, inProcessBus, serve } from '@bunting/bus';
import {
  type OutboxMessage,
  outboxOperations,
  type ProjectState,
  type StateOf,
  systemCaller,
} from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { openLog } from '@bunting/runtime';
import { eventually } from '@bunting/testing';
import type { Static } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGatewayDatabase } from '../../../test/started-gateway.ts';
import { predefinedRole } from '../roles/role.ts';
import { unhideUncommittedProjects } from './background.ts';
import {
  acceptAnyProjectVersion,
  applyProjectStates,
  existingProjectsReader,
  lockExistingProjects,
  pendingPrivateProjectStore,
} from './project-store.ts';
import { accessReader } from './rights-store.ts';
import { consumeProjectStates } from './subscriptions.ts';

describe('states of projects', () => {
  let database: Database;
  let stop: () => Promise<void>;
  let position = 0;

  beforeAll(async () => {
    ({ database, stop } = await openGatewayDatabase());
  });
  afterAll(() => stop());

  const write = <Row>(text: string, values: readonly unknown[] = []) =>
    database.transaction(({ query }) => query<Row>(text, values));
  const aViewer = async (): Promise<number> => {
    const text = 'insert into api_user (name, root_role_id) values ($1, $2) returning id';
    const [row] = await write<{ id: number }>(text, [`user ${randomUUID()}`, predefinedRole.viewer]);
    return row?.id ?? 0;
  };
  const stateMessage = (id: string, version: number, state: StateOf<'project'>['state']): OutboxMessage => ({
    position: ++position,
    uid: randomUUID(),
    type: 'project',
    recordedAt: new Date().toISOString(),
    traceparent: null,
    payload: { entity: 'project', id, version, state } satisfies StateOf<'project'>,
  });
  const deleted = (id: string, version: number, lastMode?: 'open' | 'protected' | 'private'): OutboxMessage => {
    const message = stateMessage(id, version, null);
    return lastMode === undefined
      ? message
      : { ...message, payload: { entity: 'project', id, version, state: null, lastMode } satisfies StateOf<'project'> };
  };
  const apply = (...messages: OutboxMessage[]) => database.transaction((tx) => applyProjectStates(tx, messages));
  const mode = (id: string, is: 'open' | 'protected' | 'private', createdBy: number | null = null) => ({
    id,
    mode: is,
    createdBy,
  });
  const accessOf = async (userId: number) => (await accessReader(database).usersWithRights([userId]))[0]?.caller;
  const ownedBy = async (project: string) =>
    (await write<{ id: number }>('select user_id as id from project_user where project = $1', [project])).map(
      ({ id }) => id,
    );

  it('makes the creator of a project its Owner if the creator is a user', async () => {
    const creator = await aViewer();
    await apply(
      stateMessage('mine', 1, mode('mine', 'open', creator)),
      stateMessage('made', 2, mode('made', 'open', -42)),
    );
    expect(await ownedBy('mine')).toEqual([creator]);
    expect(await ownedBy('made')).toEqual([]);
  });

  it('does not restore a removed owner when the project is applied again', async () => {
    const creator = await aViewer();
    await apply(stateMessage('lost', 1, mode('lost', 'open', creator)));
    await write("delete from project_user where project = 'lost'");
    await apply(
      stateMessage('lost', 1, mode('lost', 'open', creator)),
      stateMessage('lost', 2, mode('lost', 'protected', creator)),
    );
    expect(await ownedBy('lost')).toEqual([]);
  });

  it('hides a project while its state is private', async () => {
    const stranger = await aViewer();
    await apply(stateMessage('moody', 1, mode('moody', 'open')));
    expect((await accessOf(stranger))?.hiddenProjects ?? []).not.toContain('moody');
    await apply(stateMessage('moody', 3, mode('moody', 'private')));
    expect((await accessOf(stranger))?.hiddenProjects).toContain('moody');
    await apply(stateMessage('moody', 2, mode('moody', 'open')));
    expect((await accessOf(stranger))?.hiddenProjects).toContain('moody');
    await apply(stateMessage('moody', 4, mode('moody', 'open')));
    expect((await accessOf(stranger))?.hiddenProjects ?? []).not.toContain('moody');
  });

  it('removes the roles and revokes the tokens of a deleted project, with events', async () => {
    const owner = await aViewer();
    await apply(stateMessage('doomed', 1, mode('doomed', 'private', owner)));
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
    await apply(stateMessage('doomed', 2, null));
    expect(await ownedBy('doomed')).toEqual([]);
    const tokens = 'select name, projects, revoked_at is not null as revoked from api_token order by name';
    expect(await write(tokens)).toEqual([
      { name: 'both', projects: ['other'], revoked: false },
      { name: 'every', projects: ['*'], revoked: false },
      { name: 'only', projects: ['doomed'], revoked: true },
    ]);
    expect(await write("select name, deleted_projects from api_token where deleted_projects <> '{}'")).toEqual([
      { name: 'both', deleted_projects: ['doomed'] },
    ]);
    const [event, ...more] = await write<{ payload: unknown }>("select payload from outbox where topic = 'event'");
    expect(more).toEqual([]);
    expect(event?.payload).toEqual({
      type: 'api-token-deleted',
      createdAt: expect.any(String),
      createdBy: systemCaller.name,
      createdByUserId: systemCaller.id,
      project: 'doomed',
      environment: 'development',
      featureName: null,
      data: null,
      preData: {
        tokenName: 'only',
        type: 'client',
        environment: 'development',
        project: 'doomed',
        projects: ['doomed'],
        createdAt: expect.any(String),
        expiresAt: null,
      },
      tags: [],
    });
  });

  const deletedEnvironment = (id: string): OutboxMessage => ({
    ...stateMessage(id, 0, null),
    type: 'environment',
    payload: { entity: 'environment', id, version: 0, state: null } satisfies StateOf<'environment'>,
  });

  it('ends the tokens of a deleted environment and the permissions of roles in it, with events, and nothing that is newer', async () => {
    const token = (name: string, environment: string, createdAt = 'now()') =>
      write(
        `insert into api_token (kind, name, selector, hash, shown, environment, created_at)
       values ('client', $1, $1, sha256('x'), $1, $2, ${createdAt})`,
        [name, environment],
      );
    const [role] = await write<{ id: number }>(
      "insert into role (name, type) values ('Keeper', 'custom') returning id",
    );
    for (const environment of ['lab', 'staging', null])
      await write('insert into role_permission (role_id, permission, environment) values ($1, $2, $3)', [
        role?.id,
        'UPDATE_FEATURE_STRATEGY',
        environment,
      ]);
    await token('of-lab', 'lab');
    await token('of-staging', 'staging');
    const late = deletedEnvironment('lab');
    await apply(late);
    // Another environment of that name has tokens by now.
    await token('of-new-lab', 'lab', "now() + interval '1 hour'");
    await apply(late);
    const valid = "select name from api_token where name like 'of-%' and revoked_at is null order by name";
    expect((await write<{ name: string }>(valid)).map(({ name }) => name)).toEqual(['of-new-lab', 'of-staging']);
    const grants = 'select environment from role_permission where role_id = $1 order by environment';
    expect(await write(grants, [role?.id])).toEqual([{ environment: 'staging' }, { environment: null }]);
    const emitted = "select payload from outbox where topic = 'event' order by id desc limit 2";
    expect((await write<{ payload: unknown }>(emitted)).map(({ payload }) => payload)).toMatchObject([
      { type: 'role-updated', createdBy: systemCaller.name, data: { name: 'Keeper' } },
      { type: 'api-token-deleted', environment: 'lab', preData: { tokenName: 'of-lab' } },
    ]);
  });

  it('a new project that reuses an id is no deleted project of a token', async () => {
    await apply(stateMessage('shop', 1, mode('shop', 'open')), stateMessage('stall', 1, mode('stall', 'open')));
    await write(
      "insert into api_token (kind, name, selector, hash, shown, projects, environment) values ('client', $1, $1, sha256('x'), $1, $2, 'development')",
      ['shopper', ['shop', 'stall', 'web']],
    );
    const scopes = () => write("select projects, deleted_projects as deleted from api_token where name = 'shopper'");
    await apply(deleted('shop', 2, 'open'), deleted('stall', 2, 'private'));
    expect(await scopes()).toEqual([{ projects: ['web'], deleted: ['shop', 'stall'] }]);
    // A duplicate of a state from before the deletion creates nothing.
    await apply(stateMessage('stall', 1, mode('stall', 'open')));
    expect(await scopes()).toEqual([{ projects: ['web'], deleted: ['shop', 'stall'] }]);
    await apply(stateMessage('shop', 3, mode('shop', 'private')));
    expect(await scopes()).toEqual([{ projects: ['web'], deleted: ['stall'] }]);
    await apply(stateMessage('stall', 3, mode('stall', 'private')));
    expect(await scopes()).toEqual([{ projects: ['web'], deleted: [] }]);
  });

  it('a project that was private when it was deleted stays hidden, and one that was opened before does not', async () => {
    const stranger = await aViewer();
    const owner = await aViewer();
    await apply(
      stateMessage('buried', 1, mode('buried', 'open', owner)),
      stateMessage('buried', 2, mode('buried', 'private', owner)),
      stateMessage('opened', 1, mode('opened', 'private', owner)),
      stateMessage('opened', 2, mode('opened', 'open', owner)),
      deleted('buried', 3, 'private'),
      deleted('opened', 3, 'open'),
    );
    for (const userId of [stranger, owner]) {
      const hidden = (await accessOf(userId))?.hiddenProjects ?? [];
      expect([hidden.includes('buried'), hidden.includes('opened')]).toEqual([true, false]);
    }
    expect(await existingProjectsReader(database)(['buried', 'opened'])).toEqual([]);
  });

  it('hides a deleted project that is unknown or whose mode is unknown', async () => {
    const stranger = await aViewer();
    await apply(deleted('first-private', 7, 'private'), deleted('first-open', 8, 'open'), deleted('first-unknown', 9));
    const hidden = (await accessOf(stranger))?.hiddenProjects ?? [];
    expect(['first-private', 'first-open', 'first-unknown'].filter((id) => hidden.includes(id))).toEqual([
      'first-private',
      'first-unknown',
    ]);
  });

  it('makes the creator of a project with a reused id its Owner, and restores a restored project', async () => {
    const [first, second] = [await aViewer(), await aViewer()];
    await apply(stateMessage('again', 1, mode('again', 'private', first)), deleted('again', 2, 'private'));
    await apply(stateMessage('again', 3, mode('again', 'private', second)));
    expect(await ownedBy('again')).toEqual([second]);
    expect((await accessOf(first))?.hiddenProjects).toContain('again');
    expect((await accessOf(second))?.hiddenProjects ?? []).not.toContain('again');
    // A backup from before the deletion was restored: its state applies, whatever its version.
    await apply(deleted('again', 4, 'private'));
    await database.transaction(acceptAnyProjectVersion);
    expect((await accessOf(second))?.hiddenProjects).toContain('again');
    await apply(stateMessage('again', 3, mode('again', 'open', second)));
    expect((await accessOf(first))?.hiddenProjects ?? []).not.toContain('again');
  });

  it('hides a project that is becoming private until the state of that version is applied', async () => {
    const [stranger, creator] = [await aViewer(), await aViewer()];
    const pendingPrivateProjects = pendingPrivateProjectStore(database);
    const isHidden = async (id: string) => ((await accessOf(stranger))?.hiddenProjects ?? []).includes(id);
    await apply(stateMessage('closing', 10, mode('closing', 'open')));
    await pendingPrivateProjects.hide('closing', 12);
    await pendingPrivateProjects.hide('coming', 13);
    expect([await isHidden('closing'), await isHidden('coming')]).toEqual([true, true]);
    expect(await existingProjectsReader(database)(['coming'])).toEqual([]);
    // An earlier state that arrives late does not change what was committed after it.
    await apply(stateMessage('closing', 11, mode('closing', 'open')));
    expect(await isHidden('closing')).toBe(true);
    await apply(
      stateMessage('closing', 12, mode('closing', 'private')),
      stateMessage('coming', 13, mode('coming', 'private', creator)),
    );
    expect([await isHidden('closing'), await isHidden('coming')]).toEqual([true, true]);
    expect(await ownedBy('coming')).toEqual([creator]);
    expect((await accessOf(creator))?.hiddenProjects).not.toContain('coming');
    // A duplicate call that arrives late does not hide the project.
    await apply(stateMessage('closing', 14, mode('closing', 'open')));
    await pendingPrivateProjects.hide('closing', 12);
    expect(await isHidden('closing')).toBe(false);
  });

  it('reveals a project that was hidden for a failed commit once every state is applied', async () => {
    const stranger = await aViewer();
    const pendingPrivateProjects = pendingPrivateProjectStore(database);
    const hidden = async () =>
      ((await accessOf(stranger))?.hiddenProjects ?? []).filter((id) => id.startsWith('failed-'));
    await apply(stateMessage('failed-open', 20, mode('failed-open', 'open')));
    for (const id of ['failed-open', 'failed-new']) await pendingPrivateProjects.hide(id, 21);
    const remove = (behindMs: number) =>
      unhideUncommittedProjects({ pendingPrivateProjects, projects: { catchUp: async () => behindMs } });
    await remove(0);
    expect(await hidden()).toEqual(['failed-new', 'failed-open']);
    await write(
      "update project set pending_private_since = now() - interval '6 minutes' where pending_private_since is not null",
    );
    await remove(1);
    expect(await hidden()).toEqual(['failed-new', 'failed-open']);
    await remove(0);
    expect(await hidden()).toEqual([]);
    // The clock of the database was ahead when this one was hidden, and has been set back.
    await pendingPrivateProjects.hide('failed-early', 21);
    await write("update project set pending_private_since = now() + interval '1 day' where id = 'failed-early'");
    await remove(0);
    expect(await hidden()).toEqual([]);
  });

  it('removes rows of a deleted project that a concurrent transaction writes', async () => {
    const late = await aViewer();
    await apply(stateMessage('busy', 1, mode('busy', 'open')));
    let removed: Promise<void> | undefined;
    await database.transaction(async (tx) => {
      await lockExistingProjects(tx, ['busy']);
      await tx.query("insert into project_user (project, user_id, role_id) values ('busy', $1, $2)", [
        late,
        predefinedRole.owner,
      ]);
      removed = apply(stateMessage('busy', 2, null));
      await eventually(async () => {
        const text = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        expect(await write(text)).toHaveLength(1);
      });
    });
    await removed;
    expect(await ownedBy('busy')).toEqual([]);
  });
});

describe('the projection of projects', () => {
  let database: Database;
  let stop: () => Promise<void>;
  let bus: Bus;
  /** the outbox of the features service, as it is now */
  let outbox: readonly OutboxMessage[] = [];

  beforeAll(async () => {
    ({ database, stop } = await openGatewayDatabase());
    bus = inProcessBus();
    await serve(bus, [
      implement(outboxOperations.features, async ({ body: { after } }) => ({
        head: outbox.at(-1)?.position ?? 0,
        at: outbox.find(({ position }) => position === after)?.uid ?? null,
        messages: outbox.filter(({ position }) => position > after),
      })),
    ]);
  });
  afterAll(async () => {
    await bus.close();
    await stop();
  });

  const stateMessage = (version: number, mode: Static<typeof ProjectState>['mode']): OutboxMessage => ({
    position: version,
    uid: randomUUID(),
    type: 'project',
    traceparent: null,
    recordedAt: new Date().toISOString(),
    payload: { entity: 'project', id: 'secret', version, state: { id: 'secret', mode, createdBy: null } },
  });
  const modeOf = async (id: string) =>
    (await database.read<{ mode: string }>({ text: 'select mode from project where id = $1' }, [id]))[0]?.mode;

  it('hides a project that was made private after the features service was restored from a backup', async () => {
    const backup = [stateMessage(1, 'open')];
    outbox = [...backup, stateMessage(2, 'protected'), stateMessage(3, 'open'), stateMessage(4, 'open')];
    const projects = await consumeProjectStates({
      bus,
      database,
      intervalMs: 60_000,
      metrics: undefined,
      log: openLog('silent'),
    });
    expect(await projects.catchUp(100_000)).toBe(0);
    outbox = [...backup, stateMessage(2, 'private')];
    expect(await projects.catchUp(100_000)).toBe(0);
    expect(await modeOf('secret')).toBe('private');
    await projects.stop();
  });
});
