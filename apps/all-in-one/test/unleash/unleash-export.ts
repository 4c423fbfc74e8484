import { type Constraint, type ConstraintOperator, constraintOperators, featureTypes } from '@bunting/contracts';
import { createHash } from 'node:crypto';

/** The operators that Unleash 6.4.1 has, and that Bunting accepts with any settings. */
const exportedOperators = constraintOperators.filter((operator) => operator !== 'REGEX');

/** A constraint in the form in which Unleash exports it: with the members that its operator does not use. */
const constraintWith = (operator: ConstraintOperator, nth: number, own: (name: string) => string): Constraint => {
  const flags = { inverted: nth % 3 === 0, caseInsensitive: operator.startsWith('STR_') && nth % 2 === 0 };
  const single = (contextName: string, value: string): Constraint => ({
    value,
    values: [],
    operator,
    contextName,
    ...flags,
  });
  if (operator.startsWith('NUM_')) return single(own('age'), String(nth * 1.5));
  if (operator.startsWith('DATE_')) return single('currentTime', new Date(Date.UTC(2025, nth % 12, 7)).toISOString());
  if (operator.startsWith('SEMVER_')) return single(own('version'), `${nth}.2.0-rc.1`);
  if (operator === 'IN') return { values: ['eu', 'us'], operator, contextName: own('region'), ...flags };
  return { values: [`user-${nth}`, 'Zoë, "the tester"', '50%'], operator, contextName: 'userId', ...flags };
};

// Unleash adds the remaining thousandth to the first variant, and sorts by name afterwards.
const strategyVariants = (nth: number) => [
  {
    name: 'amber',
    weight: 200,
    weightType: 'fix',
    stickiness: 'default',
    payload: { type: 'json', value: '{"n": 1}' },
  },
  { name: 'blue', weight: 266, weightType: 'variable', stickiness: 'userId', payload: { type: 'csv', value: 'a,b' } },
  { name: 'cyan', weight: 267, weightType: 'variable', stickiness: 'default' },
  { name: `green-${nth}`, weight: 267, weightType: 'variable', stickiness: 'default' },
];

const environmentVariants = [
  {
    name: 'legacy',
    weight: 1000,
    weightType: 'variable',
    stickiness: 'default',
    payload: { type: 'number', value: '7' },
    overrides: [{ contextName: 'userId', values: ['tester', 'other'] }],
  },
];

const parametersOf = (type: string, feature: string, nth: number): Record<string, string> => {
  switch (type) {
    case 'flexibleRollout':
      return { rollout: String(nth % 101), stickiness: nth % 2 === 0 ? 'default' : 'userId', groupId: feature };
    case 'remoteAddress':
      return { IPs: '10.0.0.0/8, ::1' };
    case 'applicationHostname':
      return { hostNames: `host-${nth}.example, other.example` };
    case 'userWithId':
      return { userIds: `ann,bob,user-${nth}` };
    default:
      return {};
  }
};

const strategyTypes = [
  'flexibleRollout',
  'default',
  'flexibleRollout',
  'remoteAddress',
  'applicationHostname',
  'userWithId',
];

const idOf = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');

const descriptions = [null, '', 'Rolls out the new checkout.', 'Für Zoë: “50 %” of people\n\tsee 🐦 <b>it</b>.'];

/**
 * The export of one environment from a server with `count` features. It contains every operator, payload, built-in strategy type and kind
 * of dependency; names of objects outside of projects begin with `prefix`. It is deterministic.
 */
