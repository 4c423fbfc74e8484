import {
  DeleteApplication,
  DescribeApplication,
  RegisterApplication,
  RegisterFrontendApplication,
  ReportEdgeInstance,
  ReportFrontendMetrics,
  ReportMetrics,
  ReportProxiedMetrics,
  systemCaller,
} from '@bunting/contracts';
import { expect } from 'vitest';
import { type CatalogueRow, inOrder, send } from '../event-catalogue.ts';
import { archivedAt, storedFeatures } from './fixtures.ts';

export const usageRows: readonly CatalogueRow[] = [
  {
    write: 'registering an application',
    request: send(RegisterApplication, {
      body: { appName: 'kiosk', started: archivedAt, interval: 10, strategies: ['default'] },
    }),
    emits: [{ type: 'application-created', data: expect.objectContaining({ appName: 'kiosk' }) }],
    repeated: 'emits nothing',
    actor: systemCaller,
  },
  {
    write: 'reporting the usage of a feature',
    given: storedFeatures({}),
    request: send(ReportMetrics, {
      body: {
        appName: 'kiosk',
        environment: 'development',
        bucket: { start: archivedAt, stop: new Date().toISOString(), toggles: { lamp: { yes: 1, no: 0 } } },
      },
    }),
    emits: [],
    repeated: 'emits nothing',
  },
  {
    write: 'registering a frontend application',
    request: send(RegisterFrontendApplication, {
      body: { appName: 'page', started: archivedAt, interval: 10, strategies: [] },
    }),
    emits: [{ type: 'application-created', data: expect.objectContaining({ appName: 'page' }) }],
    repeated: 'emits nothing',
    actor: systemCaller,
  },
  {
    write: 'reporting the usage of a feature in a frontend application',
    given: storedFeatures({}),
    request: send(ReportFrontendMetrics, {
      body: {
        appName: 'page',
        environment: 'development',
        bucket: { start: archivedAt, stop: new Date().toISOString(), toggles: { lamp: { yes: 1, no: 0 } } },
      },
    }),
    emits: [],
    repeated: 'emits nothing',
  },
  {
    write: 'reporting the usage of features in bulk',
    given: storedFeatures({}),
    request: send(ReportProxiedMetrics, {
      body: {
        applications: [],
        metrics: [
          {
            featureName: 'lamp',
            appName: 'kiosk',
            environment: 'development',
            timestamp: new Date().toISOString(),
            yes: 1,
            no: 0,
          },
        ],
      },
    }),
    emits: [],
    repeated: 'emits nothing',
  },
  {
    write: 'reporting an Edge instance',
    request: send(ReportEdgeInstance, { body: { identifier: 'edge-1', appName: 'edge', edgeVersion: '19.15.1' } }),
    emits: [],
    repeated: 'emits nothing',
  },
];

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
