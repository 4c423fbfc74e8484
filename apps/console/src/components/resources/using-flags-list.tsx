import { type RequestOf, SearchFeatures } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { FlagLink, UsageList } from './usage-list.tsx';

/** The query of a search for flags: their number, and the first eight by name. */
export const useUsingFlags = (query: RequestOf<typeof SearchFeatures>['query']) =>
  useQuery(operationQuery(SearchFeatures, { query: { ...query, limit: '8', sortBy: 'name' } }));

interface UsingFlagsListProps {
  readonly query: RequestOf<typeof SearchFeatures>['query'];
  readonly title: (n: number) => string;
  readonly emptyText: string;
}

/** The flags that a search finds, listed as the users of a thing, such as of a tag. */
export const UsingFlagsList = ({ query, title, emptyText }: UsingFlagsListProps) => {
  const flags = useUsingFlags(query);
  return (
    <UsageList
      query={flags}
      title={title}
      emptyText={emptyText}
      total={({ total = 0 }) => total}
      uses={({ features }) =>
        features.map(({ name, project }) => ({ key: name, node: <FlagLink project={project} feature={name} /> }))
      }
    />
  );
};
