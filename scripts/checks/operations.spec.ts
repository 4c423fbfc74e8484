import { allOperations, changeActions, operationName, serviceOf } from '@bunting/contracts';
import { expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');
const filesIn = (...folder: string[]): ReadonlySet<string> =>
  new Set(readdirSync(path.join(root, ...folder), { recursive: true, encoding: 'utf8' }));

/** Contracts that are all of one service can be in a folder with its name, which its endpoints do not have. */
const endpointPaths = (contract: string, service: string): readonly string[] =>
  contract.startsWith(`${service}/`) ? [contract, contract.slice(service.length + 1)] : [contract];

it('finds the contract and the endpoint of every operation in folders of one name, in files that have the name of the operation', () => {
  const contracts = [...filesIn('libs', 'contracts', 'src', 'operations')];
  const endpoints = (service: string) => filesIn('apps', service, 'src', 'operations');
  const misplaced = allOperations
    .filter(({ respondsFromMemory }) => respondsFromMemory === undefined)
    .filter((operation) => {
      const contract = contracts.find((file) => path.basename(file) === `${operationName(operation)}.ts`);
      const service = serviceOf(operation);
      return contract === undefined || !endpointPaths(contract, service).some((file) => endpoints(service).has(file));
    })
    .map(({ subject }) => subject);
  expect(misplaced).toEqual([]);
});

it('finds the schema and the handler of every action of a change in files that have the name of the action', () => {
  const schemas = filesIn('libs', 'contracts', 'src', 'changes');
  const handlers = filesIn('apps', 'features', 'src', 'domain', 'changes', 'actions');
  const missing = changeActions.filter((action) => {
    const name = action.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return !schemas.has(`${name}.ts`) || !handlers.has(`${name}-handler.ts`);
  });
  expect(missing).toEqual([]);
});
