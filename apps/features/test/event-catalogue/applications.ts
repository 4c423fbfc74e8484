import { expect } from 'vitest';
import { DeleteApplication, DescribeApplication } from '@bunting/contracts';
import { type CatalogueRow, inOrder, send } from '../event-catalogue.ts';

export const applicationRows: readonly CatalogueRow[] = [
  {
    write: 'creating an application and describing it further',
    request: inOrder(
      send(DescribeApplication, { params: { appName: 'terminal' }, body: { description: 'sells tickets' } }),
      send(DescribeApplication, { params: { appName: 'terminal' }, body: { color: 'red' } }),
    ),
    emits: [{ type: 'application-created', data: expect.objectContaining({ appName: 'terminal' }) }],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting an application',
    given: send(DescribeApplication, { params: { appName: 'till' }, body: {} }),
    request: send(DeleteApplication, { params: { appName: 'till' } }),
    emits: [],
    repeated: 'is refused',
  },
];
