/** A list with one item moved before or after another; the list as it was where either is missing or both are the same. */
export const moveItem = (
  items: readonly string[],
  item: string,
  position: 'before' | 'after',
  target: string,
): string[] => {
  if (item === target || !items.includes(item) || !items.includes(target)) return [...items];
  const rest = items.filter((one) => one !== item);
  return rest.toSpliced(rest.indexOf(target) + (position === 'after' ? 1 : 0), 0, item);
};
