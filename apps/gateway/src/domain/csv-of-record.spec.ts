import { expect, it } from 'vitest';
import { csvOfRecord } from '../access/instance/endpoints.ts';

it('writes a record as a line of names and a line of values, with arrays and objects as JSON', () => {
  expect(csvOfRecord({ name: 'a "b", c', count: 2, on: false, parts: { last7: 1 }, list: ['x'] })).toBe(
    '"name","count","on","parts","list"\r\n"a ""b"", c",2,false,"{""last7"":1}","[""x""]"\r\n',
  );
});
