import type { BulkAction } from '../changes/bulk-action.ts';
import { formatCount } from './format-number.ts';

export const flagsMessages = {
  title: 'Flags',
  ofProject: (project: string) => `Flags of ${project}`,
  filter: 'Filter flags',
  filterHint: 'type:release tag:team:web production:on seen:<7d',
  found: (n: number) => formatCount(n, 'flag'),
  selected: (n: number) => `${formatCount(n, 'flag')} selected`,
  select: (name: string) => `Select ${name}`,
  selectAll: 'Select all that match',
  selectMatching: (n: number) => `Select all ${formatCount(n, 'flag')} that match`,
  selectNone: 'Select none',
  turnOn: 'Turn on',
  turnOff: 'Turn off',
  inEnvironmentOption: (environment: string) => `in ${environment}`,
  moreActions: 'More actions',
  addTag: 'Add a tag…',
  removeTag: 'Remove a tag…',
  markStale: 'Mark as stale…',
  markActive: 'Mark as not stale…',
  archive: 'Archive…',
  name: 'Name',
  project: 'Project',
  type: 'Type',
  lastSeen: 'Last seen',
  owner: 'Owner',
  tags: 'Tags',
  favoriteColumn: 'Favourite',
  favorite: (name: string) => `Favourite ${name}`,
  inEnvironment: (name: string, environment: string) => `${name} in ${environment}`,
  absent: '–',
  stale: 'stale',
  archived: 'archived',
  switched: (name: string, environment: string, enabled: boolean) =>
    `${name} is ${enabled ? 'on' : 'off'} in ${environment}.`,
  proposed: (id: number, name: string, environment: string, enabled: boolean) =>
    `Proposed in change request ${id}: turn ${name} ${enabled ? 'on' : 'off'} in ${environment}.`,
  noMatch: 'No flag matches',
  noMatchHelp: 'Remove a part of the filter, or shorten a word: names and tags are searched for it.',
  empty: 'No flags yet',
  emptyHelp:
    'A flag turns a part of your software on or off without a new release. Create one; it is off everywhere until you turn it on.',
  focusFilter: 'Filter',
  nextRow: 'Next flag',
  previousRow: 'Previous flag',
  selectRow: 'Select the flag',
  openRow: 'Open the flag',
  create: {
    title: 'Create a flag',
    submit: 'Create',
    name: 'Name',
    nameHint: 'Code asks for it by this name, and it cannot be changed: letters, digits, - _ . ~',
    nameMissing: 'Enter a name.',
    project: 'Project',
    type: 'Type',
    description: 'Description',
    created: (name: string) => `${name} is created. It is off in every environment.`,
  },
  bulk: {
    title: (action: BulkAction) => {
      switch (action.kind) {
        case 'switch':
          return `Turn ${action.enabled ? 'on' : 'off'} in ${action.environment}`;
        case 'tag':
          return action.isAdded ? 'Add a tag' : 'Remove a tag';
        case 'stale':
          return action.stale ? 'Mark as stale' : 'Mark as not stale';
        case 'archive':
          return 'Archive';
      }
    },
    run: (action: BulkAction, n: number) => {
      const verb = { switch: 'Change', tag: 'Change', stale: 'Mark', archive: 'Archive' }[action.kind];
      return `${verb} ${formatCount(n, 'flag')}`;
    },
    tag: 'Tag',
    tagHint: 'Its type and value, as in team:web',
    tagWrong: 'Write type:value, each of 2 to 50 characters.',
    preview: 'Flags that change',
    changes: (n: number, projects: number) =>
      n === 0 ? 'No flag changes.' : `${formatCount(n, 'flag')} in ${formatCount(projects, 'project')} will change:`,
    unchanged: (n: number) => `${formatCount(n, 'flag')} ${n === 1 ? 'is' : 'are'} like that already.`,
    impossible: (n: number, action: BulkAction) =>
      action.kind === 'archive'
        ? `${formatCount(n, 'flag')} cannot be archived: other flags depend on them, or they are archived already.`
        : `${formatCount(n, 'flag')} cannot be changed: archived, or not in this environment.`,
    willPropose: (n: number, action: BulkAction) =>
      action.kind === 'archive'
        ? `${formatCount(n, 'flag')} ${n === 1 ? 'is' : 'are'} in a project with a protected environment: archiving becomes a change request per project.`
        : `The environment is protected for ${formatCount(n, 'flag')}: their changes become a change request per project.`,
    progress: (done: number, n: number) => `${done} of ${formatCount(n, 'flag')} done…`,
    more: (n: number) => `and ${formatCount(n, 'more', 'more')}`,
    results: 'What became of them',
    done: (n: number) => `${formatCount(n, 'flag')} changed.`,
    changeRequest: (id: number, project: string) => `Open change request ${id} of ${project}`,
    proposed: (n: number) => `${formatCount(n, 'flag')} proposed in a change request.`,
    refused: (n: number) => `${formatCount(n, 'flag')} refused:`,
  },
} as const;
