import type { Step } from './strict-json-patch.ts';

const doubling = (count: number): Step[] => [
  { op: 'add', path: '/a', value: 'x'.repeat(100) },
  { op: 'add', path: '/list', value: [] },
  ...Array.from({ length: count }, (): Step => ({ op: 'copy', from: '', path: '/b' })),
];

/**
 * Patches of `{ a: { a: {} } }` that would exhaust time or memory if they were applied without limits: what each does, and its operations.
 */
export const growingPatches: readonly (readonly [what: string, patch: readonly Step[]])[] = [
  ['copies the whole into itself, again and again', doubling(90)],
  [
    'copies a list into itself, again and again',
    [
      { op: 'add', path: '/list', value: ['x'.repeat(500)] },
      ...Array.from({ length: 90 }, (): Step => ({ op: 'copy', from: '/list', path: '/list/-' })),
    ],
  ],
  [
    'makes two members double each other',
    [
      { op: 'add', path: '/a', value: { text: 'x'.repeat(900) } },
      { op: 'add', path: '/b', value: {} },
      ...Array.from({ length: 49 }, (_, nth): Step[] => [
        { op: 'copy', from: '/a', path: `/b/n${nth}` },
        { op: 'copy', from: '/b', path: `/a/n${nth}` },
      ]).flat(),
    ].slice(0, 100) as Step[],
  ],
  ['grows deep', Array.from({ length: 100 }, (): Step => ({ op: 'copy', from: '/a', path: '/a/a' }))],
  ['adds one huge value', [{ op: 'add', path: '/list', value: Array.from({ length: 1_000_000 }, () => 0) }]],
  [
    'copies long text',
    [
      { op: 'add', path: '/text', value: 'x'.repeat(90_000) },
      ...Array.from({ length: 99 }, (_, nth): Step => ({ op: 'copy', from: '/text', path: `/copy${nth}` })),
    ],
  ],
];
