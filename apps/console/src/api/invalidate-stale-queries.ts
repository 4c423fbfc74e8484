import type { AnyOperation, OperationTag } from '@bunting/contracts';
import type { QueryClient } from '@tanstack/react-query';

/** The tags of the reads that show, count or evaluate flags. */
const flagTags: readonly OperationTag[] = [
  'Archive',
  'Change Requests',
  'Context',
  'Dependencies',
  'Features',
  'Metrics',
  'Playground',
  'Projects',
  'Search',
  'Segments',
  'Tags',
];

/** The tags of the reads that show people, tokens, or what they may do. */
const accessTags: readonly OperationTag[] = [
  'API tokens',
  'Groups',
  'Personal access tokens',
  'Projects',
  'Public signup tokens',
  'Roles',
  'Service Accounts',
  'Users',
];

/** By the tag of a write, the tags of the reads that it makes stale, besides its own tag and the event log. */
const staleTagsByTag: Readonly<Record<OperationTag, readonly OperationTag[] | 'all'>> = {
  'API tokens': accessTags,
  'Admin UI': [],
  Archive: flagTags,
  Auth: ['Admin UI'],
  'Change Requests': [...flagTags, 'Environments'],
  Client: [],
  Context: flagTags,
  Dependencies: flagTags,
  Edge: [],
  Environments: 'all',
  Events: [],
  'Feature Types': flagTags,
  Features: flagTags,
  'Frontend API': [],
  Groups: accessTags,
  'Import/Export': 'all',
  'Instance Admin': [],
  Internal: [],
  Maintenance: [],
  Metrics: ['Projects'],
  OFREP: [],
  'Personal access tokens': accessTags,
  Playground: [],
  Projects: 'all',
  'Public signup tokens': accessTags,
  Roles: accessTags,
  Search: [],
  Segments: flagTags,
  'Service Accounts': accessTags,
  Strategies: flagTags,
  Tags: flagTags,
  Telemetry: [],
  Users: accessTags,
};

/**
 * Invalidates the queries that a call of an operation makes stale, or all queries where it is undefined. Resolves when those that the page
 * shows have been read again.
 */
export const invalidateStaleQueries = (client: QueryClient, operation: AnyOperation | undefined): Promise<void> => {
  const staleTags = operation === undefined ? 'all' : staleTagsByTag[operation.tag];
  if (operation === undefined || staleTags === 'all') return client.invalidateQueries();
  const tags = new Set<unknown>([operation.tag, 'Events', ...staleTags]);
  return client.invalidateQueries({ predicate: ({ queryKey: [tag] }) => tags.has(tag) });
};
