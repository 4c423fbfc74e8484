import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type EvaluableFeature, type EvaluableSegment, compileEvaluator } from './evaluator.ts';
import type { EvaluationContext } from './constraint.ts';

interface DeltaEvent {
  readonly type: 'hydration' | 'feature-updated' | 'feature-removed' | 'segment-updated' | 'segment-removed';
  readonly features?: readonly EvaluableFeature[];
  readonly segments?: readonly EvaluableSegment[];
  readonly feature?: EvaluableFeature;
  readonly segment?: EvaluableSegment;
  readonly featureName?: string;
  readonly segmentId?: number;
}

interface State {
  readonly features?: readonly EvaluableFeature[];
  readonly segments?: readonly EvaluableSegment[];
  readonly events?: readonly DeltaEvent[];
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

/** The state of an SDK after it has applied a list of delta events. */
const stateAfter = (events: readonly DeltaEvent[]): State => {
  const features = new Map<string, EvaluableFeature>();
  const segments = new Map<number, EvaluableSegment>();
  for (const { type, ...event } of events) {
    for (const feature of [event.features ?? [], event.feature ?? []].flat()) features.set(feature.name, feature);
    for (const segment of [event.segments ?? [], event.segment ?? []].flat()) segments.set(segment.id, segment);
    if (type === 'feature-removed') features.delete(event.featureName ?? '');
    if (type === 'segment-removed') segments.delete(event.segmentId ?? Number.NaN);
  }
  return { features: [...features.values()], segments: [...segments.values()] };
};

const contextOf = ({ properties = {}, ...own }: Context): EvaluationContext => ({
  fields: new Map(Object.entries({ ...(properties as object), ...own }) as [string, string][]),
  now: new Date(),
  random: Math.random,
});

const outcomeOf = ({ state }: Specification, toggleName: string, context: Context) => {
  const { features = [], segments = [] } = state.events === undefined ? state : stateAfter(state.events);
  return compileEvaluator(features, segments).evaluate(toggleName, contextOf(context));
};

/** Every case of every specification, with its assertion. */
const cases = specifications.flatMap((specification) => [
  ...(specification.tests ?? []).map(({ description, context, toggleName, expectedResult }) => ({
    title: `${specification.name}: ${description}`,
    check: () => expect(outcomeOf(specification, toggleName, context).enabled).toBe(expectedResult),
  })),
  ...(specification.variantTests ?? []).map(({ description, context, toggleName, expectedResult }) => ({
    title: `${specification.name}, variants: ${description}`,
    check: () => {
      const { enabled, variant } = outcomeOf(specification, toggleName, context);
      expect({ ...variant, feature_enabled: enabled, featureEnabled: enabled }).toMatchObject(expectedResult);
    },
  })),
]);

describe('the client specification', () => {
  it('has all of its cases read', () => {
    expect(specifications).toHaveLength(22);
    expect(cases.length).toBeGreaterThan(270);
  });

  it.each(cases)('$title', ({ check }) => check());
});
