// Every English sentence of the console. One object per page, so that people who translate it find them in one place.
import { ApiError } from './api/api-error.ts';
import type { BulkAction } from './pages/flags/bulk.ts';

const count = (n: number, one: string, many = `${one}s`): string =>
  `${new Intl.NumberFormat('en').format(n)} ${n === 1 ? one : many}`;

const inSeconds = (error: ApiError): string =>
  error.retryAfterSeconds === undefined
    ? 'Try again in a moment.'
    : `Try again in ${count(error.retryAfterSeconds, 'second')}.`;

/** What failed, and what to do now. */
const explain = (error: unknown): string => {
  if (!(error instanceof ApiError)) return `This page has a fault: ${String((error as Error)?.message ?? error)}`;
  switch (error.kind) {
    case 'Offline':
      return 'There is no connection to Bunting. Check the network; nothing you entered is lost.';
    case 'NoAccessError':
      return error.permissions.length === 0
        ? `${error.message} An administrator can give you access.`
        : `${error.message} You need the permission ${error.permissions.join(' or ')}.`;
    case 'PreconditionFailed':
      return 'Somebody else has changed this in the meantime. Compare before you save again.';
    case 'RateLimitError':
      return `Too many requests. ${inSeconds(error)}`;
    case 'ServiceUnavailable':
    case 'RequestTimeout':
      return `Bunting cannot answer at the moment. ${inSeconds(error)}`;
    case 'InternalError':
      return `${error.message} The log has it as ${error.id ?? 'an error without id'}.`;
    default:
      return error.message;
  }
};

export const messages = {
  product: 'Bunting',
  count,
  common: {
    add: 'Add',
    breadcrumbs: 'Where this page belongs',
    cancel: 'Cancel',
    close: 'Close',
    copied: 'Copied',
    copy: 'Copy',
    create: 'Create',
    delete: 'Delete',
    edit: 'Edit',
    justNow: 'just now',
    loading: 'Loading…',
    never: 'never',
    nothingFound: 'Nothing matches.',
    save: 'Save',
    tryAgain: 'Try again',
    working: '(working)',
  },
  errors: {
    explain,
    page: 'This page has a fault',
    pageHelp: 'The rest of the console works. Reload the page; if it happens again, report the text below.',
    reload: 'Reload',
    notFound: 'There is no such page',
    notFoundHelp: 'The address may be mistyped, or what it showed is gone.',
    toFlags: 'Go to the flags',
  },
  shell: {
    skip: 'Skip to the content',
    navigation: 'Main',
    menu: 'Menu',
    flags: 'Flags',
    allProjects: 'All projects',
    project: 'Project',
    search: 'Search or jump to…',
    help: 'Keyboard shortcuts',
    account: 'Account',
    signedInAs: (name: string) => `Signed in as ${name}`,
    profile: 'Profile',
    signOut: 'Sign out',
    theme: { system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' },
    stale: (ms: number) =>
      `What you see may be ${count(Math.max(1, Math.round(ms / 1000)), 'second')} old: Bunting is catching up.`,
    offline: 'There is no network. What you see may be old, and changes cannot be saved.',
    working: 'Loading',
    notifications: 'Notifications',
    documentation: 'API documentation',
  },
  flags: {
    title: 'Flags',
    ofProject: (project: string) => `Flags of ${project}`,
    filter: 'Filter flags',
    filterHint: 'type:release tag:team:web production:on seen:<7d',
    suggestions: 'Suggestions',
    clear: 'Clear the filter',
    fault: (token: string, reason: string) => `${token}: ${reason}.`,
    found: (n: number) => count(n, 'flag'),
    selected: (n: number) => `${count(n, 'flag')} selected`,
    select: (name: string) => `Select ${name}`,
    selectAll: 'Select all that match',
    selectMatching: (n: number) => `Select all ${count(n, 'flag')} that match`,
    selectNone: 'Select none',
    turnOn: 'Turn on',
    turnOff: 'Turn off',
    inThe: (environment: string) => `in ${environment}`,
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
    favouriteColumn: 'Favourite',
    favourite: (name: string) => `Favourite ${name}`,
    inEnvironment: (name: string, environment: string) => `${name} in ${environment}`,
    notThere: '–',
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
        return `${verb} ${count(n, 'flag')}`;
      },
      tag: 'Tag',
      tagHint: 'Its type and value, as in team:web',
      tagWrong: 'Write type:value, each of 2 to 50 characters.',
      preview: 'Flags that change',
      changes: (n: number, projects: number) =>
        n === 0 ? 'No flag changes.' : `${count(n, 'flag')} in ${count(projects, 'project')} will change:`,
      unchanged: (n: number) => `${count(n, 'flag')} ${n === 1 ? 'is' : 'are'} like that already.`,
      impossible: (n: number, action: BulkAction) =>
        action.kind === 'archive'
          ? `${count(n, 'flag')} cannot be archived: other flags depend on them, or they are archived already.`
          : `${count(n, 'flag')} cannot be changed: archived, or not in this environment.`,
      willPropose: (n: number) =>
        `The environment is protected for ${count(n, 'flag')}: their changes become a change request per project.`,
      progress: (done: number, n: number) => `${done} of ${count(n, 'flag')} done…`,
      more: (n: number) => `and ${count(n, 'more', 'more')}`,
      results: 'What became of them',
      done: (n: number) => `${count(n, 'flag')} changed.`,
      proposed: (n: number) => `${count(n, 'flag')} proposed in a change request.`,
      refused: (n: number) => `${count(n, 'flag')} refused:`,
    },
  },
  palette: {
    title: 'Search',
    hint: 'Flags, pages and actions',
    found: (n: number) => `${count(n, 'result')}`,
    pages: 'Pages',
    actions: 'Actions',
    flags: 'Flags',
    nothing: 'Nothing matches. Try fewer letters.',
  },
  keys: {
    title: 'Keyboard shortcuts',
    palette: 'Search or jump to…',
    help: 'Show this list',
    everywhere: 'Everywhere',
    here: 'On this page',
  },
  signIn: {
    title: 'Sign in',
    ended: 'Your session has ended. Sign in, and go on where you were: nothing you entered is lost.',
    user: 'Email or username',
    password: 'Password',
    submit: 'Sign in',
    or: 'or',
    wrong: 'These credentials are not right.',
    useKey: 'Use an API key instead',
    usePassword: 'Use a password instead',
    key: 'API key',
    keyHint:
      'An admin token or a personal access token. It is kept in this page’s memory only: a reload asks for it again.',
    keyWrong: 'This key is not accepted. Is it complete, and an admin or personal token?',
    first: 'At the first start Bunting prints an admin token; it works as an API key here.',
    other: 'You signed in as somebody else, so what was waiting was not sent.',
  },
} as const;
