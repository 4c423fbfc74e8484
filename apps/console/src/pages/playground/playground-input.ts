import type { PlaygroundTableBody } from '@bunting/contracts';
import type { SearchParameters } from '../../filtering/search-parameter.ts';
import { parseContext } from './context-text.ts';

const maxContexts = 50;
const maxQueryLength = 100;

/** What the search parameters of the address choose to evaluate. */
export interface PlaygroundInput {
  readonly environments: readonly string[];
  /** none for all projects */
  readonly projects: readonly string[];
  /** the only flag that is evaluated, if any */
  readonly flag: string | undefined;
  /** the change request whose effect is compared, if any */
  readonly changeRequest: number | undefined;
  /** only flags that the change request concerns */
  readonly onlyConcerned: boolean;
}

const namesIn = (value: string | undefined): string[] => (value ?? '').split(',').filter((name) => name !== '');

/** Reads the input. Without a parameter `environments` it is every enabled environment. */
export const playgroundInputOf = (search: SearchParameters, enabled: readonly string[]): PlaygroundInput => ({
  environments:
    search['environments'] === undefined
      ? enabled
      : enabled.filter((name) => namesIn(search['environments']).includes(name)),
  projects: namesIn(search['projects']),
  flag: search['flag'],
  changeRequest: /^[1-9]\d{0,9}$/.test(search['changeRequest'] ?? '') ? Number(search['changeRequest']) : undefined,
  onlyConcerned: search['concerned'] !== 'false',
});

/** The request that evaluates the input for flags that match the query, for the contexts in the lines of a text. */
export const playgroundTableBody = (input: PlaygroundInput, query: string, contexts: string): PlaygroundTableBody => {
  const { environments, projects, flag, changeRequest, onlyConcerned } = input;
  const lines = contexts.split('\n').slice(0, maxContexts);
  const nonEmpty = lines.map((line) => parseContext(line).context).filter((context) => Object.keys(context).length > 0);
  const trimmed = query.trim().slice(0, maxQueryLength);
  return {
    environments: [...environments],
    contexts: nonEmpty.length === 0 ? [{}] : nonEmpty,
    ...(projects.length === 0 ? {} : { projects: [...projects] }),
    ...(flag === undefined ? {} : { features: [flag] }),
    ...(trimmed === '' ? {} : { query: trimmed }),
    ...(changeRequest === undefined ? {} : { changeRequest, onlyConcerned: onlyConcerned && flag === undefined }),
  };
};

interface ResultsOfFlag {
  /** by environment, one for each context; `proposed` only where a change request changes the result */
  readonly environments: Readonly<
    Record<string, readonly { readonly isEnabled: boolean; readonly proposed?: unknown }[]>
  >;
}

/** The number of results that the change request changes. */
export const countChangedResults = (flags: readonly ResultsOfFlag[]): number =>
  flags
    .flatMap(({ environments }) => Object.values(environments).flat())
    .filter(({ proposed }) => proposed !== undefined).length;
