import type { ChangeRequest, Event, Feature } from '@bunting/contracts';

/** What there should be of a project or a flag, and of the change request about it, as far as the writes of a torture reach. */
export interface Subject {
  readonly exists: boolean;
  readonly flag?: Flag | 'archived';
  readonly request?: Request;
}

export interface Flag {
  readonly description: string;
  readonly enabled: boolean;
  /** sorted */
  readonly tags: readonly string[];
  /** titles in development, in the order of their strategies */
  readonly titles: readonly string[];
}

export interface Request {
  readonly state: string;
  readonly changes: number;
  readonly comments: readonly string[];
}

/** How a flag as the API answers it looks as the flag of a subject. */
export const asFlag = ({ description, environments = [], tags }: Feature): Exclude<Subject['flag'], undefined> => {
  const development = environments.find(({ name }) => name === 'development');
  return {
    description: description ?? '',
    enabled: development?.enabled === true,
    tags: (tags ?? []).map(({ value }) => value).toSorted(),
    titles: (development?.strategies ?? []).map(({ title }) => title ?? ''),
  };
};

export const asRequest = ({ state, features, comments }: ChangeRequest): Request => ({
  state,
  changes: features.reduce((sum, { changes }) => sum + changes.length, 0),
  comments: (comments ?? []).map(({ text }) => text),
});

const markOf = ({ data }: Event): string => {
  const { title, value, description } = (data ?? {}) as Record<string, unknown>;
  return String(title ?? value ?? description ?? '');
};

/** An event in one word or two: its type, and what tells it from others of its type. */
export const spelled = (event: Event): string => `${event.type} ${markOf(event)}`.trim();

/** Change requests tell their own events; between two producers there is no order. */
export const isOfRequests = (spelling: string): boolean => spelling.startsWith('change-');
