import { implement, JsonText } from '@bunting/bus';
import { GetTag, ListTags, ListTagsOfType } from '@bunting/contracts';
import type { TagReader } from '../../persistence/tag-catalogue.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listTagsEndpoint = (tags: TagReader) =>
  implement(ListTags, async ({ query, caller }) => new JsonText(await tags.all(null, hiddenFrom(caller), query)));

export const listTagsOfTypeEndpoint = (tags: TagReader) =>
  implement(
    ListTagsOfType,
    async ({ params, query, caller }) => new JsonText(await tags.all(params.type, hiddenFrom(caller), query)),
  );

export const getTagEndpoint = (tags: TagReader) =>
  implement(GetTag, async ({ params, caller }) => new JsonText(await tags.one(params, hiddenFrom(caller))));
