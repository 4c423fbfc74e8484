import { invalid } from '@bunting/contracts';

/** Refuses the key `__proto__` at any depth: JavaScript may treat it as the prototype of the object. */
export const refusePrototypeKeys = (value: unknown, path: string): void => {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) {
    throw invalid(`The \`${path}/__proto__\` property is not allowed.`, `${path}/__proto__`);
  }
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object') refusePrototypeKeys(member, `${path}/${key}`);
  }
};
