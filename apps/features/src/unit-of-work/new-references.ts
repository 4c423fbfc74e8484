import type { Tag } from '@bunting/contracts';
import { type Feature, strategiesOf } from '../features/feature.ts';

/** The items that are new, each once. */
const newItems = <T>(items: readonly T[], before: readonly T[]): T[] => {
  const known = new Set(before);
  return [...new Set(items)].filter((item) => !known.has(item));
};

/** A feature before and after it is stored. */
export interface FeatureBeforeAndAfter {
  readonly before: Feature | undefined;
  readonly after: Feature;
  /** the feature that has the references already: the locked source of a clone; without it, `before` */
  readonly like?: Feature | undefined;
}

/** Objects that features or default strategies refer to, which are locked against deletion. */
export interface NewReferences {
  /** with the project that uses them */
  readonly segments: readonly { readonly id: number; readonly project: string }[];
  readonly contextFields: readonly string[];
  readonly strategyTypes: readonly string[];
  readonly tags: readonly Tag[];
  readonly environments: readonly { readonly project: string; readonly name: string }[];
  readonly projects: readonly string[];
}

/**
 * The references of a feature that it did not have before, or that nothing protected while it was archived. Its project is among them
 * when the feature moves there or is revived; operations that add features lock the project themselves, first.
 */
export const newReferences = ({ before, after, like = before }: FeatureBeforeAndAfter): NewReferences => {
  const { project } = after;
  const likeInProject = like?.project === project ? like : undefined;
  // Objects that an archived feature refers to may be deleted, so those of a revived feature are locked as if all were new.
  const isRevived = before !== undefined && before.archivedAt !== null && after.archivedAt === null;
  const strategiesBefore = like === undefined || isRevived ? [] : strategiesOf(like);
  const strategiesAfter = strategiesOf(after);
  const wasActive = before === undefined || (before.project === project && before.archivedAt === null);
  const entersProject = after.archivedAt === null && !wasActive;
  return {
    segments: newItems(
      strategiesAfter.flatMap(({ segments }) => segments),
      (likeInProject === undefined ? [] : strategiesBefore).flatMap(({ segments }) => segments),
    ).map((id) => ({ id, project })),
    contextFields: newItems(
      strategiesAfter.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
      strategiesBefore.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
    ),
    strategyTypes: newItems(
      strategiesAfter.map(({ name }) => name),
      strategiesBefore.map(({ name }) => name),
    ),
    tags: after.tags.filter(
      ({ type, value }) => like?.tags.some((tag) => tag.type === type && tag.value === value) !== true,
    ),
    environments: newItems(Object.keys(after.environments), Object.keys(likeInProject?.environments ?? {})).map(
      (name) => ({
        project,
        name,
      }),
    ),
    projects: entersProject ? [project] : [],
  };
};
