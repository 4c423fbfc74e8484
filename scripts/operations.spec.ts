import { allOperations, nameOf, serviceOf } from '@bunting/contracts';
import { expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import path from 'node:path';

it('finds the endpoint of every operation in a file of its service that is named after the operation', () => {
  const filesOf = (service: string) => {
    const folder = path.join(import.meta.dirname, '..', 'apps', service, 'src', 'operations');
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => path.basename(file));
  };
  const missing = allOperations
    .filter((operation) => !filesOf(serviceOf(operation)).includes(`${nameOf(operation)}.ts`))
    .map(({ subject }) => subject);
  expect(missing).toEqual([]);
});