export const unleashExport = (prefix: string, environment: 'development' | 'production', count = 60) => {
  const own = (name: string): string => `${prefix}-${name}`;
  const shift = environment === 'development' ? 0 : 1;
  const numbers = Array.from({ length: count }, (_, nth) => nth);
  const nameOf = (nth: number): string => own(`flag-${String(nth).padStart(3, '0')}`);

  const strategiesOf = (nth: number) =>
    Array.from({ length: (nth + shift) % 3 }, (_, place) => {
      const type = strategyTypes[(nth + place + shift) % strategyTypes.length] as string;
      const operators = exportedOperators.filter((_operator, at) => (at + nth + place) % 5 === 0);
      return {
        name: type,
        id: idOf(`${environment} ${nth} ${place}`),
        featureName: nameOf(nth),
        title: nth % 4 === 0 ? null : `${environment}, ${place + 1}.`,
        parameters: parametersOf(type, nameOf(nth), nth),
        constraints: nth % 7 === 6 ? [] : operators.map((operator, at) => constraintWith(operator, nth + at + 1, own)),
        variants: type === 'flexibleRollout' && nth % 2 === 1 ? strategyVariants(nth) : [],
        disabled: nth % 8 === 5 && place === 1,
        segments: nth % 8 === 0 ? [901, 902] : nth % 4 === 0 ? [902] : [],
      };
    });
  const featureStrategies = numbers.flatMap(strategiesOf);

  return {
    features: numbers.map((nth) => ({
      name: nameOf(nth),
      description: descriptions[nth % descriptions.length] ?? null,
      type: featureTypes[nth % featureTypes.length] as string,
      project: 'default',
      stale: nth % 9 === 4,
      impressionData: nth % 5 === 2,
      archived: false,
    })),
    featureStrategies,
    featureEnvironments: numbers.map((nth) => ({
      enabled: nth % 2 === 1 && strategiesOf(nth).some(({ disabled }) => !disabled),
      featureName: nameOf(nth),
      environment,
      variants: nth % 10 === 3 ? environmentVariants : [],
      name: nameOf(nth),
    })),
    contextFields: [
      {
        name: 'userId',
        description: 'Allows you to constrain on userId',
        stickiness: false,
        sortOrder: 1,
        legalValues: [],
      },
      {
        name: 'currentTime',
        description: 'Allows you to constrain on date values',
        stickiness: false,
        sortOrder: 3,
        legalValues: [],
      },
      { name: own('age'), description: null, stickiness: false, sortOrder: 10, legalValues: [] },
      { name: own('version'), description: 'of the app', stickiness: true, sortOrder: 11, legalValues: [] },
      {
        name: own('region'),
        description: 'where it is',
        stickiness: false,
        sortOrder: 12,
        legalValues: [{ value: 'eu', description: 'Europe' }, { value: 'us' }],
      },
    ],
    featureTags: numbers.flatMap((nth) => [
      ...(nth % 2 === 0 ? [{ featureName: nameOf(nth), tagType: own('team'), tagValue: `team ${nth % 4}` }] : []),
      ...(nth % 3 === 0 ? [{ featureName: nameOf(nth), tagType: 'simple', tagValue: 'with:colon/and slash' }] : []),
      ...(nth % 5 === 0 ? [{ featureName: nameOf(nth), tagType: own('risk'), tagValue: 'höch' }] : []),
    ]),
    segments: [
      { id: 901, name: own('testers') },
      { id: 902, name: own('north of Oslo') },
    ],
    tagTypes: [
      { name: 'simple', description: 'Used to simplify filtering of features', icon: '#', color: '#FFFFFF' },
      { name: own('team'), description: 'who owns it', icon: null, color: null },
      { name: own('risk'), description: null, icon: null, color: '#B0D182' },
    ],
    dependencies: [
      { feature: nameOf(10), dependencies: [{ feature: nameOf(1), enabled: true, variants: [] }] },
      { feature: nameOf(11), dependencies: [{ feature: nameOf(1), enabled: false, variants: [] }] },
      { feature: nameOf(12), dependencies: [{ feature: nameOf(2), enabled: true, variants: ['amber', 'blue'] }] },
    ],
    links: [],
  };
};
export type UnleashExport = ReturnType<typeof unleashExport>;
