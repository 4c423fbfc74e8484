import { implement, JsonText } from '@bunting/bus';
import { GetTag, ListTags, ListTagsOfType } from '@bunting/contracts';
import type { TagReader } from '../../persistence/tag-catalogue.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listTagsEndpoint = (tags: TagReader) =>
  implement(ListTags, async ({ caller }) => new JsonText(await tags.all(null, hiddenFrom(caller))));

export const listTagsOfTypeEndpoint = (tags: TagReader) =>
  implement(
    ListTagsOfType,
    async ({ params, caller }) => new JsonText(await tags.all(params.type, hiddenFrom(caller))),
  );

export const getTagEndpoint = (tags: TagReader) =>
  implement(GetTag, async ({ params, caller }) => new JsonText(await tags.one(params, hiddenFrom(caller))));
