import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type EvaluatedFeature, type EvaluatedSegment, evaluatorOf } from './evaluator.ts';
import type { Situation } from './situation.ts';

interface Changed {
  readonly type: 'hydration' | 'feature-updated' | 'feature-removed' | 'segment-updated' | 'segment-removed';
  readonly features?: readonly EvaluatedFeature[];
  readonly segments?: readonly EvaluatedSegment[];
  readonly feature?: EvaluatedFeature;
  readonly segment?: EvaluatedSegment;
  readonly featureName?: string;
  readonly segmentId?: number;
}

interface State {
  readonly features?: readonly EvaluatedFeature[];
  readonly segments?: readonly EvaluatedSegment[];
  readonly events?: readonly Changed[];
}

type Context = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

interface Case<Result> {
  readonly description: string;
  readonly context: Context;
  readonly toggleName: string;
  readonly expectedResult: Result;
}

interface Variant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: object;
  readonly feature_enabled?: boolean;
  readonly featureEnabled?: boolean;
}

interface Specification {
  readonly name: string;
  readonly state: State;
  readonly tests?: readonly Case<boolean>[];
  readonly variantTests?: readonly Case<Variant>[];
}

const folder = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@unleash/client-specification/package.json')),
  'specifications',
);
const read = <T>(file: string): T => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as T;
const specifications = read<readonly string[]>('index.json').map((file) => read<Specification>(file));

/** What an SDK has in the end that is told what has changed, one thing after the other. */
const after = (events: readonly Changed[]): State => {
  const features = new Map<string, EvaluatedFeature>();
  const segments = new Map<number, EvaluatedSegment>();
  for (const { type, ...event } of events) {
    for (const feature of [event.features ?? [], event.feature ?? []].flat()) features.set(feature.name, feature);
    for (const segment of [event.segments ?? [], event.segment ?? []].flat()) segments.set(segment.id, segment);
    if (type === 'feature-removed') features.delete(event.featureName ?? '');
    if (type === 'segment-removed') segments.delete(event.segmentId ?? Number.NaN);
  }
  return { features: [...features.values()], segments: [...segments.values()] };
};

const situationOf = ({ properties = {}, ...own }: Context): Situation => ({
  context: new Map(Object.entries({ ...(properties as object), ...own }) as [string, string][]),
  now: new Date(),
  random: Math.random,
});

const outcomeOf = ({ state }: Specification, toggleName: string, context: Context) => {
  const { features = [], segments = [] } = state.events === undefined ? state : after(state.events);
  return evaluatorOf(features, segments).evaluate(toggleName, situationOf(context));
};

/** Every case of every specification, and how it is judged. */
const cases = specifications.flatMap((specification) => [
  ...(specification.tests ?? []).map(({ description, context, toggleName, expectedResult }) => ({
    of: `${specification.name}: ${description}`,
    judge: () => expect(outcomeOf(specification, toggleName, context).enabled).toBe(expectedResult),
  })),
  ...(specification.variantTests ?? []).map(({ description, context, toggleName, expectedResult }) => ({
    of: `${specification.name}, variants: ${description}`,
    judge: () => {
      const { enabled, variant } = outcomeOf(specification, toggleName, context);
      expect({ ...variant, feature_enabled: enabled, featureEnabled: enabled }).toMatchObject(expectedResult);
    },
  })),
]);

describe('the common specification of SDKs', () => {
  it('is read whole', () => {
    expect(specifications).toHaveLength(22);
    expect(cases.length).toBeGreaterThan(270);
  });

  it.each(cases)('$of', ({ judge }) => judge());
});
