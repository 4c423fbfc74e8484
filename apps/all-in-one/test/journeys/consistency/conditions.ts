import type { ChangeRequest, Feature, FeatureStrategy } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { type ApiResponse, expectRefusal, featurePath, platformClient, adminClient } from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** Conditional requests: reads without a body if nothing has changed, and writes that are refused if something has. */
export const describeConditions = (platform: () => Platform): void => {
  describe('an ETag', () => {
    const project = 'tagged';
    const address = featurePath(project, 'tagged-flag');
    const inDevelopment = `${address}/environments/development`;
    const client = () => platformClient(platform().api);
    const tagOf = ({ headers }: ApiResponse): string => headers.get('etag') ?? '';
    const read = async (path: string): Promise<string> => tagOf(await platform().api('GET', path));
    /** An ETag without its closing quote and the suffix of a compressed response. */
    const versionOf = (tag: string): string => tag.replace(/(\+(gzip|br))?"$/, '');
    const ifMatch = (tag: string) => ({ 'if-match': tag });
    let strategy: string;
    let segment: string;

    beforeAll(async () => {
      await client().createProject(project);
      await client().createFeature(project, 'tagged-flag');
      const { id } = await client().addStrategy(address, 'development', { title: 'First' });
      strategy = `${inDevelopment}/strategies/${id}`;
      await client().addStrategy(address, 'development', { title: 'Second' });
      segment = `/api/admin/segments/${(await client().createSegment({ name: 'tagged-segment' })).id}`;
    });

    const titled = (title: string) => [{ op: 'replace', path: '/title', value: title }];

    it('saves the transfer of an unchanged response of any read operation', async () => {
      const paths = [address, strategy, inDevelopment, segment, '/api/admin/projects', '/api/admin/environments'];
      for (const path of [
        ...paths,
        '/api/admin/environments/development',
        `/api/admin/search/features?project=IS:${project}`,
      ]) {
        const tag = await read(path);
        expect(tag).toMatch(/^"[\w.-]{22,}(\+gzip)?"$/);
        for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const again = await platform().api('GET', path, undefined, { 'if-none-match': known });
          expect({ status: again.status, text: again.text, tag: tagOf(again) }).toEqual({ status: 304, text: '', tag });
        }
        expect((await platform().api('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200);
      }
    });

    it.each<readonly [description: string, path: () => string, write: (tag: string) => Promise<ApiResponse>]>([
      [
        'a feature',
        () => address,
        (tag) => platform().api('PATCH', address, [{ op: 'replace', path: '/description', value: tag }], ifMatch(tag)),
      ],
      ['a strategy', () => strategy, (tag) => platform().api('PATCH', strategy, titled(tag), ifMatch(tag))],
      [
        'a feature in an environment',
        () => inDevelopment,
        async (tag) => {
          const { environments } = await client().getFeature(address);
          return platform().api(
            'POST',
            `${inDevelopment}/${environments?.[0]?.enabled ? 'off' : 'on'}`,
            undefined,
            ifMatch(tag),
          );
        },
      ],
      [
        'the strategies of an environment',
        () => `${inDevelopment}/strategies`,
        (tag) => platform().api('POST', `${inDevelopment}/strategies`, { name: 'default' }, ifMatch(tag)),
      ],
      [
        'a segment',
        () => segment,
        (tag) =>
          platform().api('PUT', segment, { name: 'tagged-segment', description: tag, constraints: [] }, ifMatch(tag)),
      ],
    ])(
      'of %s accepts one of two concurrent writes, and returns the current ETag to the other',
      async (_, path, write) => {
        const tag = await read(path());
        const both = await Promise.all([write(tag), write(tag)]);
        const lost = both.filter(({ status }) => status === 412);
        expect(both.map(({ status }) => status < 300)).toContain(true);
        expect(lost).toHaveLength(1);
        expectRefusal(lost[0] as ApiResponse, 412, 'PreconditionFailed', 'If-Match');
        const now = await read(path());
        expect(now.startsWith(`${tagOf(lost[0] as ApiResponse).slice(0, -1)}.`)).toBe(true);
        // The ETag of the refusal is valid for the next attempt, and so is the ETag of a read.
        expect((await write(tagOf(lost[0] as ApiResponse))).status).toBeLessThan(300);
        expect((await write(await read(path()))).status).toBeLessThan(300);
        // A proxy that compresses has made it weak.
        expect((await write(`W/${await read(path())}`)).status).toBeLessThan(300);
        expect((await write('*')).status).toBeLessThan(300);
      },
    );

    it('of a change request accepts one of two concurrent decisions', async () => {
      const change = { action: 'updateEnabled', feature: 'tagged-flag', payload: { enabled: true } };
      const requests = `/api/admin/projects/${project}/environments/production/change-requests`;
      const { body } = await platform().api<{ id: number }>('POST', requests, change);
      const request = `/api/admin/projects/${project}/change-requests/${body.id}`;
      const tag = await read(request);
      const comment = (text: string) => platform().api('POST', `${request}/comments`, { text }, ifMatch(tag));
      expect((await Promise.all([comment('one'), comment('other')])).map(({ status }) => status).toSorted()).toEqual([
        204, 412,
      ]);
      const state = await platform().api('PUT', `${request}/state`, { state: 'In review' }, ifMatch(tag));
      expectRefusal(state, 412, 'PreconditionFailed');
      const now = ifMatch(await read(request));
      expect((await platform().api('PUT', `${request}/state`, { state: 'In review' }, now)).status).toBe(200);
    });

    it('of a change request is returned by every write, and guards the next write', async () => {
      const { api } = platform();
      const requests = `/api/admin/projects/${project}/environments/development/change-requests`;
      const change = (enabled: boolean) => ({ action: 'updateEnabled', feature: 'tagged-flag', payload: { enabled } });
      const created = await api<ChangeRequest>('POST', requests, change(true));
      const request = `/api/admin/projects/${project}/change-requests/${created.body.id}`;
      const changeId = created.body.features[0]?.changes[0]?.id;
      await client().createFeature(project, 'tagged-other');
      const { id: userId } = await adminClient(platform).createUser('tagged-reviewer');

      let last = tagOf(await api('POST', requests, { action: 'archiveFeature', feature: 'tagged-other' }));
      expect(tagOf(created)).not.toBe(last);
      const writes: readonly [method: string, path: string, body?: unknown][] = [
        ['PUT', '/title', { title: 'Tagged' }],
        ['PUT', `/changes/${changeId}`, change(false)],
        ['PUT', '/approvers', { reviewers: [userId] }],
        ['PUT', '/approvers', { reviewers: [] }],
        ['POST', '/comments', { text: 'With the tag that came last.' }],
        ['PUT', '/state', { state: 'In review' }],
        ['PUT', '/state', { state: 'Approved', comment: 'Good.' }],
        ['DELETE', `/changes/${changeId}`],
        ['PUT', '/state', { state: 'Rejected' }],
      ];
      for (const [method, path, body] of writes) {
        const before = last;
        const response = await api(method, `${request}${path}`, body, ifMatch(before));
        expect([path, response.status < 300, response.text]).toEqual([path, true, response.text]);
        last = tagOf(response);
        expect((await read(request)).startsWith(versionOf(last))).toBe(true);
        expect([path, versionOf(last) === versionOf(before)]).toEqual([path, false]);
        // A write of a client that has not read the change yet is refused.
        const late = await api('POST', `${request}/comments`, { text: 'Late.' }, ifMatch(before));
        expect([path, late.status, versionOf(tagOf(late))]).toEqual([path, 412, versionOf(last)]);
      }
    });

    it('of an applied change request is returned by the first response and by its replay', async () => {
      const { api } = platform();
      const change = { action: 'updateEnabled', feature: 'tagged-flag', payload: { enabled: true } };
      const requests = `/api/admin/projects/${project}/environments/development/change-requests?new=true`;
      const { body } = await api<ChangeRequest>('POST', requests, change);
      const request = `/api/admin/projects/${project}/change-requests/${body.id}`;
      for (const state of ['In review', 'Approved']) {
        expect((await api('PUT', `${request}/state`, { state })).status).toBe(200);
      }
      const apply = { 'idempotency-key': randomUUID(), ...ifMatch(await read(request)) };
      const applied = await api('PUT', `${request}/state`, { state: 'Applied' }, apply);
      expect([applied.status, applied.text]).toEqual([200, applied.text]);
      expect((await read(request)).startsWith(versionOf(tagOf(applied)))).toBe(true);
      const again = await api('PUT', `${request}/state`, { state: 'Applied' }, apply);
      expect([again.status, tagOf(again)]).toEqual([200, tagOf(applied)]);
    });

    it('is returned by a write, so that the next write needs no read', async () => {
      const first = await platform().api('PATCH', strategy, titled('one'), ifMatch(await read(strategy)));
      const second = await platform().api('PATCH', strategy, titled('two'), ifMatch(tagOf(first)));
      expect(second.status).toBe(200);
      expectRefusal(
        await platform().api('PATCH', strategy, titled('three'), ifMatch(tagOf(first))),
        412,
        'PreconditionFailed',
      );
    });

    it('of a strategy stays valid when another strategy changes, and the ETag of a feature, valid for each part, does not', async () => {
      const { body } = await platform().api<FeatureStrategy[]>('GET', `${inDevelopment}/strategies`);
      const other = `${inDevelopment}/strategies/${body.find(({ id }) => !strategy.endsWith(String(id)))?.id}`;
      const [own, whole] = [await read(strategy), await read(address)];
      expect((await platform().api('PATCH', other, titled('changed'), ifMatch(whole))).status).toBe(200);
      expect((await platform().api('PATCH', strategy, titled('mine'), ifMatch(whole))).status).toBe(412);
      expect((await platform().api('PATCH', strategy, titled('mine'), ifMatch(own))).status).toBe(200);
    });

    it('of a feature changes with its edits, and not with its usage', async () => {
      const before = await read(address);
      const stop = new Date().toISOString();
      const metrics = {
        appName: 'tagged',
        environment: 'development',
        bucket: { start: stop, stop, toggles: { 'tagged-flag': { yes: 3, no: 1 } } },
      };
      expect((await platform().api('POST', '/api/client/metrics', metrics)).status).toBe(202);
      expect(await read(address)).not.toBe(before);
      const stale = [{ op: 'replace', path: '/impressionData', value: true }];
      expect((await platform().api<Feature>('PATCH', address, stale, ifMatch(before))).status).toBe(200);
      expect((await platform().api('PATCH', address, stale, ifMatch(before))).status).toBe(412);
    });

    it('of a deleted feature is not valid for a new feature of the same name', async () => {
      const again = featurePath(project, 'tagged-again');
      await client().createFeature(project, 'tagged-again');
      const before = await read(again);
      await client().archive(again);
      expect((await platform().api('DELETE', '/api/admin/archive/tagged-again')).status).toBe(200);
      await client().createFeature(project, 'tagged-again');
      const description = [{ op: 'replace', path: '/description', value: 'x' }];
      expect((await platform().api('PATCH', again, description, ifMatch(before))).status).toBe(412);
    });

    it('that is malformed is refused, and so is one that the operation does not support', async () => {
      for (const tag of ['unquoted', '"open', '"a" "b"', '']) {
        expectRefusal(
          await platform().api('PATCH', strategy, titled('x'), ifMatch(tag)),
          400,
          'ValidationError',
          'If-Match',
        );
      }
      const features = `/api/admin/projects/${project}/features`;
      expectRefusal(
        await platform().api('POST', features, { name: 'tagged-none' }, ifMatch('"a"')),
        400,
        'ValidationError',
        'If-Match',
      );
      const known = { 'if-none-match': '*' };
      expectRefusal(
        await platform().api('POST', features, { name: 'tagged-none' }, known),
        400,
        'ValidationError',
        'If-None-Match',
      );
      expectRefusal(await platform().api('GET', featurePath(project, 'tagged-none')), 404, 'NotFoundError');
    });

    it('is compared last: a missing object or an invalid body is reported whatever the ETag', async () => {
      const absent = `${inDevelopment}/strategies/00000000-0000-4000-8000-000000000000`;
      expectRefusal(await platform().api('PATCH', absent, titled('x'), ifMatch('"a"')), 404, 'NotFoundError');
      expectRefusal(
        await platform().api('PATCH', strategy, [{ op: 'replace', path: '/title', value: 7 }], ifMatch('"a"')),
        400,
        'ValidationError',
      );
    });
  });

  describe('a client that accepts application/problem+json', () => {
    const problem = { accept: 'application/json, application/problem+json' };
    const send = async (method: string, path: string, body?: unknown, headers = {}) => {
      const { status, headers: said, text } = await platform().api(method, path, body, { ...problem, ...headers });
      return {
        status,
        type: said.get('content-type'),
        varies: said.get('vary'),
        body: JSON.parse(text) as Record<string, unknown>,
      };
    };

    it.each<readonly [number, string, string, readonly [string, string, unknown?, Readonly<Record<string, string>>?]]>([
      [
        401,
        'AuthenticationRequired',
        'Authentication required',
        ['GET', '/api/admin/projects', undefined, { authorization: 'nonsense' }],
      ],
      [404, 'NotFoundError', 'Not found', ['GET', '/api/admin/nowhere']],
      [404, 'NotFoundError', 'Not found', ['GET', '/nowhere']],
      [404, 'NotFoundError', 'Not found', ['GET', featurePath('default', 'unknown')]],
      [400, 'ValidationError', 'Validation', ['POST', '/api/admin/projects/default/features', { name: 7 }]],
      [400, 'ValidationError', 'Validation', ['POST', '/api/admin/projects/default/features', '{']],
      [
        413,
        'PayloadTooLarge',
        'Payload too large',
        ['POST', '/api/admin/projects/default/features', ' '.repeat(2_000_000)],
      ],
      [
        415,
        'ContentTypeerror',
        'Content type',
        ['POST', '/api/admin/projects/default/features', 'x', { 'content-type': 'text/plain' }],
      ],
    ])('receives a %i (%s) with the members of both formats', async (status, name, title, request) => {
      const response = await send(...request);
      const { id, message, ...more } = response.body;
      expect(response).toMatchObject({
        status,
        type: expect.stringMatching(/^application\/problem\+json/),
        varies: expect.stringContaining('Accept'),
      });
      expect(more).toMatchObject({
        type: `urn:bunting:error:${name}`,
        title,
        status,
        detail: message,
        instance: `urn:uuid:${String(id)}`,
        name,
      });
    });

    it('receives application/json for a successful response', async () => {
      const { status, headers } = await platform().api('GET', '/api/admin/projects', undefined, problem);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    });
  });
};
