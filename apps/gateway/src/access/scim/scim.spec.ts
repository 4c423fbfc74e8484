import { beforeAll, describe, expect, it } from 'vitest';
import type { Me, User } from '@bunting/contracts';
import { syncGroups } from '../oidc/oidc-sign-in.ts';
import { groupRepository } from '../groups/group-store.ts';
import { lastAdministratorGuard } from '../../unit-of-work/last-administrator-guard.ts';
import { startedGateway } from '../../../test/started-gateway.ts';

type Resource = Record<string, unknown> & { readonly id: string };
interface ScimResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Resource & { readonly Resources: Resource[]; readonly totalResults: number };
}

let token: string;

const settings = async (path: string, body: object): Promise<Record<string, unknown>> => {
  const response = await gateway.send(`/api/admin/scim-settings${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
};
const admin = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const response = await gateway.send(`/api/admin/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
};
const scim = async (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ScimResponse> => {
  const response = await gateway.send(`/scim/v2/${path}`, {
    method,
    key: `Bearer ${token}`,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (text !== '') expect(response.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as ScimResponse['body'],
  };
};
const patch = (path: string, ...operations: object[]) =>
  scim('PATCH', path, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations });
const filtered = async (what: 'Users' | 'Groups', filter: string) =>
  (await scim('GET', `${what}?filter=${encodeURIComponent(filter)}`)).body.Resources.map(({ id }) => id);
const created = async (body: object): Promise<Resource> => {
  const answer = await scim('POST', 'Users', body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const group = async (displayName: string, members: string[] = []): Promise<Resource> => {
  const answer = await scim('POST', 'Groups', { displayName, members: members.map((value) => ({ value })) });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const membersOf = async ({ id }: Resource): Promise<string[]> =>
  ((await scim('GET', `Groups/${id}`)).body['members'] as { value: string }[]).map(({ value }) => value);
const error = (status: number, scimType?: string) => ({
  status,
  body: {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: expect.any(String),
  },
});
const eventsOf = async (type: string) => (await gateway.emittedEvents()).filter((event) => event.type === type);

const gateway = startedGateway();
beforeAll(async () => {
  token = String((await settings('', { enabled: true }))['token']);
});

describe('the token of SCIM', () => {
  it('is needed, and works only while SCIM is on', async () => {
    for (const key of [null, 'Bearer wrong', `Basic ${token}`, 'Bearer ', gateway.firstAdminToken ?? '*:*.x']) {
      const response = await gateway.send('/scim/v2/Users', { key });
      expect({ status: response.status, body: await response.json() }).toEqual(error(401));
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
    await settings('', { enabled: false });
    expect(await scim('GET', 'Users')).toMatchObject(error(403));
    await settings('', { enabled: true });
    expect(await scim('GET', 'Users')).toMatchObject({ status: 200 });
    expect((await gateway.send('/api/admin/user', { key: token })).status).toBe(401);
  });

  it('stops working when a new one is generated', async () => {
    const before = token;
    token = String((await settings('/generate-new-token', {}))['token']);
    expect((await gateway.send('/scim/v2/Users', { key: `Bearer ${before}` })).status).toBe(401);
    expect(await scim('GET', 'Users')).toMatchObject({ status: 200 });
  });
});

it('a method that an address of SCIM does not have is 405 with those that it has, and a search by POST 501', async () => {
  for (const [method, path, allow] of [
    ['POST', 'ServiceProviderConfig', 'GET'],
    ['DELETE', 'Schemas', 'GET'],
    ['PATCH', 'ResourceTypes/User', 'GET'],
    ['PUT', 'Users', 'GET, POST'],
    ['POST', 'Groups/7', 'GET, PUT, PATCH, DELETE'],
  ] as const) {
    const { status, headers } = await scim(method, path, method === 'DELETE' ? undefined : {});
    expect([path, status, headers.get('allow')]).toEqual([path, 405, allow]);
  }
  for (const path of ['.search', 'Users/.search']) expect((await scim('POST', path, {})).status).toBe(501);
});

it('the SCIM endpoints describe what they support', async () => {
  expect((await scim('GET', 'ServiceProviderConfig')).body).toMatchObject({
    patch: { supported: true },
    filter: { supported: true, maxResults: 1_000 },
    bulk: { supported: false },
  });
  expect((await scim('GET', 'ResourceTypes')).body.Resources.map(({ id }) => id)).toEqual(['User', 'Group']);
  expect((await scim('GET', 'ResourceTypes/User')).body).toMatchObject({ endpoint: '/Users' });
  const schema = 'urn:ietf:params:scim:schemas:core:2.0:User';
  expect((await scim('GET', 'Schemas')).body.totalResults).toBe(2);
  expect((await scim('GET', `Schemas/${schema}`)).body).toMatchObject({ id: schema, name: 'User' });
  const reference = expect.objectContaining({ name: '$ref', type: 'reference', referenceTypes: ['User'] });
  const members = expect.objectContaining({ name: 'members', subAttributes: expect.arrayContaining([reference]) });
  expect((await scim('GET', 'Schemas/urn:ietf:params:scim:schemas:core:2.0:Group')).body).toMatchObject({
    attributes: expect.arrayContaining([members]),
  });
  for (const path of ['Nothing', 'Bulk', 'Users/0', 'Users/x', 'Users/99999999999', 'Groups/4711'])
    expect(await scim('GET', path)).toMatchObject(error(404));
});

describe('users', () => {
  it('are found, created, changed and suspended as Microsoft Entra ID does it', async () => {
    expect(await filtered('Users', 'userName eq "ada@example.org"')).toEqual([]);
    const user = await created({
      schemas: [
        'urn:ietf:params:scim:schemas:core:2.0:User',
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
      ],
      externalId: 'object-1',
      userName: 'Ada@example.org',
      active: true,
      displayName: 'Ada Lovelace',
      emails: [{ primary: true, type: 'work', value: 'ada.lovelace@example.org' }],
      name: { formatted: 'Ada Lovelace', familyName: 'Lovelace', givenName: 'Ada' },
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Engines' },
    });
    expect(user).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id: expect.stringMatching(/^\d+$/),
      externalId: 'object-1',
      userName: 'Ada@example.org',
      displayName: 'Ada Lovelace',
      name: { formatted: 'Ada Lovelace', familyName: 'Lovelace', givenName: 'Ada' },
      emails: [{ value: 'ada.lovelace@example.org', type: 'work', primary: true }],
      active: true,
      groups: [],
      meta: { resourceType: 'User', created: expect.any(String), location: `${gateway.url}/scim/v2/Users/${user.id}` },
    });
    expect(await filtered('Users', 'USERNAME eq "ADA@EXAMPLE.ORG"')).toEqual([user.id]);
    expect(await filtered('Users', 'externalId eq "object-1" and active eq true')).toEqual([user.id]);
    expect(await admin<User>('GET', `user-admin/${user.id}`)).toMatchObject({
      username: 'Ada@example.org',
      email: 'ada.lovelace@example.org',
      rootRole: 3,
      scimId: user.id,
    });

    const renamed = await patch(
      `Users/${user.id}`,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'Ada.King@example.org' },
      { op: 'Replace', path: 'name.familyName', value: 'King' },
      { op: 'Add', path: 'displayName', value: 'Ada King' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Weaving' },
      { op: 'Add', path: 'title', value: 'Countess' },
    );
    expect(renamed).toMatchObject({
      status: 200,
      body: {
        displayName: 'Ada King',
        name: { formatted: 'Ada King', givenName: 'Ada', familyName: 'King' },
        emails: [{ value: 'ada.king@example.org' }],
      },
    });

    const key = `user:of-${user.id}-0123456789abcdef`;
    await gateway.givenToken({ token: key, userId: Number(user.id) });
    expect((await gateway.send('/api/admin/user', { key })).status).toBe(200);
    await gateway.database.transaction(({ query }) =>
      query(
        `insert into user_session (user_id, selector, hash, expires_at)
         values ($1, 'ada', decode(repeat('00', 32), 'hex'), now() + interval '1 day')`,
        [Number(user.id)],
      ),
    );
    expect(await patch(`Users/${user.id}`, { op: 'Replace', path: 'active', value: 'False' })).toMatchObject({
      status: 200,
      body: { active: false },
    });
    expect((await gateway.send('/api/admin/user', { key })).status).toBe(401);
    expect(await gateway.database.read({ text: `select id from user_session where user_id = ${user.id}` })).toEqual([]);
    expect(await filtered('Users', 'active eq "False"')).toContain(user.id);
    await patch(`Users/${user.id}`, { op: 'add', value: { active: 'True', 'name.givenName': 'Augusta' } });
    expect((await gateway.send('/api/admin/user', { key })).status).toBe(200);
    expect((await scim('GET', `Users/${user.id}`)).body).toMatchObject({
      active: true,
      name: { formatted: 'Augusta King', givenName: 'Augusta' },
    });
    const updates = (await eventsOf('user-updated')).flatMap(({ createdBy, data }) => {
      const { id, active } = data as { readonly id: number; readonly active: boolean };
      return id === Number(user.id) ? [[createdBy, active]] : [];
    });
    expect(updates).toEqual([
      ['SCIM', true],
      ['SCIM', false],
      ['SCIM', true],
    ]);
  });

  it('are replaced and deactivated as Okta does it', async () => {
    const user = await created({
      userName: 'bob@example.org',
      name: { givenName: 'Bob', familyName: 'Ross' },
      emails: [{ primary: true, value: 'bob@example.org', type: 'work' }],
      active: true,
    });
    expect(user).toMatchObject({ displayName: 'Bob Ross', emails: [{ value: 'bob@example.org' }] });
    const replaced = await scim('PUT', `Users/${user.id}`, {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id: user.id,
      userName: 'robert@example.org',
      name: { givenName: 'Robert', familyName: 'Ross' },
      emails: [{ primary: true, value: 'robert@example.org', type: 'work' }],
      active: true,
      groups: [],
    });
    expect(replaced).toMatchObject({
      status: 200,
      body: { userName: 'robert@example.org', displayName: 'Robert Ross', emails: [{ value: 'robert@example.org' }] },
    });
    expect(await patch(`Users/${user.id}`, { op: 'replace', value: { active: false } })).toMatchObject({
      status: 200,
      body: { active: false, userName: 'robert@example.org' },
    });
    // An e-mail address that only repeats the user name changes with it.
    const renamed = await patch(`Users/${user.id}`, { op: 'replace', path: 'userName', value: 'rob@example.org' });
    expect(renamed.body).toMatchObject({ userName: 'rob@example.org', emails: [{ value: 'rob@example.org' }] });
  });

  it('lose what a PATCH removes, and refuse a replacement whose target does not exist', async () => {
    const removable = { userName: 'removable', displayName: 'To Go', name: { givenName: 'To', familyName: 'Go' } };
    const { id } = await created({ ...removable, emails: [{ value: 'to.go@example.org', type: 'home' }] });
    const absent = await patch(`Users/${id}`, {
      op: 'replace',
      path: 'emails[type eq "nosuch"].value',
      value: 'other@example.org',
    });
    expect(absent).toMatchObject({ status: 400, body: { scimType: 'noTarget' } });
    const { body: unnamed } = await patch(`Users/${id}`, { op: 'remove', path: 'displayName' });
    expect(unnamed).toMatchObject({ name: { givenName: 'To', familyName: 'Go' } });
    expect(unnamed).not.toHaveProperty('displayName');
    expect((await patch(`Users/${id}`, { op: 'remove', path: 'name' })).body).not.toHaveProperty('name');
    expect((await patch(`Users/${id}`, { op: 'remove', path: 'emails' })).body).not.toHaveProperty('emails');
  });

  it('keep the type and the rank of their e-mail address', async () => {
    const emails = [{ value: 'home@example.org', type: 'home', primary: false }];
    const { id } = await created({ userName: 'at-home', emails });
    expect((await scim('GET', `Users/${id}`)).body['emails']).toEqual(emails);
    expect(await filtered('Users', 'emails.type eq "home"')).toEqual([id]);
    const change = { op: 'replace', path: 'emails[type eq "home"].value', value: 'new@example.org' };
    expect((await patch(`Users/${id}`, change)).body['emails']).toEqual([{ ...emails[0], value: 'new@example.org' }]);
  });

  it('get the primary e-mail address that is added, and refuse a filter of addresses that is not understood', async () => {
    const emails = [{ value: 'moved-1@example.org', type: 'work', primary: true }];
    const { id } = await created({ userName: 'moved', emails });
    for (const filter of [
      `type eq 'work'`,
      'type eq "work" and primary eq true',
      'value eq "moved-1@example.org"',
      '',
    ]) {
      const change = { op: 'replace', path: `emails[${filter}].value`, value: 'moved-4@example.org' };
      expect(await patch(`Users/${id}`, change)).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
    }
    const add = (value: string, primary: boolean) =>
      patch(`Users/${id}`, { op: 'add', path: 'emails', value: [{ value, type: 'work', primary }] });
    expect((await add('moved-2@example.org', false)).body['emails']).toEqual(emails);
    expect((await add('moved-3@example.org', true)).body['emails']).toEqual([
      { ...emails[0], value: 'moved-3@example.org' },
    ]);
  });

  it('and groups are returned with the attributes that the request asks for', async () => {
    const { id } = await created({ userName: 'selected', displayName: 'Selected', name: { givenName: 'Sel' } });
    const keysOf = async (query: string) => Object.keys((await scim('GET', `Users/${id}?${query}`)).body).toSorted();
    expect(await keysOf('attributes=userName')).toEqual(['id', 'schemas', 'userName']);
    expect(await keysOf('excludedAttributes=displayName,NAME.givenName,groups')).toEqual([
      'active',
      'id',
      'meta',
      'name',
      'schemas',
      'userName',
    ]);
    const { body } = await scim(
      'GET',
      `Users?filter=${encodeURIComponent('userName eq "selected"')}&attributes=name.givenName`,
    );
    expect(body.Resources).toEqual([{ id, schemas: expect.any(Array), name: { givenName: 'Sel' } }]);
  });

  it('get the e-mail address that a client sends as one object, as text or under a path as key', async () => {
    const { id } = await created({ userName: 'mails', emails: 'first@example.org' });
    const emailAfter = async (operation: object): Promise<unknown> =>
      (await patch(`Users/${id}`, operation)).body['emails'];
    const work = (value: string) => [{ value, type: 'work', primary: true }];
    expect((await scim('GET', `Users/${id}`)).body['emails']).toEqual(work('first@example.org'));
    const primary = { value: 'second@example.org', type: 'work', primary: true };
    expect(await emailAfter({ op: 'Replace', path: 'emails', value: primary })).toEqual(work('second@example.org'));
    expect(await emailAfter({ op: 'replace', path: 'emails', value: 'third@example.org' })).toEqual(
      work('third@example.org'),
    );
    const keyed = { 'emails[type eq "work"].value': 'fourth@example.org', displayName: 'Mail' };
    expect(await emailAfter({ op: 'Replace', value: keyed })).toEqual(work('fourth@example.org'));
    for (const value of [null, 7, [null], [{ value: 'fifth@example.org', primary: { toString: 1 } }]])
      expect({ value, ...(await patch(`Users/${id}`, { op: 'replace', path: 'emails', value })) }).toMatchObject({
        status: 200,
      });
    for (const value of [null, 'text', 7, ['a']])
      for (const path of ['name', 'emails[type eq "work"]', 'emails.value', 'emails'])
        expect([200, 400]).toContain((await patch(`Users/${id}`, { op: 'add', path, value })).status);
  });

  it('stay deactivated when they are replaced without a word about it', async () => {
    const { id } = await created({ userName: 'suspended', active: false });
    expect(await scim('PUT', `Users/${id}`, { userName: 'suspended', displayName: 'Sus' })).toMatchObject({
      status: 200,
      body: { displayName: 'Sus', active: false },
    });
    expect(await patch(`Users/${id}`, { op: 'remove', path: 'active' })).toMatchObject({ body: { active: false } });
  });

  it('are listed in pages with a total', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await created({ userName: name });
    const filter = `filter=${encodeURIComponent('userName sw "PAGE-"')}`;
    const page = await scim('GET', `Users?${filter}&startIndex=2&count=1`);
    expect(page.body).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: 3,
      startIndex: 2,
      itemsPerPage: 1,
      Resources: [{ userName: 'page-2' }],
    });
    expect((await scim('GET', `Users?${filter}&count=0`)).body).toMatchObject({ totalResults: 3, Resources: [] });
    expect((await scim('GET', `Users?${filter}&startIndex=-5&count=100000`)).body).toMatchObject({
      itemsPerPage: 3,
      startIndex: 1,
    });
    expect(await scim('GET', 'Users?count=many')).toMatchObject(error(400, 'invalidValue'));
  });

  it.each([
    ['displayName co "OVELAC" or userName eq "Cy"', ['Cy', 'Lovelace']],
    ['emails[type eq "work" and value eq "CY@example.org"]', ['Cy']],
    ['emails[type eq "work"].value eq "cy@example.org"', ['Cy']],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName ew "y"', ['Cy']],
    ['userName sw "filter-" and not (externalId pr)', ['Lovelace']],
    ['userName ne "Cy" and displayName eq "Filter Lovelace"', ['Lovelace']],
    ['userName gt "cx" and userName le "cy"', ['Cy']],
    [`userName eq "' or 1=1 --"`, []],
    ['displayName co "%"', []],
  ])('are found by the SCIM filter %s', async (filter, names) => {
    if ((await filtered('Users', 'userName eq "Cy"')).length === 0) {
      await created({ userName: 'Cy', externalId: 'cy', emails: [{ value: 'cy@example.org' }] });
      await created({ userName: 'filter-1', displayName: 'Filter Lovelace' });
    }
    const found = (
      await scim(
        'GET',
        `Users?filter=${encodeURIComponent(`(${filter}) and (userName eq "Cy" or userName eq "filter-1")`)}`,
      )
    ).body;
    expect(
      found.Resources.map(({ displayName, userName }) =>
        String(displayName ?? userName).replace('Filter ', ''),
      ).toSorted(),
    ).toEqual(names);
  });

  it.each([
    'userName eq',
    'password eq "x"',
    'userName like "x"',
    'active gt true',
    'active eq 1',
    '__proto__ pr',
    `${'('.repeat(500)}userName pr${')'.repeat(500)} and`,
    `userName eq "${'x'.repeat(1_000)}"`,
    'userName eq "x" constructor userName eq "y"',
    'userName eq "a\tb"',
    `userName eq "${'\n'.repeat(900)}`,
  ])('are not listed with a malformed filter: %#', async (filter) => {
    expect(await scim('GET', `Users?filter=${encodeURIComponent(filter)}`)).toMatchObject(error(400, 'invalidFilter'));
  });

  it('cannot take the name or address of another user', async () => {
    await created({ userName: 'taken', emails: [{ value: 'taken@example.org' }] });
    expect(await scim('POST', 'Users', { userName: 'TAKEN' })).toMatchObject(error(409, 'uniqueness'));
    expect(await scim('POST', 'Users', { userName: 'Taken@Example.org' })).toMatchObject(error(409, 'uniqueness'));
    const other = await created({ userName: 'other' });
    expect(await patch(`Users/${other.id}`, { op: 'replace', path: 'userName', value: 'taken' })).toMatchObject(
      error(409, 'uniqueness'),
    );
    await admin('POST', 'service-account', { username: 'a-robot', rootRole: 3 });
    expect(await scim('POST', 'Users', { userName: 'a-robot' })).toMatchObject(error(409, 'uniqueness'));
    expect(await filtered('Users', 'userName eq "a-robot"')).toEqual([]);
    const both = await Promise.all([1, 2].map(() => scim('POST', 'Users', { userName: 'at-once' })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });

  it('that existed before SCIM are taken over by it', async () => {
    const { id } = await admin<User>('POST', 'user-admin', { email: 'existing@example.org', rootRole: 2, name: 'Eve' });
    expect(await filtered('Users', 'userName eq "Existing@example.org"')).toEqual([String(id)]);
    await patch(`Users/${id}`, { op: 'replace', path: 'externalId', value: 'object-9' });
    const taken = await admin<User>('GET', `user-admin/${id}`);
    expect(taken).toMatchObject({ email: 'existing@example.org', rootRole: 2, name: 'Eve', scimId: String(id) });
    expect(taken).not.toHaveProperty('username');
  });

  it('are deleted with their keys, and their names can be used again', async () => {
    const user = await created({ userName: 'gone@example.org' });
    const key = `user:of-${user.id}-0123456789abcdef`;
    await gateway.givenToken({ token: key, userId: Number(user.id) });
    const team = await group('Of those who leave', [user.id]);
    expect(await scim('DELETE', `Users/${user.id}`)).toMatchObject({ status: 204, body: {} });
    expect((await gateway.send('/api/admin/user', { key })).status).toBe(401);
    expect(await membersOf(team)).toEqual([]);
    for (const method of ['GET', 'DELETE']) expect(await scim(method, `Users/${user.id}`)).toMatchObject(error(404));
    expect((await created({ userName: 'gone@example.org' })).id).not.toBe(user.id);
    expect(await eventsOf('user-deleted')).toMatchObject([{ createdBy: 'SCIM', preData: { id: Number(user.id) } }]);
  });

  it('are refused with malformed attributes', async () => {
    const { id } = await created({ userName: 'plain' });
    expect(await scim('POST', 'Users', { userName: 'bad', emails: [{ value: 'no address' }] })).toMatchObject({
      body: { detail: 'The email must be an address: see the attribute `emails`.' },
    });
    const wrong: [path: string, body: unknown, scimType: string][] = [
      ['', {}, 'invalidValue'],
      ['', { userName: '  ' }, 'invalidValue'],
      ['', { userName: 7 }, 'invalidValue'],
      ['', { userName: 'x'.repeat(300) }, 'invalidValue'],
      ['', { userName: 'nul', displayName: 'a\u0000b' }, 'invalidValue'],
      ['', { userName: 'half', active: 'perhaps' }, 'invalidValue'],
      ['', { userName: 'bad', emails: [{ value: 'no address' }] }, 'invalidValue'],
      ['', [], 'invalidSyntax'],
      ['', '{"userName":', 'invalidSyntax'],
      ['', { userName: 'mailbag', emails: Array(101).fill({ value: 'a@example.org' }) }, 'invalidValue'],
      [
        `/${id}`,
        { Operations: Array(101).fill({ op: 'add', path: 'emails', value: 'a@example.org' }) },
        'invalidValue',
      ],
      [`/${id}`, { Operations: [] }, 'invalidSyntax'],
      [`/${id}`, { Operations: [{ op: 'move', path: 'active' }] }, 'invalidSyntax'],
      [`/${id}`, { Operations: [{ op: 'remove' }] }, 'invalidPath'],
      [`/${id}`, { Operations: [{ op: 'replace', value: 'x' }] }, 'invalidValue'],
      [`/${id}`, { Operations: [{ op: 'remove', path: 'userName' }] }, 'invalidValue'],
      [`/${id}`, { Operations: [{ op: 'replace', path: 'active', value: 'perhaps' }] }, 'invalidValue'],
    ];
    for (const [path, sent, scimType] of wrong) {
      const answer = await scim(path === '' ? 'POST' : 'PATCH', `Users${path}`, sent);
      expect({ sent, ...answer }).toMatchObject(error(400, scimType));
    }
    await patch(
      `Users/${id}`,
      { op: 'add', path: '__proto__.polluted', value: 'yes' },
      { op: 'add', path: 'constructor.prototype.polluted', value: 'yes' },
      { op: 'add', value: { 'constructor.prototype.polluted': 'yes' } },
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(await scim('POST', 'Users', 'userName=x', { 'content-type': 'text/plain' })).toMatchObject(error(415));
    expect(await scim('POST', 'Users', ' '.repeat(1_100_000))).toMatchObject(error(413));
  });
});

describe('groups', () => {
  it('get and lose members as Microsoft Entra ID and Okta do it, and with them their roles', async () => {
    const { id: one } = await created({ userName: 'm-1' });
    const { id: two } = await created({ userName: 'm-2' });
    const { id: three } = await created({ userName: 'm-3' });
    const team = await group('Team', [one]);
    expect(team).toMatchObject({ displayName: 'Team', members: [{ value: one, display: 'm-1', type: 'User' }] });
    await admin('PUT', `groups/${team.id}`, { name: 'Team', rootRole: 1, mappingsSSO: [] });
    const key = `user:of-${two}-0123456789abcdef`;
    await gateway.givenToken({ token: key, userId: Number(two) });
    const isAdmin = async () =>
      ((await (await gateway.send('/api/admin/user', { key })).json()) as Me).permissions.some(
        ({ permission }) => permission === 'ADMIN',
      );

    const members = [{ value: two }, { value: three }];
    expect(await patch(`Groups/${team.id}`, { op: 'Add', path: 'members', value: members })).toMatchObject({
      status: 204,
    });
    expect(await membersOf(team)).toEqual([one, two, three]);
    expect(await isAdmin()).toBe(true);
    await patch(`Groups/${team.id}`, { op: 'Remove', path: `members[value eq "${two}"]` });
    expect(await isAdmin()).toBe(false);
    await patch(`Groups/${team.id}`, { op: 'Remove', path: 'members', value: [{ value: three }] });
    expect(await membersOf(team)).toEqual([one]);
    await patch(
      `Groups/${team.id}`,
      { op: 'replace', path: 'members', value: members },
      { op: 'add', path: 'members', value: { value: one } },
      { op: 'remove', path: `members[value eq "${two}" or value eq "${one}"]` },
      { op: 'replace', value: { id: team.id, displayName: 'Team 2' } },
    );
    expect((await scim('GET', `Groups/${team.id}`)).body).toMatchObject({
      displayName: 'Team 2',
      members: [{ value: three }],
    });
    expect((await scim('GET', `Users/${three}`)).body).toMatchObject({
      groups: [{ value: team.id, display: 'Team 2' }],
    });
    await scim('PUT', `Groups/${team.id}`, { displayName: 'Team', externalId: 'g-1', members: [{ value: one }] });
    expect(await membersOf(team)).toEqual([one]);
    await patch(`Groups/${team.id}`, { op: 'remove', path: 'members' });
    expect(await membersOf(team)).toEqual([]);

    const events = (await gateway.emittedEvents()).flatMap(({ type, createdBy, data, preData }) => {
      const { groupId, userId } = (data ?? preData ?? {}) as { groupId?: number; userId?: number };
      return type.startsWith('group-user') && groupId === Number(team.id) ? [`${createdBy} ${type} ${userId}`] : [];
    });
    expect(events).toEqual([
      `SCIM group-user-added ${two}`,
      `SCIM group-user-added ${three}`,
      `SCIM group-user-removed ${two}`,
      `SCIM group-user-removed ${three}`,
      `SCIM group-user-added ${three}`,
      `SCIM group-user-removed ${one}`,
      `SCIM group-user-added ${one}`,
      `SCIM group-user-removed ${three}`,
      `SCIM group-user-removed ${one}`,
    ]);
    // What administrators decide stays: an identity provider manages name and members.
    expect(await admin('GET', `groups/${team.id}`)).toMatchObject({ rootRole: 1 });
    expect(await scim('DELETE', `Groups/${team.id}`)).toMatchObject({ status: 204 });
    expect(await scim('GET', `Groups/${team.id}`)).toMatchObject(error(404));
  });

  it('emit all properties and members, as requests to the API do, when they are renamed or deleted', async () => {
    const { id: member } = await created({ userName: 'of-events' });
    const team = await group('Of events', [member]);
    await admin('PUT', `groups/${team.id}`, {
      name: 'Of events',
      description: 'A team',
      rootRole: 2,
      mappingsSSO: ['x'],
    });
    await patch(`Groups/${team.id}`, { op: 'replace', path: 'displayName', value: 'Of SCIM' });
    await scim('DELETE', `Groups/${team.id}`);
    const data = {
      id: Number(team.id),
      description: 'A team',
      rootRole: 2,
      mappingsSSO: ['x'],
      users: [Number(member)],
    };
    expect((await eventsOf('group-updated')).at(-1)).toMatchObject({
      createdBy: 'SCIM',
      data: { ...data, name: 'Of SCIM' },
      preData: { ...data, name: 'Of events' },
    });
    expect((await eventsOf('group-deleted')).at(-1)).toMatchObject({
      createdBy: 'SCIM',
      preData: { ...data, name: 'Of SCIM' },
    });
  });

  it('keep a member whom single sign-on had added first, when a sign-in no longer names the group', async () => {
    const signInWithoutGroups = (userId: string) =>
      gateway.database.transaction((tx) =>
        syncGroups({ groups: groupRepository(tx, lastAdministratorGuard(tx), () => undefined) }, Number(userId), []),
      );
    const users = [await created({ userName: 'synced-1' }), await created({ userName: 'synced-2' })];
    const [one = '', two = ''] = users.map(({ id }) => id);
    const team = await group('Synchronised');
    const other = await created({ userName: 'synced-3' });
    await gateway.database.transaction(({ query }) =>
      query(
        "insert into group_member (group_id, user_id, created_by, is_synced) select $1, id, 'SSO', true from unnest($2::int[]) id",
        [team.id, [one, two, other.id]],
      ),
    );
    await patch(`Groups/${team.id}`, { op: 'add', path: 'members', value: [{ value: one }] });
    await signInWithoutGroups(one);
    expect(await membersOf(team)).toEqual([one, two, other.id]);
    await scim('PUT', `Groups/${team.id}`, { displayName: 'Synchronised', members: [{ value: one }, { value: two }] });
    await signInWithoutGroups(two);
    expect(await membersOf(team)).toEqual([one, two]);
  });

  it('are found by name, member and id, and listed without members where that is requested', async () => {
    const { id: member } = await created({ userName: 'searched' });
    const team = await group('Searched Team', [member]);
    expect(await filtered('Groups', 'displayName eq "searched TEAM"')).toEqual([team.id]);
    expect(await filtered('Groups', `members eq "${member}" and id eq "${team.id}"`)).toEqual([team.id]);
    const [listed] = (
      await scim('GET', `Groups?excludedAttributes=members&filter=${encodeURIComponent(`id eq "${team.id}"`)}`)
    ).body.Resources;
    expect(listed).not.toHaveProperty('members');
    expect((await scim('GET', `Groups/${team.id}?attributes=displayName`)).body).not.toHaveProperty('members');
  });

  it('are refused with malformed attributes', async () => {
    const team = await group('Strict');
    expect(await scim('POST', 'Groups', { displayName: 'STRICT' })).toMatchObject(error(409, 'uniqueness'));
    const other = await group('Other');
    expect(await patch(`Groups/${other.id}`, { op: 'replace', path: 'displayName', value: 'strict' })).toMatchObject(
      error(409, 'uniqueness'),
    );
    const wrong: [operation: object, scimType: string][] = [
      [{ op: 'add', path: 'members', value: [{ value: '2147483647' }] }, 'invalidValue'],
      [{ op: 'add', path: 'members', value: [{ value: 'x' }] }, 'invalidValue'],
      [{ op: 'add', path: 'members', value: [{}] }, 'invalidValue'],
      [{ op: 'replace', path: 'displayName', value: '' }, 'invalidValue'],
      [{ op: 'add', path: 'members[value eq "1"]', value: [] }, 'invalidPath'],
      [{ op: 'remove', path: 'members[display eq "x"]' }, 'invalidPath'],
      [{ op: 'remove', path: 'members[' }, 'invalidPath'],
      [{ op: 'remove', path: `members[value eq "${'\n'.repeat(10_000)}` }, 'invalidPath'],
    ];
    for (const [operation, scimType] of wrong)
      expect({ operation, ...(await patch(`Groups/${team.id}`, operation)) }).toMatchObject(error(400, scimType));
    expect(await membersOf(team)).toEqual([]);
  });

  it('do not take another group for the user with its id', async () => {
    const { id } = await created({ userName: 'same-id' });
    const nested = { value: id, type: 'Group' };
    expect(await scim('POST', 'Groups', { displayName: 'Nested', members: [nested] })).toMatchObject(
      error(400, 'invalidValue'),
    );
    const team = await group('Flat', [id]);
    expect(await patch(`Groups/${team.id}`, { op: 'add', path: 'members', value: [nested] })).toMatchObject(
      error(400, 'invalidValue'),
    );
    expect(await membersOf(team)).toEqual([id]);
  });

  it('accept attributes that Bunting does not have, without effect', async () => {
    const team = await group('Known');
    const described = { displayName: 'Renamed', description: 'x', owners: [] };
    expect(await patch(`Groups/${team.id}`, { op: 'replace', value: described })).toMatchObject({ status: 204 });
    expect(await patch(`Groups/${team.id}`, { op: 'remove', path: 'owners' })).toMatchObject({ status: 204 });
    expect((await scim('GET', `Groups/${team.id}`)).body).toMatchObject({ displayName: 'Renamed', members: [] });
  });

  it('can be large: a change moves its members only, and a page of groups is bounded', async () => {
    const rows = await gateway.database.transaction(({ query }) =>
      query<{ id: number }>(
        "insert into api_user (username, root_role_id) select 'large-' || n, 3 from generate_series(1, 12000) n returning id",
      ),
    );
    const ids = rows.map(({ id }) => String(id));
    const teams = [await group('Large 1'), await group('Large 2')];
    // Most of them are stored directly: a request stores an event for each member.
    for (const { id } of teams) {
      const members = ids.slice(0, 2_000).map((value) => ({ value }));
      expect(await patch(`Groups/${id}`, { op: 'add', path: 'members', value: members })).toMatchObject({
        status: 204,
      });
      await gateway.database.transaction(({ query }) =>
        query("insert into group_member (group_id, user_id, created_by) select $1, unnest($2::integer[]), 'x'", [
          id,
          ids.slice(2_000),
        ]),
      );
    }
    const filter = encodeURIComponent('displayName sw "Large"');
    const page = (await scim('GET', `Groups?filter=${filter}`)).body;
    expect(page).toMatchObject({ totalResults: 2, itemsPerPage: 1 });
    expect(page.Resources[0]?.['members']).toHaveLength(12_000);
    const rest = (await scim('GET', `Groups?filter=${filter}&startIndex=2`)).body;
    expect(rest).toMatchObject({ totalResults: 2, itemsPerPage: 1, Resources: [{ displayName: 'Large 2' }] });
    await patch(`Groups/${teams[0]?.id}`, { op: 'remove', path: `members[value eq "${ids[0]}"]` });
    expect(await membersOf(teams[0] as Resource)).toHaveLength(11_999);
  });
});

it('SCIM never deprovisions the last administrator', async () => {
  const user = await created({ userName: 'last-admin' });
  const admins = await group('Admins', [user.id]);
  await admin('PUT', `groups/${admins.id}`, { name: 'Admins', rootRole: 1, mappingsSSO: [] });
  await gateway.givenToken({ token: 'user:the-token-of-the-last-administrator', userId: Number(user.id) });
  await gateway.withoutAdminTokens(async () => {
    const refused = [
      await scim('DELETE', `Users/${user.id}`),
      await patch(`Users/${user.id}`, { op: 'replace', path: 'active', value: false }),
      await patch(`Groups/${admins.id}`, { op: 'remove', path: 'members' }),
      await scim('PUT', `Groups/${admins.id}`, { displayName: 'Admins', members: [] }),
      await scim('DELETE', `Groups/${admins.id}`),
    ];
    for (const answer of refused) {
      expect(answer).toMatchObject(error(403));
      expect(answer.body['detail']).toContain('without an administrator');
    }
  });
  expect((await scim('GET', `Users/${user.id}`)).body).toMatchObject({ active: true, groups: [{ value: admins.id }] });
});
