import { formatCount } from './format-number.ts';

/** The text of the lists, forms and confirmations in `components/`. */
export const resourceMessages = {
  search: 'Search',
  searchIn: (label: string) => `Search in ${label.toLowerCase()}`,
  found: (shown: number, total: number) => (shown === total ? `${total} in all` : `${shown} of ${total}`),
  noMatch: 'Nothing matches the search',
  noMatchHelp: 'Try fewer letters, or look through all of them.',
  clearSearch: 'Show all',
  showMore: (n: number) => `Show ${formatCount(n, 'more row')}`,
  actionsFor: (name: string) => `Actions for ${name}`,
  readOnly: (permissions: readonly string[]) =>
    `You can look, but not change anything here: that takes the permission ${permissions.join(' or ')}.`,
  missing: 'Enter a value.',
  tooShort: (min: number) => `Enter at least ${formatCount(min, 'character')}.`,
  tooLong: (max: number, length: number) => `At most ${formatCount(max, 'character')}: these are ${length}.`,
  notWhole: 'Enter a whole number.',
  tooSmall: (min: number) => `Enter ${min} or more.`,
  tooLarge: (max: number) => `Enter ${max} or less.`,
  notUrlFriendly: 'Use letters, digits and - _ . ~ only: the name is a part of addresses.',
  merged: 'Another person has saved this in the meantime. Both edits are combined here: look at them, and save again.',
  leaveTitle: 'Leave without saving?',
  leave: 'Leave',
  leaveHelp: 'What you have changed here is not saved.',
  typeName: (name: string) => `Type “${name}” to confirm`,
  secretKept: 'I have copied it',
  removeChoice: (name: string) => `Remove ${name}`,
  unused: 'Nothing uses it.',
  moreUses: (n: number) => `and ${n} more`,
} as const;
