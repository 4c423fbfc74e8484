import { type Constraint, EvaluateImpact, operandError } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../../api/call.ts';
import { operationKey } from '../../api/queries-and-mutations.ts';
import { constraintsForRequest } from '../../strategies/strategy-draft.ts';
import { type ExampleUser, lacksValue, matchesText } from './strategy-inputs.ts';

/** Debounces a value: returns a new one once it has stayed the same for 300 ms. Equal values have the same key. */
export function useDebounced<T>(value: T, key: string): T {
  const [debounced, setDebounced] = useState({ value, key });
  useEffect(() => {
    if (debounced.key === key) return undefined;
    const timer = setTimeout(() => setDebounced({ value, key }), 300);
    return () => clearTimeout(timer);
  }, [value, key, debounced.key]);
  return debounced.value;
}

/** The most constraints that are evaluated in one request. */
const maxConstraints = 100;

/**
 * Says in words how many of the example users each constraint matches by itself, by the server's own rules. It is undefined for a constraint
 * that is not complete or not evaluated yet, and for all without example users.
 */
export function useExampleMatches(
  { project, environment }: { readonly project: string; readonly environment: string },
  constraints: readonly Constraint[],
  examples: readonly ExampleUser[],
): readonly (string | undefined)[] {
  const hasExamples = examples.length > 0;
  const evaluable = hasExamples
    ? constraintsForRequest(
        constraints.filter((one) => !lacksValue(one) && one.contextName !== '' && operandError(one, '') === undefined),
      ).slice(0, maxConstraints)
    : [];
  const body = { project, environment, contexts: examples.map(({ context }) => context), constraints: evaluable };
  const debouncedBody = useDebounced(body, JSON.stringify(body));
  const { data } = useQuery({
    queryKey: operationKey(EvaluateImpact, debouncedBody, 'matches'),
    // By constraint: what is known of one holds while another is typed.
    queryFn: async ({ signal }) => {
      const { constraints: results = [] } = await call(EvaluateImpact, { body: debouncedBody, signal });
      return new Map(
        debouncedBody.constraints.map((one, index) => [
          JSON.stringify(one),
          matchesText(results[index]?.matches ?? []),
        ]),
      );
    },
    placeholderData: keepPreviousData,
    enabled: hasExamples && debouncedBody.constraints.length > 0 && debouncedBody.contexts.length > 0,
  });
  if (!hasExamples || data === undefined) return [];
  return constraintsForRequest(constraints).map((one) => data.get(JSON.stringify(one)));
}
