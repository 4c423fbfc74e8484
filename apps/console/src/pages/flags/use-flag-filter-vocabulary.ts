import { ListFeatureTypes, ListSegments, ListTags } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import type { FlagFilterVocabulary } from './flag-filter.ts';

/** The values that a filter of flags can have, for suggestions. Types, tags and segments are loaded only if they are needed. */
export const useFlagFilterVocabulary = (environments: readonly string[], isNeeded: boolean): FlagFilterVocabulary => {
  const options = { enabled: isNeeded, staleTime: 60_000 };
  const { data: types } = useQuery({ ...operationQuery(ListFeatureTypes, {}), ...options });
  const { data: tags } = useQuery({ ...operationQuery(ListTags, {}), ...options });
  const { data: segments } = useQuery({ ...operationQuery(ListSegments, {}), ...options });
  const { data: projects } = useProjects();
  return {
    environments,
    types: (types?.types ?? []).map(({ id }) => id),
    tags: (tags?.tags ?? []).map(({ type, value }) => `${type}:${value}`),
    segments: (segments?.segments ?? []).map(({ name }) => name),
    projects: (projects?.projects ?? []).map(({ id }) => id),
  };
};
