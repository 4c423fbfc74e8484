import { implement, JsonText } from '@bunting/bus';
import { GetTag, ListTags, ListTagsOfType } from '@bunting/contracts';
import type { TagReader } from '../../persistence/tag-catalogue.ts';

export const listTagsEndpoint = (tags: TagReader) =>
  implement(ListTags, async () => new JsonText(await tags.all(null)));

export const listTagsOfTypeEndpoint = (tags: TagReader) =>
  implement(ListTagsOfType, async ({ params }) => new JsonText(await tags.all(params.type)));

export const getTagEndpoint = (tags: TagReader) =>
  implement(GetTag, async ({ params }) => new JsonText(await tags.one(params)));
