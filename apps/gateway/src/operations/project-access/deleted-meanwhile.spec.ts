import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { accessApi, placesBehind } from '../../../test/access-api.ts';
import { type StartedGateway, startGateway } from '../../../test/started-gateway.ts';
import { applyProjects } from '../../persistence/apply-projects.ts';

const member = 5;
let gateway: StartedGateway;
const { ask, aUser } = accessApi(() => gateway);

const write = <Row>(text: string) => gateway.database.transaction(({ query }) => query<Row>(text));
/** Lets the gateway hear that the project is deleted, as soon as the features service has found it. */
const deleteIt = () =>
  gateway.database.transaction((tx) =>
    applyProjects(tx, [
      {
        position: 1,
        uid: randomUUID(),
        type: 'project',
        recordedAt: new Date().toISOString(),
        traceparent: null,
        payload: { entity: 'project', id: 'brief', version: 2, state: null },
      },
    ]),
  );

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.behind(placesBehind(['brief'], deleteIt));
});
beforeEach(() => write("insert into project (id, mode, version) values ('brief', 'open', 1) on conflict do nothing"));
afterAll(() => gateway.stop());

it('access to a project that is deleted meanwhile is given to nobody', async () => {
  const { id } = await aUser();
  const given = await ask('PUT', `projects/brief/users/${id}/roles`, { roles: [member] });
  expect([given.status, given.body.message]).toEqual([404, 'Could not find project with id brief']);
  expect(await write("select from project_user where project = 'brief'")).toEqual([]);
});

it.each(['projects/brief/api-tokens', 'api-tokens'])('no token is made for it either: %s', async (path) => {
  const body = { tokenName: 'late', type: 'client', environment: 'development', projects: ['brief'] };
  expect((await ask('POST', path, body)).status).toBe(404);
  expect(await write("select from api_token where name = 'late'")).toEqual([]);
});
