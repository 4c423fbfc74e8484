import { allOperations, changeActions, httpOperations, operationName, serviceOf } from '@bunting/contracts';
import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
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

it('finds the rules of features in folders that have the noun of the endpoints', () => {
  const foldersIn = (...folder: string[]): string[] =>
    readdirSync(path.join(root, ...folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  const nouns = new Set(foldersIn('apps', 'features', 'src', 'operations'));
  const otherFolders = foldersIn('apps', 'features', 'src', 'domain').filter((folder) => !nouns.has(folder));
  // The standard that every patch follows.
  expect(otherFolders).toEqual(['json-patch']);
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

/** The names of the operations in the API of a service whose endpoints do not name a function that they have to call. */
const operationsWithout = (service: string, required: RegExp, urlPart = ''): string[] => {
  const files = [...filesIn('apps', service, 'src', 'operations')];
  const sourceOf = (name: string): string =>
    files
      .filter((file) => path.basename(file) === `${name}.ts`)
      .map((file) => readFileSync(path.join(root, 'apps', service, 'src', 'operations', file), 'utf8'))
      .join('');
  return httpOperations
    .filter((operation) => serviceOf(operation) === service && operation.http?.url.includes(urlPart) === true)
    .map(operationName)
    .filter((name) => !required.test(sourceOf(name)))
    .toSorted();
};

it('finds that every query of events and features waits for the newest ones', () => {
  // The others are about the log and the index themselves.
  const ofTheLog = ['collect-dead-letters', 'get-event-log-size', 'verify-event-log'];
  expect(operationsWithout('audit', /\b(?:waitUntilFresh|readEventPage)\(/)).toEqual(ofTheLog);
  expect(operationsWithout('search', /\bwaitUntilFresh\(/)).toEqual(['get-reindex-status', 'start-reindex']);
});

it('finds that every query of events leaves out those that the caller may not see', () => {
  const ofTheLog = ['collect-dead-letters', 'get-event-log-size', 'verify-event-log'];
  expect(operationsWithout('audit', /\b(?:eventVisibilityOf|readEventPage)\(/)).toEqual(ofTheLog);
});

it('finds that every operation on change requests of a project looks for the project, directly or with a preview', () => {
  const looksForProject =
    /\b(?:requireProject|readInProject|ListEnvironmentSettingsOfProject|checkProposedChanges|loadPreview|loadPreviewsOfOpenRequests|responsesOfPendingRequests|responsesWithPreviews)\b/;
  expect(operationsWithout('change-requests', looksForProject, '/projects/:projectId/')).toEqual([]);
});
