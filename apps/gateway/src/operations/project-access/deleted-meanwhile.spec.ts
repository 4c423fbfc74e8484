import type { Group } from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { accessApi, fakeProjectEndpoints } from '../../../test/access-api.ts';
import { type StartedGateway, startGateway } from '../../../test/started-gateway.ts';
import { applyProjectStates } from '../../access/rights/project-store.ts';

const member = 5;
let gateway: StartedGateway;
const { send, aUser, done } = accessApi(() => gateway);

const write = <Row>(text: string) => gateway.database.transaction(({ query }) => query<Row>(text));
const stateMessage = (version: number, state: object | null) => ({
  position: version,
  uid: randomUUID(),
  type: 'project',
  recordedAt: new Date().toISOString(),
  traceparent: null,
  payload: { entity: 'project', id: 'brief', version, state, ...(state === null ? { lastMode: 'open' } : {}) },
});
/** The states that the gateway consumes right after the features service has found the project: created, then deleted. */
const created = stateMessage(1, { id: 'brief', mode: 'open', createdBy: null });
const deleted = stateMessage(2, null);
let received = [deleted];
const apply = () => gateway.database.transaction((tx) => applyProjectStates(tx, received));

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.behind(fakeProjectEndpoints(['brief'], apply, []));
});
afterAll(() => gateway.stop());

describe.each([
  ['whose deletion the gateway has received', true],
  ['whose deletion the gateway receives at the same time', false],
])('a project %s', (_which, isKnown) => {
  beforeEach(async () => {
    received = isKnown ? [deleted] : [created, deleted];
    await write("delete from project where id = 'brief'");
    if (isKnown) await write("insert into project (id, mode, version) values ('brief', 'open', 1)");
  });

  it.each(['users', 'groups'])('gets no roles for %s', async (holders) => {
    const { id } = holders === 'users' ? await aUser() : await done<Group>('POST', 'groups', { name: randomUUID() });
    for (const [method, path, body] of [
      ['PUT', `projects/brief/${holders}/${id}/roles`, { roles: [member] }],
      ['POST', 'projects/brief/access', { roles: [member], users: [], groups: [], [holders]: [id] }],
      ['PUT', 'projects/brief/access', { roles: [{ id: member, [holders]: [id] }] }],
    ] as const) {
      const given = await send(method, path, body);
      expect([path, given.status, given.body.message]).toEqual([path, 404, 'Could not find project with id brief']);
    }
    for (const table of ['project_user', 'project_group', 'project'])
      expect([
        table,
        await write(`select from ${table} where ${table === 'project' ? 'id' : 'project'} = 'brief'`),
      ]).toEqual([table, []]);
  });

  it.each(['projects/brief/api-tokens', 'api-tokens'])('gets no token by a request to %s', async (path) => {
    const body = { tokenName: 'late', type: 'client', environment: 'development', projects: ['brief'] };
    expect((await send('POST', path, body)).status).toBe(404);
    expect(await write("select from api_token where name = 'late'")).toEqual([]);
  });
});
