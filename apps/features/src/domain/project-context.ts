import type { CreateStrategy, Environment } from '@bunting/contracts';

export interface ContextField {
  /** the only values that constraints on the field may name; any, when there are none */
  readonly legalValues: readonly { readonly value: string }[];
}

export interface StrategyType {
  readonly deprecated: boolean;
}

export interface SegmentReference {
  readonly id: number;
  readonly name: string;
  /** the one project that may use it; null: every project */
  readonly project: string | null;
}

/** The parts of a project and of the catalogues that rules need. The operation loads them beforehand. */
export interface ProjectContext {
  /** those of the feature's project */
  readonly environments: readonly Environment[];
  /** by environment; where there is none, the default is a rollout of 100 percent */
  readonly defaultStrategies: Readonly<Record<string, CreateStrategy | undefined>>;
  readonly defaultStickiness: string;
  readonly strategyTypes: ReadonlyMap<string, StrategyType>;
  readonly contextFields: ReadonlyMap<string, ContextField>;
  /** whether constraints may use `REGEX` */
  readonly allowsRegex: boolean;
  /** at least the segments that the rule looks up */
  readonly segments: ReadonlyMap<number, SegmentReference>;
}

/** The limits on resources, as in Unleash. */
export const limits = {
  linksPerFeature: 10,
  strategiesPerEnvironment: 30,
  constraintsPerStrategy: 30,
  valuesPerConstraint: 250,
  regexInstructions: 250,
  segments: 300,
  valuesPerSegment: 1000,
  segmentsPerStrategy: 5,
  environments: 50,
  projects: 500,
} as const;

/** The maximum sort order of strategies and environments. */
export const maxSortOrder = 1_000_000_000;

/** Whether the environment is one of the project's. */
export const hasEnvironment = ({ environments }: ProjectContext, environment: string): boolean =>
  environments.some(({ name }) => name === environment);
