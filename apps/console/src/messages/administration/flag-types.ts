import { formatCount } from '../format-number.ts';

export const flagTypesMessages = {
  title: 'Flag types',
  type: 'Type',
  purpose: 'When to use it',
  lifetime: 'Expected to live',
  forEver: 'for ever',
  days: (n: number) => formatCount(n, 'day'),
  edit: 'Set the lifetime',
  editTitle: (name: string) => `How long flags of the type “${name}” live`,
  lifetimeField: 'Days',
  lifetimeHint: 'Older flags are marked as potentially stale. Leave it empty for flags that live for ever.',
  using: (n: number) => `${formatCount(n, 'flag')} of this type that you can see`,
  none: 'No flag of this type that you can see.',
  saved: (name: string) => `The lifetime of ${name} is saved.`,
} as const;
