import type { Sort } from '../query/feature-query.ts';

interface Term {
  readonly column: string;
  readonly descending: boolean;
}

/** An order of features, which can be walked from either end. What is null is last. */
export interface Order {
  readonly forwards: string;
  readonly backwards: string;
}

// Of names none is null, and an index of them is walked from either end: what is said of nulls must not stand in its way.
const nulls = ({ column }: Term, place: 'first' | 'last'): string => (column === 'name' ? '' : ` nulls ${place}`);

const orderBy = (terms: readonly Term[]): Order => ({
  forwards: terms.map((term) => `${term.column}${term.descending ? ' desc' : ''}${nulls(term, 'last')}`).join(', '),
  backwards: terms.map((term) => `${term.column}${term.descending ? '' : ' desc'}${nulls(term, 'first')}`).join(', '),
});

const columnOf = {
  createdAt: 'created_at',
  name: 'name',
  type: 'type',
  project: 'project',
  stale: 'stale',
  lastSeenAt: 'last_seen_at',
} as const;

const rising = (column: string): Term => ({ column, descending: false });
const byCreation = [rising('created_at'), rising('name')];

/** The order that a search sorts in; within one state of an environment that is the order of creation. */
export const orderOf = (sort: Sort | 'relevance'): Order => {
  if (sort === 'relevance') return orderBy([{ column: 'relevance', descending: true }, ...byCreation]);
  if (typeof sort.by === 'object') return orderBy(byCreation);
  const first: Term = { column: columnOf[sort.by], descending: sort.descending };
  return orderBy([first, ...byCreation.filter(({ column }) => sort.by !== 'name' && column !== first.column)]);
};
