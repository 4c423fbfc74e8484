import { Link } from '@tanstack/react-router';
import { QueryResult } from '../content/query-result.tsx';
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
export const UsageList = <T,>({ title, query, uses, total, emptyText = 'Nothing uses it.' }: UsageListProps<T>) => (
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

interface FlagLinkProps {
  readonly project: string;
  readonly feature: string;
  readonly environment?: string;
}

/** A link to a flag that uses a thing, with its project and, if given, the environment of the usage. */
export const FlagLink = ({ project, feature, environment }: FlagLinkProps) => (
  <>
    <Link to="/projects/$project/features/$feature" params={{ project, feature }}>
      {feature}
    </Link>{' '}
    <span className={styles['hint']}>{environment === undefined ? project : `${project} · ${environment}`}</span>
  </>
);
