import { type Endpoint, implement, reads, writes } from '@bunting/bus';
import {
  AddFeatureTag,
  authorise,
  type Caller,
  CreateTag,
  CreateTagType,
  DeleteTag,
  DeleteTagType,
  GetTag,
  GetTagType,
  ListFeatureTags,
  ListTags,
  ListTagsOfType,
  ListTagTypes,
  RemoveFeatureTag,
  rootScope,
  type Tag,
  TagFeatures,
  UpdateFeatureTags,
  UpdateTagType,
  ValidateTagType,
} from '@bunting/contracts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import type { DeferredEdit } from '../deferred-edits/deferred-edit.ts';
import { batchSize } from '../features/feature-store.ts';
import {
  featureNotFound,
  noFeatureFlag,
  tagExists,
  tagNotFound,
  tagTypeNameTaken,
  tagTypeNotFound,
  unknownTagType,
} from '../refusals.ts';
import { saveDecision, saveDecisions } from '../unit-of-work/save-decisions.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import {
  addTag,
  changeTags,
  deleteTag,
  deleteTagType,
  featuresToTag,
  newTag,
  newTagType,
  removeTag,
  removeTags,
  tagCreated,
  tagsToAdd,
  tagTypeView,
  updateTagType,
} from './tag.ts';

export function tagEndpoints({ tags, transaction, features }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListTagsOfType, ({ params, query, caller }) => tags.all(params.type, hiddenProjectsOf(caller), query)),

    reads(ListTags, ({ query, caller }) => tags.all(null, hiddenProjectsOf(caller), query)),

    reads(GetTag, ({ params, caller }) => tags.one(params, hiddenProjectsOf(caller))),

    writes(CreateTag, transaction, async (tx, { body }) => {
      const tag = newTag(body);
      const added = await addTagsToCatalogue(tx, [tag], () => '/body/type');
      if (added.length === 0) throw tagExists(tag);
      return { version: 1 as const, tag };
    }),

    writes(DeleteTag, transaction, async (tx, { params, caller }) => {
      // A tag belongs to no project, so deleting it requires the permission in all projects.
      authorise(caller, DeleteTag.permission, rootScope);
      await beginDeletion(tx, params, caller);
      return null;
    }),

    reads(ListTagTypes, () => tags.types()),

    reads(GetTagType, ({ params }) => tags.type(params.name)),

    implement(ValidateTagType, async ({ body }) => {
      const { type: tagType } = newTagType(body);
      if (await tags.isTypeTaken(tagType.name)) {
        throw tagTypeNameTaken(tagType.name);
      }
      return { valid: true, tagType: tagTypeView(tagType) };
    }),

    writes(CreateTagType, transaction, async ({ tags }, { body }) => {
      const { type, events } = newTagType(body);
      if (!(await tags.addType(type, events))) {
        throw tagTypeNameTaken(type.name);
      }
      return tagTypeView(type);
    }),

    writes(UpdateTagType, transaction, async ({ tags }, { params, body }) => {
      const before = await tags.findTypeForUpdate(params.name);
      if (before === undefined) throw tagTypeNotFound();
      const decision = updateTagType(before, body);
      await tags.saveType(before, decision.type, decision.events);
      return null;
    }),

    writes(DeleteTagType, transaction, async (tx, { params, caller }) => {
      await beginDeletion(tx, { type: params.name, value: null }, caller);
      return null;
    }),

    reads(ListFeatureTags, ({ params, caller }) => features.tagsOf(params.featureName, hiddenProjectsOf(caller))),

    writes<typeof AddFeatureTag, Transaction>(AddFeatureTag, transaction.edit, async (tx, { params, body, caller }) => {
      const feature = await tx.features.findToTag(params.featureName, [body]);
      authorise(caller, AddFeatureTag.permission, { project: feature?.project });
      if (feature === undefined) throw featureNotFound(params.featureName);
      const decision = addTag(feature, body);
      if (decision.feature === feature) return body;
      await addTagsToCatalogue(tx, [body], () => '/body/type');
      await saveDecision(tx, decision, caller);
      return body;
    }),

    writes<typeof UpdateFeatureTags, Transaction>(
      UpdateFeatureTags,
      transaction.edit,
      async (tx, { params, body, caller }) => {
        const feature = await tx.features.findToTag(params.featureName, tagsToAdd(body));
        authorise(caller, UpdateFeatureTags.permission, { project: feature?.project });
        if (feature === undefined) throw featureNotFound(params.featureName);
        const decision = changeTags(feature, body);
        await addTagsToCatalogue(tx, tagsToAdd(body), pathOfType(body.addedTags, '/body/addedTags'));
        const { tags } = await saveDecision(tx, decision, caller);
        return { version: 1 as const, tags: tags.map(({ type, value }) => ({ type, value })) };
      },
    ),

    writes(TagFeatures, transaction, async (tx, { params, body, caller }) => {
      authorise(caller, TagFeatures.permission, { project: params.projectId });
      const names = [...new Set(body.features)];
      const found = await tx.features.findAllForUpdate(names);
      const features = featuresToTag(body.features, found, params.projectId);
      if (features.length > 0) {
        await addTagsToCatalogue(tx, tagsToAdd(body.tags), pathOfType(body.tags.addedTags, '/body/tags/addedTags'));
      }
      const decisions = features.map((feature) => changeTags(feature, body.tags));
      await saveDecisions(tx, decisions, caller);
      return null;
    }),

    writes<typeof RemoveFeatureTag, Transaction>(RemoveFeatureTag, transaction.edit, async (tx, { params, caller }) => {
      const feature = await tx.features.findForUpdate(params.featureName);
      // Without a feature there is no project: callers with the permission in any project get a 404, others a 403.
      authorise(caller, RemoveFeatureTag.permission, { project: feature?.project });
      if (feature === undefined) throw noFeatureFlag();
      await saveDecision(tx, removeTag(feature, params), caller);
      return null;
    }),
  ];
}

