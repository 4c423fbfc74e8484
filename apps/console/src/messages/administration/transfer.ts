import { formatCount, formatNumber } from '../format-number.ts';

const counter = (one: string, many?: string) => (n: number) => formatCount(n, one, many);

/** The text of the page that imports and exports flags. */
export const transferMessages = {
  import: 'Import',
  importHelp: 'Takes flags from an export of Unleash or Bunting. All of it is imported, or nothing.',
  project: 'Into the project',
  environment: 'Strategies go to the environment',
  file: 'File',
  fileHint: 'An export of one environment, as JSON',
  text: 'Or its text',
  textHint: 'Pasted from the clipboard',
  has: (names: readonly string[]) => `It has ${names.join(', ')}.`,
  content: {
    features: counter('flag'),
    strategies: counter('strategy', 'strategies'),
    segments: counter('segment'),
    contextFields: counter('context field'),
    tags: counter('tag'),
    dependencies: counter('flag with dependencies', 'flags with dependencies'),
  },
  tooLarge: (maxBytes: number) =>
    `It has more than ${formatNumber(maxBytes / 1024 ** 2)} MiB. Import it with the program of this repository, which sends it in batches: npm run import -- --help`,
  notJson: (reason: string) => `This is not JSON: ${reason}.`,
  notExport: (missing: readonly string[]) => `This is no export of flags: it has no list ${missing.join(', ')}.`,
  check: 'Check',
  errors: 'What keeps it from being imported',
  warnings: 'What will be left out',
  permissions: 'Permissions that you lack',
  isFine: 'Nothing keeps it from being imported.',
  isProtected: (environment: string) =>
    `Changes in ${environment} need approval. Flags are created immediately; what concerns ${environment} is proposed in a change request.`,
  appliesDirectly: (environment: string) =>
    `${environment} is protected. You have the permission to skip change requests: the import applies there directly, without approval. A user without it proposes it.`,
  start: (flags: number, project: string) => `Import ${formatCount(flags, 'flag')} into ${project}`,
  done: 'It is imported',
  changeRequest: (n: number) => `${formatCount(n, 'change')} wait for approval in a change request.`,
  changeRequestLater: (n: number) =>
    `${formatCount(n, 'change')} need approval. The change request for them is made in a moment.`,
  openChangeRequest: 'Open it',
  importAnother: 'Import another one',
  result: {
    created: 'flags created',
    updated: 'flags changed',
    unchanged: 'flags as they were',
    strategies: 'strategies written',
    tags: 'tags put on flags',
    tagTypes: 'tag types created',
    contextFields: 'context fields created',
    dependencies: 'dependencies written',
  },
  skipped: 'Left out',
  flag: 'Flag',
  reason: 'Reason',
  toProject: 'Show the flags of the project',

  export: 'Export',
  exportHelp:
    'Flags with their strategies in one environment, their tags, segments, context fields and dependencies, as a file that Unleash and Bunting import.',
  what: 'What',
  kinds: { project: 'The flags of a project', tag: 'The flags with a tag', features: 'Flags by their names' },
  fromProject: 'Project',
  tag: 'Value of the tag',
  tagMissing: 'Enter the value of a tag, such as payments.',
  names: 'Names of flags',
  namesHint: 'Separated by spaces, commas or lines',
  namesMissing: 'Enter at least one name.',
  fromEnvironment: 'Environment',
  download: 'Export',
  exported: (n: number) => `${formatCount(n, 'flag')} exported.`,
  exportedNothing: 'There is no such flag, so there is no file.',
} as const;
