import { invalid } from '@bunting/contracts';

/** Refuses the one key that JavaScript may take for a prototype, wherever it stands: nothing is called so on purpose. */
export const refusePrototypeKeys = (value: unknown, at: string): void => {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) {
    throw invalid(`The \`${at}/__proto__\` property is not allowed.`, `${at}/__proto__`);
  }
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object') refusePrototypeKeys(member, `${at}/${key}`);
  }
};
