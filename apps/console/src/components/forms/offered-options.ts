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
