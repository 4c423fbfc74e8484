import { type RequestOf, SearchFeatures } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { QueryResult } from '../content/query-result.tsx';
import { ProjectName } from '../content/project-name.tsx';
import styles from './resource.module.css';

interface Usage {
  readonly key: string;
  readonly node: React.ReactNode;
}

interface UsageListProps<T> {
  readonly title: (n: number) => string;
  readonly query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly uses: (data: T) => readonly Usage[];
  /** the number of all usages, where `uses` returns only the first ones */
  readonly total?: (data: T) => number;
  /** the text for an unused thing */
  readonly emptyText?: string;
}

const maxShown = 8;

/** Lists what uses a thing, for a user who is about to change or delete it: the first eight, and the number of the others. */
export function UsageList<T>({ title, query, uses, total, emptyText = 'Nothing uses it.' }: UsageListProps<T>) {
  return (
    <QueryResult query={query}>
      {(data) => {
        const found = uses(data);
        const all = total?.(data) ?? found.length;
        if (all === 0) return <p className={styles['hint']}>{emptyText}</p>;
        return (
          <div className={styles['uses']}>
            <p>{title(all)}</p>
            <ul>
              {found.slice(0, maxShown).map(({ key, node }) => (
                <li key={key}>{node}</li>
              ))}
              {all > maxShown && <li>and {all - maxShown} more</li>}
            </ul>
          </div>
        );
      }}
    </QueryResult>
  );
}

interface FlagLinkProps {
  readonly project: string;
  readonly feature: string;
  readonly environment?: string;
}

/** A link to a flag that uses a thing, with its project and, if given, the environment of the usage. */
export function FlagLink({ project, feature, environment }: FlagLinkProps) {
  return (
    <>
      <Link to="/projects/$project/features/$feature" params={{ project, feature }}>
        {feature}
      </Link>{' '}
      <span className={styles['hint']}>
        <ProjectName id={project} />
        {environment !== undefined && ` · ${environment}`}
      </span>
    </>
  );
}

/** The query of a search for flags: their number, and the first eight by name. */
export function useUsingFlags(query: RequestOf<typeof SearchFeatures>['query']) {
  return useQuery(operationQuery(SearchFeatures, { query: { ...query, limit: '8', sortBy: 'name' } }));
}

interface UsingFlagsListProps {
  readonly query: RequestOf<typeof SearchFeatures>['query'];
  readonly title: (n: number) => string;
  readonly emptyText: string;
}

/** The flags that a search finds, listed as the users of a thing, such as of a tag. */
export function UsingFlagsList({ query, title, emptyText }: UsingFlagsListProps) {
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
}
