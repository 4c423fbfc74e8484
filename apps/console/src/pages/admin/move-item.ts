/** The list with `item` moved before or after `target`. It is unchanged if one of the two is missing, or both are the same. */
export function moveItem(
  items: readonly string[],
  item: string,
  position: 'before' | 'after',
  target: string,
): string[] {
  if (item === target || !items.includes(item) || !items.includes(target)) return [...items];
  const others = items.filter((other) => other !== item);
  return others.toSpliced(others.indexOf(target) + (position === 'after' ? 1 : 0), 0, item);
}
