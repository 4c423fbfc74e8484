import type { SelectOption } from './fields.tsx';

/** More than this nobody reads, and a browser takes seconds for thousands. */
export const maxOfferedOptions = 100;

/**
 * Which of many options a combo box offers for the text in it: those whose label contains it, the ones that begin with it first, and always
 * the one that is chosen, whose label is no search.
 */
export function offeredOptions(
  options: readonly SelectOption[],
  text: string,
  chosen: string | null,
): readonly SelectOption[] {
  if (options.length <= maxOfferedOptions) return options;
  const chosenOption = options.find(({ id }) => id === chosen);
  const searched = text === chosenOption?.label ? '' : text.toLowerCase();
  const found = options.filter((option) => option !== chosenOption && option.label.toLowerCase().includes(searched));
  const beginsWithText = ({ label }: SelectOption): boolean => label.toLowerCase().startsWith(searched);
  const ordered = [...found.filter(beginsWithText), ...found.filter((option) => !beginsWithText(option))];
  return [...(chosenOption === undefined ? [] : [chosenOption]), ...ordered].slice(0, maxOfferedOptions);
}

const collator = new Intl.Collator(undefined, { usage: 'search', sensitivity: 'base' });

/**
 * The option that a select takes for the letters typed on it: the next one whose label begins with them, from the chosen one on. Case and
 * accents do not count.
 */
export function optionTyped(
  options: readonly SelectOption[],
  letters: string,
  chosen: string | null,
): SelectOption | undefined {
  const from = Math.max(
    0,
    options.findIndex(({ id }) => id === chosen),
  );
  return [...options.slice(from), ...options.slice(0, from)].find(
    ({ label }) => collator.compare(label.slice(0, letters.length), letters) === 0,
  );
}
