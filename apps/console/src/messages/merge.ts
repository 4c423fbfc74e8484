/** The text of the dialog in which users choose between their own edit of a field and that of another person. */
export const mergeMessages = {
  title: 'You both changed the same fields',
  help: 'Another person has saved this since you opened it. Fields that only one of you changed are combined. Choose for the others.',
  backToEditing: 'Back to editing',
  confirm: 'Use these values',
  mine: 'Mine',
  theirs: 'Theirs',
  removed: 'removed',
  was: (value: string) => `It was: ${value}`,
} as const;
