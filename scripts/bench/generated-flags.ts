/* Flags generated for the bench from their number, so they are the same in each run. They vary as those of a grown installation do. */

const areas = ['checkout', 'search', 'billing', 'signup', 'profile', 'digest', 'upload', 'invoice', 'cart', 'shipping'];
const purposes = [
  'redesign',
  'retry',
  'limits',
  'cache',
  'experiment',
  'migration',
  'preview',
  'consent',
  'banner',
  'v2',
];
const types = ['release', 'experiment', 'operational', 'kill-switch', 'permission'];
const teams = ['platform', 'mobile', 'growth', 'core', 'payments', 'data'];

export interface BenchFlag {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly tags: readonly { type: string; value: string }[];
  readonly strategies: readonly {
    readonly name: string;
    readonly title: string;
    readonly parameters: Readonly<Record<string, string>>;
    readonly constraints: readonly Readonly<Record<string, unknown>>[];
  }[];
}

function pick<T>(list: readonly T[], nth: number): T {
  return list[nth % list.length] as T;
}

/** The nth flag. */
export function benchFlag(nth: number): BenchFlag {
  const name = `${pick(areas, nth)}-${pick(purposes, Math.floor(nth / areas.length))}-${String(nth).padStart(6, '0')}`;
  const userIds = Array.from(
    { length: 5 + (nth % 20) },
    (_, index) => `user-${(nth * 7919 + index * 104729) % 50_000}`,
  );
  return {
    name,
    type: pick(types, nth * 3 + Math.floor(nth / 7)),
    description: `Decides who sees ${name.replaceAll('-', ' ')}.`,
    tags: [
      { type: 'simple', value: `team-${pick(teams, nth)}` },
      { type: 'simple', value: `quarter-${(nth % 8) + 1}` },
    ],
    strategies: [
      {
        name: 'flexibleRollout',
        title: `Rollout of ${name}`,
        parameters: { rollout: String(nth % 101), stickiness: 'default', groupId: name },
        constraints: [
          { contextName: 'userId', operator: 'IN', values: userIds, inverted: false, caseInsensitive: false },
        ],
      },
    ],
  };
}

/** Flags in the file format of Unleash's export. */
export function exportOf(flags: readonly BenchFlag[], environment: string) {
  return {
    features: flags.map(({ name, type, description }) => ({
      name,
      type,
      description,
      project: 'default',
      stale: false,
      impressionData: false,
      archived: false,
    })),
    featureStrategies: flags.flatMap((flag) =>
      flag.strategies.map((strategy) => ({
        ...strategy,
        featureName: flag.name,
        variants: [],
        segments: [],
        disabled: false,
      })),
    ),
    featureEnvironments: flags.map(({ name }, nth) => ({
      featureName: name,
      name,
      environment,
      enabled: nth % 2 === 0,
      variants: [],
    })),
    featureTags: flags.flatMap((flag) =>
      flag.tags.map(({ type, value }) => ({ featureName: flag.name, tagType: type, tagValue: value })),
    ),
    contextFields: [
      {
        name: 'userId',
        description: 'Allows you to constrain on userId',
        stickiness: false,
        sortOrder: 1,
        legalValues: [],
      },
    ],
    segments: [],
    tagTypes: [{ name: 'simple', description: 'Used to simplify filtering of features', icon: '#' }],
    dependencies: [],
  };
}