/**
 * Adds tags to the catalogue, and returns those that are new.
 * @param pathOf the JSON pointer to a tag type in the request, for the refusal of one that does not exist
 */
export async function addTagsToCatalogue(
  { tags: repository, features: { lockedTags } }: Pick<Transaction, 'tags' | 'features'>,
  tags: readonly Tag[],
  pathOf: (type: string) => string,
): Promise<readonly Tag[]> {
  const others = tags.filter(
    ({ type, value }) => !lockedTags.some((locked) => locked.type === type && locked.value === value),
  );
  if (others.length === 0) return [];
  const { added, unknownTypes } = await repository.addMissing(others, (missing) => missing.map(tagCreated));
  const [unknown] = unknownTypes;
  if (unknown !== undefined) throw unknownTagType(unknown, pathOf(unknown));
  return added;
}

/** The JSON pointer to a type in a list of tags. */
export function pathOfType(tags: readonly Tag[], path: string) {
  return (type: string): string => `${path}/${tags.findIndex((tag) => tag.type === type)}/type`;
}

/** A tag, or where its value is null a type with all of its tags. */
type TagOrType = Omit<Extract<DeferredEdit, { kind: 'delete-tag' }>, 'kind'>;

/** Deletes a tag or a type. Of very many features, all but the first batch lose it in transactions of their own, and it is deleted in the last. */
async function beginDeletion(tx: Transaction, { type, value }: TagOrType, caller: Caller): Promise<void> {
  const edit = { kind: 'delete-tag', type, value } as const;
  const outcome = await continueTagDeletion(tx, edit, caller);
  if (outcome === 'more') return await tx.deferredEdits.add(edit);
  if (outcome === 'not found') throw value === null ? tagTypeNotFound() : tagNotFound({ type, value });
  await tx.deferredEdits.end(edit);
}

/** Removes a tag, or all tags of a type, from a batch of features, and deletes it once no feature has it. */
export async function continueTagDeletion(
  tx: Transaction,
  { type, value }: TagOrType,
  caller: Caller,
): Promise<'more' | 'deleted' | 'not found'> {
  // Locks features before the catalogue, as operations that tag features do, so that they do not deadlock.
  const names = await tx.tags.featureNames(type, value, batchSize);
  const features = await tx.features.findAllOfInstanceForUpdate(names);
  await saveDecisions(
    tx,
    features.map((feature) => removeTags(feature, type, value)),
    caller,
  );
  if (names.length === batchSize) return 'more';
  if (value !== null) {
    if (!(await tx.tags.removeTag({ type, value }, [deleteTag({ type, value })]))) return 'not found';
  } else {
    const stored = await tx.tags.findTypeForUpdate(type);
    if (stored === undefined) return 'not found';
    await tx.tags.removeType(type, [deleteTagType(stored)]);
  }
  await tx.tags.requireNoneTagged(type, value);
  return 'deleted';
}
