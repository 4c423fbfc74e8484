import { expect, it } from 'vitest';
import { isolated } from './isolated.ts';

it.each(['عملاء VIP (أوروبا) 2026', 'דוח מכירות 2.0 (beta)'])('isolates the name %s in a sentence', (name) => {
  expect(`Flags of ${isolated(name)}`).toBe(`Flags of \u2068${name}\u2069`);
});

it.each(['Checkout (EU) 2.0', 'Zahlungen für Österreich', '支払い', ''])('leaves the name %j as it is', (name) => {
  expect(isolated(name)).toBe(name);
});
