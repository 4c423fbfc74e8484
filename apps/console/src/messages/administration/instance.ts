import { formatCount, formatNumber } from '../format-number.ts';

/** The text of the page about the installation. */
export const instanceMessages = {
  facts: 'Version and address',
  version: 'Version',
  unleash: 'Speaks the API of Unleash',
  instanceId: 'Installation id',
  publicUrl: 'Address for people',
  noPublicUrl: 'not set: GATEWAY_PUBLIC_URL',
  origins: 'Pages that may call the frontend API',
  anyOrigin: 'those of every origin',
  mail: 'Mail server',
  isSet: 'set',
  notSet: 'not set: SMTP_URL',
  sso: 'Single sign-on',
  ssoByVariables: 'by the variables OIDC_*',
  ssoByApi: 'by the settings here',
  passwords: 'Passwords',
  on: 'on',
  off: 'off',
  telemetry: 'Reports to others',
  nothing: 'nothing',
  settingsHelp: 'Further settings are variables of the processes; docs/settings.md lists all of them.',

  health: 'Health',
  ready: 'Ready: every service answers, and nothing is behind.',
  withoutDependencies: (names: readonly string[]) =>
    `Without ${names.join(' and ')}: applications get the flags that were known last, and nothing can be changed.`,
  notReady: (reason: string) => `Not ready: ${reason}`,
  checkedAgain: 'Checked every five seconds while this page is open.',

  statistics: 'Statistics',
  counts: {
    featureToggles: 'Active flags',
    archivedFeatureToggles: 'Archived flags',
    projects: 'Projects',
    environments: 'Environments',
    segments: 'Segments',
    contextFields: 'Context fields',
    strategies: 'Strategy types',
    users: 'Users',
    groups: 'Groups',
    roles: 'Roles',
    serviceAccounts: 'Service accounts',
    featureExports: 'Exports',
    featureImports: 'Imports',
  },
  activeUsers: 'Users in 30 days',
  applications: 'Applications in 30 days',
  changes: 'Changes in production in 30 days',
  csv: 'Save as CSV',

  limits: 'Limits',
  limit: 'Limit',
  used: 'Used',
  max: 'At most',
  noLimit: 'no limit',
  limitNames: {
    featureFlags: 'Active flags',
    projects: 'Projects',
    environments: 'Environments',
    segments: 'Segments',
    apiTokens: 'API tokens',
    featureEnvironmentStrategies: 'Strategies of a flag in an environment',
    constraints: 'Constraints of a strategy',
    constraintValues: 'Values of a constraint',
    strategySegments: 'Segments of a strategy',
    segmentValues: 'Values of a segment',
  },
  formatNumber,

  log: 'Event log',
  logSize: (events: number, bytes: string) => `${formatCount(events, 'event')}, ${bytes}`,
  oldest: 'The oldest is of',
  retention: (days: number) => `Events are kept for ${formatCount(days, 'day')}.`,
  keptForEver: 'Events are kept for ever.',
  toLog: 'Open the event log',

  deadLetters: 'Dead letters',
  deadLettersHelp:
    'Messages that a service could not apply because of their content. It tries again by itself, with growing pauses and at each start.',
  noDeadLetters: 'Every message was applied',
  noDeadLettersHelp: 'What a service cannot apply because of its content would be listed here, with the reason.',
  unanswered: (services: readonly string[]) =>
    `${services.join(', ')} did not answer, so it is not known whether there are more.`,
  service: 'Service',
  message: 'Message',
  from: (producer: string, position: number) => `from ${producer}, position ${formatNumber(position)}`,
  reason: 'Reason',
  attempts: 'Attempts',
  next: 'Next attempt',

  search: 'Search index',
  searchHelp:
    'Searches answer from an index that follows the flags. Building it again costs some load, and searches go on meanwhile.',
  reindex: 'Build it again',
  reindexTitle: 'Build the search index again?',
  reindexHelp: 'All flags and segments are read and written again, in the background. Searches go on meanwhile.',
  reindexStarted: 'The search index is being built.',
  neverBuilt: 'It has not been built again since the start.',
  running: (done: number, all: number) => `Building: ${formatNumber(done)} of ${formatNumber(all)}`,
  built: (all: number) => `Built with ${formatCount(all, 'flag or segment', 'flags and segments')}`,
  failed: (reason: string) => `Building it has failed: ${reason}`,
} as const;

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** A number of bytes as text, in the largest unit that fits. Units are powers of 1,000. */
export const bytesText = (bytes: number): string => {
  const exponent = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${formatNumber(Math.round((bytes / 1000 ** exponent) * 10) / 10)} ${units[exponent]}`;
};
