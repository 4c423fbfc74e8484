import { call, implement, systemContext } from '@bunting/bus';
import { HideProject, ListTags, maySee } from '@bunting/contracts';
import { beforeAll, expect, it } from 'vitest';
import { startedGateway } from '../../test/started-gateway.ts';

const viewer = 'user:key-of-a-user-without-a-role-in-the-project';

const gateway = startedGateway();
beforeAll(() => gateway.givenToken({ token: viewer }));

it('repeats a read during which a project became private', async () => {
  let request = 0;
  const answered = await gateway.behind([
    implement(ListTags, async ({ caller }) => {
      request++;
      // What the features service does before it commits a private project: from here on, its tags are read.
      if (request === 1)
        await call(gateway.bus, HideProject, { body: { id: 'merger', version: 1 } }, systemContext(60_000));
      return {
        version: 1 as const,
        tags: maySee(caller, 'merger') ? [{ type: 'simple', value: 'of-the-merger' }] : [],
      };
    }),
  ]);
  const tagsFor = async (key?: string) =>
    (await (await gateway.send('/api/admin/tags', key === undefined ? {} : { key })).json()) as { tags: unknown[] };
  expect(await tagsFor(viewer)).toMatchObject({ tags: [] });
  expect(request).toBe(2);
  // An administrator sees it, and is answered by the first read.
  expect(await tagsFor()).toMatchObject({ tags: [{ value: 'of-the-merger' }] });
  expect(request).toBe(3);
  await answered.stop();
});
