// The English of the frame around every page and of shared components. The text of one page is in the file of its name, loaded with it.
import { ApiError } from '../api/api-error.ts';

const numbers = new Intl.NumberFormat('en');

/** A number as people read it: `12,500`. */
export const number = (n: number): string => numbers.format(n);

export const count = (n: number, one: string, many = `${one}s`): string => `${number(n)} ${n === 1 ? one : many}`;

const inSeconds = (error: ApiError): string =>
  error.retryAfterSeconds === undefined
    ? 'Try again in a moment.'
    : `Try again in ${count(error.retryAfterSeconds, 'second')}.`;

/** What failed, and what to do now. */
export const explain = (error: unknown): string => {
  if (!(error instanceof ApiError)) return `This page has a fault: ${String((error as Error)?.message ?? error)}`;
  switch (error.kind) {
    case 'Offline':
      return 'There is no connection to Bunting. Check the network; nothing you entered is lost.';
    case 'NoAccessError':
      return error.permissions.length === 0
        ? `${error.message} An administrator can give you access.`
        : `${error.message} You need the permission ${error.permissions.join(' or ')}.`;
    case 'PreconditionFailed':
      return 'Another person has changed this in the meantime. Compare before you save again.';
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
    actions: 'Actions',
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
  filter: {
    suggestions: 'Suggestions',
    clear: 'Clear the filter',
    fault: (token: string, reason: string) => `${token}: ${reason}.`,
  },
  shell: {
    skip: 'Skip to the content',
    navigation: 'Main',
    menu: 'Menu',
    flags: 'Flags',
    changeRequests: 'Change requests',
    playground: 'Playground',
    events: 'Event log',
    cleanup: 'Cleanup',
    administration: 'Administration',
    allProjects: 'All projects',
    project: 'Project',
    projects: 'Projects',
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
  palette: {
    title: 'Search',
    hint: 'Flags, pages and actions',
    found: (n: number) => `${count(n, 'result')}`,
    pages: 'Pages',
    actions: 'Actions',
    flags: 'Flags',
    changeRequests: 'Change requests',
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
    forgotten: 'Forgotten password?',
    useKey: 'Use an API key instead',
    usePassword: 'Use a password instead',
    key: 'API key',
    keyHint:
      'An admin token or a personal access token. It is kept in this page’s memory only: a reload asks for it again.',
    keyWrong: 'This key is not accepted. Is it complete, and an admin or personal token?',
    first: 'At the first start Bunting prints an admin token; it works as an API key here.',
    other: 'You signed in as another person, so what was waiting was not sent.',
  },
} as const;
