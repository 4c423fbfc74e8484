import { invalid, type Tag } from '@bunting/contracts';
import type { Decision, Feature } from './feature.ts';
import { told } from './told.ts';

/** A tag as a query writes it. */
export const writtenTag = (written: string, path: string): Tag => {
  const end = written.indexOf(':');
  if (end < 1 || end === written.length - 1) {
    throw invalid(`The \`${path}\` property must be \`<type>:<value>\`. You provided "${written}".`, path);
  }
  return { type: written.slice(0, end), value: written.slice(end + 1) };
};

const isSame = (one: Tag) => (other: Tag) => one.type === other.type && one.value === other.value;

const byTypeAndValue = (one: Tag, other: Tag): number => {
  if (one.type !== other.type) return one.type < other.type ? -1 : 1;
  return one.value < other.value ? -1 : 1;
};

/** The feature with the tags as well, each once and in their order. */
export const withTags = (feature: Feature, tags: readonly Tag[]): Feature => {
  const all = [...feature.tags];
  for (const { type, value } of tags) if (!all.some(isSame({ type, value }))) all.push({ type, value });
  return all.length === feature.tags.length ? feature : { ...feature, tags: all.sort(byTypeAndValue) };
};

/** Puts a tag on a feature. Nothing is told of a tag that it has already. */
export const addTag = (feature: Feature, { type, value }: Tag): Decision => {
  const after = withTags(feature, [{ type, value }]);
  if (after === feature) return { feature, events: [] };
  return { feature: after, events: [told('feature-tagged', after, { data: { type, value } })] };
};

/** Removes a tag from a feature. Nothing is told when it does not have the tag. */
export const removeTag = (feature: Feature, { type, value }: Tag): Decision => {
  const tags = feature.tags.filter((tag) => !isSame({ type, value })(tag));
  if (tags.length === feature.tags.length) return { feature, events: [] };
  return {
    feature: { ...feature, tags },
    events: [told('feature-untagged', feature, { preData: { type, value } })],
  };
};
