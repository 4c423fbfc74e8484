import { ListEventCreators } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { operationQuery, useEnvironments, useProjects } from '../../../api/queries-and-mutations.ts';
import { useFilterInUrl } from '../../../filtering/filter-in-url.ts';
import { type EventFilterVocabulary, type EventQuery, readEventFilter } from '../event-filter.ts';

/** The values that a filter can have. The users are read only when suggestions need them, or the filter names one. */
const useVocabulary = (filter: string, isNeeded: boolean, project: string | undefined): EventFilterVocabulary => {
  const namesUser = /(^|\s)by:/.test(filter);
  const { data: creators } = useQuery({
    ...operationQuery(ListEventCreators, {}),
    enabled: isNeeded || namesUser,
    staleTime: 60_000,
  });
  const { data: projects } = useProjects();
  const { data: environments } = useEnvironments();
  return {
    creators,
    projects: (projects?.projects ?? []).map(({ id }) => id),
    environments: (environments?.environments ?? []).map(({ name }) => name),
    project,
  };
};

/** The search for the events of the list, from the filter in the URL; of all projects, or of the given one. */
export const useEventListQuery = (project: string | undefined) => {
  const { filter, setFilter } = useFilterInUrl();
  const [isVocabularyNeeded, setVocabularyNeeded] = useState(false);
  const vocabulary = useVocabulary(filter, isVocabularyNeeded, project);
  const { creators } = vocabulary;
  const { query: parsedQuery, errors } = useMemo(
    () => readEventFilter(filter, { creators, project }),
    [filter, creators, project],
  );
  // An equal query stays the same object, however its filter was typed, so that the list keeps its state.
  const serializedQuery = JSON.stringify(parsedQuery);
  const query = useMemo(() => JSON.parse(serializedQuery) as EventQuery, [serializedQuery]);
  return { query, errors, filter, setFilter, vocabulary, loadVocabulary: () => setVocabularyNeeded(true) };
};
