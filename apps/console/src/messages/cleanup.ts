import type { CleanupFeatures } from '@bunting/contracts';
import { formatCount, formatNumber } from './format-number.ts';

type Flag = CleanupFeatures['features'][number];

export const cleanupMessages = {
  page: 'Cleanup',
  ofProject: (project: string) => `Cleanup of ${project}`,
  archive: 'Archive',
  copyText: 'Text for the code’s owners',
  textTitle: 'Text for the owners of the code',
  textHelp: 'Paste it into an issue or a message. It names each flag, why it can go, and where it was last used.',
  days: 'For at least',
  dayOptions: (days: number) => formatCount(days, 'day'),
  project: 'Project',
  allProjects: 'All projects',
  reasons: 'Reason',
  reason: {
    all: 'Any reason',
    stale: 'Marked as stale',
    potentiallyStale: 'Past their lifetime',
    allOn: 'On for everybody',
    allOff: 'Off for everybody',
    notSeen: 'Not used any more',
    neverSeen: 'Never used',
    unknown: 'Unknown flags',
  },
  short: {
    stale: 'stale',
    potentiallyStale: 'past its lifetime',
    allOn: 'on for everybody',
    allOff: 'off for everybody',
    notSeen: 'not used any more',
    neverSeen: 'never used',
  },
  explained: (days: number) => ({
    all: 'Flags that may be no longer needed. Choose a reason to see what it means.',
    stale: 'They are marked as stale: they can be removed from the code.',
    potentiallyStale: 'They are older than flags of their type are meant to become.',
    allOn: `They are on for everybody in production, and no application there has reported “no” for ${formatCount(days, 'day')}. The code can keep the new path only.`,
    allOff: `They are off in every environment, and no application has reported “yes” for ${formatCount(days, 'day')}. The code can drop the path.`,
    notSeen: `Applications used them once, and none has reported them for ${formatCount(days, 'day')}.`,
    neverSeen: `They were made more than ${formatCount(days, 'day')} ago, and no application has ever reported them.`,
    unknown:
      'Names that applications have asked for in the last two days and that no active flag of their projects has. Applications use the default of their code instead.',
  }),
  counting: 'Counting the flags of each reason…',
  name: 'Flag',
  why: 'Why',
  lastUse: 'Last use',
  owner: 'Created by',
  neededBy: 'Needed by',
  filter: 'Name contains',
  select: (name: string) => `Select ${name}`,
  selectAll: 'Select all',
  empty: 'Nothing to clean up here',
  emptyHelp: 'When flags outlive their use, they appear here, with the reason and where they were last used.',
  noMatch: 'No flag has this in its name',
  emptyUnknown: 'Applications ask for flags that exist',
  emptyUnknownHelp: 'When the code of an application asks for a flag that does not exist, its name appears here.',
  noMatchUnknown: 'No application asks for such a name',
  whatToDo: [
    'The flag was deleted or archived on purpose: take its name out of the code of the application.',
    'It was archived too early: revive it in the archive of its project.',
    'It is not created yet, or its name is mistyped in the code: create it, or correct the code.',
    'It is in a project that the key of the application is not for: use a key for that project.',
  ],
  unknownFound: (found: number, all: number) =>
    found === all ? formatCount(all, 'unknown flag') : `${found} of ${formatCount(all, 'unknown flag')}`,
  createUnknown: (name: string) => `Create ${name}`,
  application: 'Application',
  environment: 'Environment',
  anyOf: { app: 'All applications', environment: 'All environments' },
  applications: 'Applications',
  lastAsked: 'Last asked for',
  never: 'never used',
  formatNumber,
  state: (isEnabled: boolean) => (isEnabled ? 'on' : 'off'),
  listItem: ({ name, project, reasons, createdBy, environments, neededBy }: Flag, url: string) => {
    const seen = environments.flatMap(({ name: environment, lastSeenAt }) =>
      lastSeenAt === null ? [] : [`${environment} on ${lastSeenAt.slice(0, 10)}`],
    );
    const why = reasons.map((reason) => cleanupMessages.short[reason]).join(', ');
    return [
      `- ${name} (${project}): ${why}; ${seen.length === 0 ? 'never used' : `last used in ${seen.join(', in ')}`}; created by ${createdBy}`,
      ...(neededBy.length === 0 ? [] : [`  needed by ${neededBy.join(', ')}`]),
      `  ${url}`,
    ].join('\n');
  },
  listTitle: (n: number) => `${formatCount(n, 'feature flag')} can be removed from the code:`,
} as const;
