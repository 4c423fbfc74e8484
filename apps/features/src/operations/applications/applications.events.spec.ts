import { describeRows } from '../../../test/event-catalogue.ts';
import { applicationRows } from '../../../test/event-catalogue/applications.ts';

describeRows(applicationRows);
