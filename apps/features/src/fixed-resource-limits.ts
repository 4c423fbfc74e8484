/** The limits on resources that no setting changes. Except for that on patterns of `REGEX`, they are those of Unleash. */
export const fixedResourceLimits = {
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
