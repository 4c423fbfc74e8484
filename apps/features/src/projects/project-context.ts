import type { StrategyProperties, Environment } from '@bunting/contracts';

/** What rules read of a context field that a constraint names. */
export interface ContextFieldReference {
  /** the only values that constraints on the field may name; empty: any value */
  readonly legalValues: readonly { readonly value: string }[];
}

/** What rules read of a segment that a strategy uses. */
export interface SegmentReference {
  readonly id: number;
  readonly name: string;
  /** the one project that may use it; null: every project */
  readonly project: string | null;
  /** a hash of its stored constraints and its list; undefined for one that the same call creates or edits */
  readonly definition?: string;
}

/** The parts of a project and of the catalogues that rules need. The operation loads them beforehand. */
export interface ProjectContext {
  readonly environments: readonly Environment[];
  /** by environment; where the project has none, the default is a rollout of 100 percent */
  readonly defaultStrategies: Readonly<Record<string, StrategyProperties | undefined>>;
  readonly defaultStickiness: string;
  /** the names of all strategy types */
  readonly strategyTypes: ReadonlySet<string>;
  readonly contextFields: ReadonlyMap<string, ContextFieldReference>;
  /** whether constraints may use `REGEX` */
  readonly allowsRegex: boolean;
  /** at least the segments that the rule looks up */
  readonly segments: ReadonlyMap<number, SegmentReference>;
}

/** Whether the environment is one of the project's. */
export function hasEnvironment({ environments }: ProjectContext, environment: string): boolean {
  return environments.some(({ name }) => name === environment);
}
